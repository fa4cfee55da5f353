// Arrays as users see them: a storage that has versions, and a view of it. The facade and the
// bindings are thin layers over this header. Every function validates its arguments before it
// changes anything and throws plait::Error kinds with NumPy's wording; shapes and dtypes of results
// follow NumPy 2 exactly.
#pragma once
#include <atomic>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "node.hpp"
#include "plait/error.hpp"

namespace plait::tracer {

struct Storage : RefCounted {
  Ref<Node> version;  // the current contents
  std::int64_t bytes = 0;
  std::int64_t base = 0;  // added to an array's offset to get bytes from element 0 of the version;
                          // moves when a borrowed range grows downwards
  std::uint32_t exports =
      0;  // live exports: contents are evaluated an operation at a time, in the same memory
  bool pinned = false;    // exported for good
  bool borrowed = false;  // memory of somebody else, written through at end_borrow()
  bool listed = false;
  bool any_bytes = false;  // elements read as Bool may be bytes other than 0 and 1
  // The number of the last write, of all storages together (next_write() in storage.cpp).
  std::uint32_t writes = 0;
  // Where byte 0 of the contents may be read without the lock; null: ask item(). What it points to
  // is this storage's until a version is set, which nobody does who may not write to the array.
  std::atomic<const std::byte*> readable{nullptr};
  Storage* prev = nullptr;  // list of storages with a pending version, for flush()
  Storage* next = nullptr;
  static void destroy(Storage* s);
};

// A value handle: copying it is copying a reference to the same storage, as Python names do.
struct Array {
  Ref<Storage> storage;
  DType dtype = DType::Float64;
  Dims shape;
  Dims strides;             // bytes, into the storage
  std::int64_t offset = 0;  // bytes
  bool writeable = true;

  explicit operator bool() const { return static_cast<bool>(storage); }
  int ndim() const { return shape.size(); }
  std::int64_t size() const { return element_count(shape); }
};

// --- operands
// -----------------------------------------------------------------------------------------------------
// An operand of an operation: an array, or a scalar that may be weak (a Python int/float/complex, a
// C++ literal). Python integers beyond int64 do not reach this layer: the bindings raise or go
// through uint64.
struct Operand {
  const Array* array = nullptr;
  Scalar scalar;
  Weak weak = Weak::None;
  Operand(const Array& a) : array(&a) {}
  Operand(Scalar s, Weak w) : scalar(s), weak(w) {}
};

// --- creation
// ----------------------------------------------------------------------------------------------------
Array empty(const Dims& shape, DType t, char order = 'C');
Array full(const Dims& shape, const Scalar& value, char order = 'C');   // value.dtype is the dtype
Array arange(std::int64_t n, const Scalar& start, const Scalar& step);  // 1-D, dtype of start
Array from_buffer(Ref<Buffer> b, DType t, const Dims& shape, const Dims& strides,
                  std::int64_t offset);
Array from_scalar(const Scalar& s);  // 0-D
// What lends memory, kept alive by every array over it; released once, in any thread.
struct Lender : RefCounted {
  void (*release)(void*);
  void* context;
  Lender(void (*r)(void*), void* c) : release(r), context(c) {}
  static void destroy(Lender* l);
};
// A copy in C order that has the elements of the array until one of the two is written to: it takes
// no memory before, where the array is all of its storage and nobody outside sees that.
Array fork(const Array& a);
// Whether the array is all of its storage, and nothing else sees the elements.
bool is_owned(const Array& a);
// Borrows memory: writes have reached it when end_borrow() returns. Buffers that overlap share a
// storage. Without a lender the memory has to outlive the borrowing.
Array borrow(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable,
             const Ref<Lender>& lender = {});
// Runs what is pending and brings the array's borrowed memory up to date; the borrowing goes on.
void write_borrowed(const Array& a);
// Gives up what is pending to be written to the array's borrowed memory.
void drop_writes(const Array& a);
// Ends one borrowing for each of the arrays and brings their memory up to date. Arrays that are
// left over it share the memory with its owner from then on, or, without a lender, have a copy.
// What is pending over it is run, or stays pending over a copy: after an interrupt it is what took
// long.
enum class Leftover : std::uint8_t { Evaluated, Pending };
void end_borrow(std::span<const Array> arrays, Leftover leftover = Leftover::Evaluated);

// --- elementwise
// -------------------------------------------------------------------------------------------------
struct ElementwiseOptions {
  const Array* out = nullptr;  // receives the result (cast per `casting`), and is returned
  const Array* where =
      nullptr;  // Bool mask; needs out, or leaves fresh memory uninitialised elsewhere
  std::optional<DType> dtype;
  Casting casting = Casting::SameKind;
  char order = 'K';
};
// NEP 50 type resolution, broadcasting, K-order layout. Small materialised operands are computed at
// once.
Array elementwise(OpId fn, std::span<const Operand> operands, const ElementwiseOptions& opt = {});
// `base ** exponent` as NumPy's operator has it: weak scalar exponents 2, 1, 0.5 and -1 become
// square, positive, sqrt and reciprocal.
Array power_operator(const Array& base, const Operand& exponent);
Array astype(const Array& a, DType t, char order = 'K', bool copy = true);
Array copy(const Array& a, char order = 'K');
// target[...] = value with broadcasting and NumPy's unsafe cast (what `a[idx] = v` does once
// `target` is the view), where `mask` (Bool, broadcastable to target) is true.
void assign(const Array& target, const Operand& value, const Array* mask = nullptr);

// --- reductions
// --------------------------------------------------------------------------------------------------
struct ReduceOptions {
  std::optional<Dims> axes;  // none: all; negative axes allowed
  bool keepdims = false;
  std::optional<DType> dtype;  // of the accumulation and result
  std::optional<Scalar> initial;
  const Array* where = nullptr;
  const Array* out = nullptr;
};
// The type that a reduction of `t` accumulates in and results in: `dtype`, or what NumPy promotes
// the type of `out` and `t` to, or its own choice for `t`. Throws DTypeError where there is no
// loop.
DType reduction_dtype(ReduceKind kind, DType t, const ReduceOptions& opt);
// ArgMin/ArgMax take no axis (flattened) or one.
Array reduce(ReduceKind kind, const Array& a, const ReduceOptions& opt = {});

// --- contraction
// -------------------------------------------------------------------------------------------------
// NumPy's matmul rules, 1-D operands included. Order K: the batch axes lie in memory as the
// operands' do; C: as they stand (np.dot, np.inner).
Array matmul(const Array& a, const Array& b, char order = 'K');

// --- views: no computation
// -----------------------------------------------------------------------------------------
struct All {};
struct NewAxis {};
struct Ellipsis {};
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
using Index = std::variant<std::int64_t, Slice, All, NewAxis, Ellipsis>;
Array slice(const Array& a,
            std::span<const Index> indices);  // basic indexing; IndexError with NumPy's texts
Array transpose(const Array& a, std::span<const std::int64_t> axes = {});  // empty: reversed
Array broadcast_to(const Array& a, const Dims& shape);                     // read-only, as NumPy's
Array reshape(const Array& a, const Dims& shape,
              char order = 'C');  // a view where NumPy gives one, else a copy; one -1
Array squeeze(const Array& a, const std::optional<Dims>& axes);
Array expand_dims(const Array& a, const Dims& axes);
Array flip(const Array& a, const std::optional<Dims>& axes);
Array swapaxes(const Array& a, std::int64_t i, std::int64_t j);
Array moveaxis(const Array& a, const Dims& from, const Dims& to);
Array diagonal(const Array& a, std::int64_t offset, std::int64_t axis1, std::int64_t axis2);
Array real(const Array& a);  // a itself when not complex
Array imag(const Array& a);
// The same memory as elements of another type, as NumPy's view(dtype): the last axis holds as many
// bytes as before.
Array view(const Array& a, DType t);
Array as_strided(const Array& a, DType t, const Dims& shape, const Dims& strides,
                 std::int64_t offset);                  // offset: relative
bool may_share_memory(const Array& a, const Array& b);  // bounds, as NumPy's
bool is_c_contiguous(const Array& a);
bool is_f_contiguous(const Array& a);

// --- gathering
// What is at `source` and, for every element of `at` (Int64, of result's shape or broadcast to it),
// `step` bytes times it away; the caller knows that this stays in the array. `source` has the
// result's shape and its strides are those of the axes that no index names; the result is a copy
// laid out by `strides`.
Array gather(const Array& source, const Array& at, std::int64_t step, const Dims& strides);

// --- values
// ------------------------------------------------------------------------------------------------------
bool is_materialised(const Array& a);
// The array's memory may hold bytes other than 0 and 1 where it is read as Bool.
void take_any_bytes(const Array& a);
void evaluate(std::span<const Array> arrays);  // all in one plan
inline void evaluate(const Array& a) { evaluate(std::span(&a, 1)); }
// Evaluated memory. The pointer is good until the storage is written to or dies; use export_memory
// to keep it.
void* data(const Array& a);
// The same for one who writes: no other array and nothing that is recorded already sees it.
void* writable_data(const Array& a);
// While exported, the storage's memory stays in place and every write is executed at once. unexport
// ends it. The address is one of the device that the array lives on, which has to be `device`.
void* export_memory(const Array& a, DeviceId device = 0);
void unexport(const Array& a);
void* pin(const Array& a, DeviceId device = 0);                    // an export that never ends
Scalar item(const Array& a, std::span<const std::int64_t> index);  // evaluates; bounds-checked
// The element's memory when an item() has found it on the host since the last write; else nullptr.
// Takes no lock. nullptr, too, where the index is out of bounds.
const std::byte* peek(const Array& a, std::span<const std::int64_t> index) noexcept;
// The element's memory where own_memory() gives it, for who writes there at once; nullptr, too,
// where the index is out of bounds.
std::byte* poke(const Array& a, std::span<const std::int64_t> index);
// cast() that reports what does not fit under this thread's error state, as NumPy's casts do.
Scalar reported_cast(const Operand& scalar, DType to);
void set_item(const Array& a, std::span<const std::int64_t> index, const Scalar& v);
// Where the array's first element may be written to, for a caller that holds the lock and writes
// now: memory on the host that nothing but the array's storage sees. nullptr where it is not so.
std::byte* own_memory(const Array& a);

// The node whose value is the array's current contents (the storage's version, or a View of it).
// Where other threads record, hold the lock until the reference has gone.
Ref<Node> read(const Array& a);

}  // namespace plait::tracer
