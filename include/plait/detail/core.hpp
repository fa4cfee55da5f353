// The type-erased interface between the header templates and the compiled library. Everything that
// templates need goes through these functions, so that no header sees the recorder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "plait/detail/callback.hpp"
#include "plait/dtype.hpp"
#include "plait/error.hpp"
#include "plait/shape.hpp"

namespace plait::detail {

// Elementwise functions, one enumerator a row of the operation table.
enum class fn : std::uint8_t {
#define PLAIT_FUNCTION(id, ...) id,
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};
enum class reduction : std::uint8_t {
  sum,
  prod,
  min,
  max,
  argmin,
  argmax,
  any,
  all,
  mean,
  var,
  std,
  ptp,
  count_nonzero,
  nansum,
  nanprod,
  nanmin,
  nanmax,
  nanmean,
  nanvar,
  nanstd,
};
enum class joining : std::uint8_t { concatenate, stack, hstack, vstack, dstack, column_stack };
enum class product : std::uint8_t { matmul, dot, vdot, inner, outer, kron };
enum class padding : std::uint8_t { constant, edge, reflect, symmetric, wrap };

// A reference to an array of the library; copying shares the array. The box is made and freed by
// the library only.
//
// One that is a value, as tensors have it, shares its array with nobody: copies of it are of a copy
// of the array, and what is assigned to it is an array of its own.
struct Box;
struct as_value {};
class PLAIT_API Handle {
 public:
  Handle() = default;
  explicit Handle(Box* adopted) : box_(adopted) {}
  // A value, of an array that is owned() or a value's.
  Handle(as_value, Handle&& o) noexcept : box_(o.box_), is_value_(true) { o.box_ = nullptr; }
  Handle(const Handle& o) : box_(o.box_) {
    if (!box_) return;
    if (o.is_value_)
      box_ = fork(box_);
    else
      retain(box_);
  }
  Handle(Handle&& o) noexcept : box_(o.box_) { o.box_ = nullptr; }
  Handle& operator=(Handle o) noexcept {
    std::swap(box_, o.box_);
    if (is_value_ && box_) own();
    return *this;
  }
  void swap(Handle& o) noexcept {
    std::swap(box_, o.box_);
    std::swap(is_value_, o.is_value_);
  }
  // Another reference to the array, of a value too: for who may write to it.
  Handle alias() const {
    if (box_) retain(box_);
    return Handle(box_);
  }
  bool is_value() const { return is_value_; }
  ~Handle() {
    if (box_) release(box_);
  }
  Box* get() const { return box_; }
  explicit operator bool() const { return box_ != nullptr; }

 private:
  static void retain(Box* b);
  static void release(Box* b);
  static Box* fork(const Box* b);
  void own();
  Box* box_ = nullptr;
  bool is_value_ = false;
};

// One value of any dtype, as stored in memory.
struct Value {
  alignas(16) unsigned char bytes[16] = {};
  dtype type = dtype::float64;
  weak weakness = weak::none;

  template <class T>
  static Value of(T v, weak w = weak::none) {
    Value out;
    out.type = dtype_of_v<T>;
    out.weakness = w;
    std::memcpy(out.bytes, &v, sizeof(T));
    return out;
  }
  template <class T>
  T as() const {
    T v;
    std::memcpy(&v, bytes, sizeof(T));
    return v;
  }
};

// An operand of an elementwise function: an array, or a value when `array` is null. A handle that
// is given is taken when the operation is recorded.
struct Operand {
  const Handle* array = nullptr;
  Value value;
  Handle* given = nullptr;
};

// One entry of an index: what plait::range, all, newaxis, ellipsis and integers become.
struct Index {
  enum class Kind : std::uint8_t { integer, slice, all, newaxis, ellipsis } kind;
  bool has_start = false, has_stop = false, has_step = false;
  std::int64_t start = 0, stop = 0, step = 1;
};

// One entry of an index: a basic one, an array of integers or bools, or a list of the indices of an
// axis that are kept, or dropped.
struct Key {
  enum class Kind : std::uint8_t { basic, array, keep, drop } kind;
  Index basic{Index::Kind::all};
  Handle array;
  shape_type list;
};

struct Span {
  const std::int64_t* data;
  int size;
};
inline Span span_of(const extents& e) { return {e.data(), e.size()}; }

// Inspection; none of these evaluates. A handle that was moved from shows an array of shape {0};
// everything else throws ValueError for it.
PLAIT_API dtype dtype_of(const Handle& a);
// h, whose elements have to be of t: DTypeError. An array<T> is made of no other.
PLAIT_API Handle of_dtype(Handle h, dtype t);
PLAIT_API Span shape_of(const Handle& a);  // valid while the handle lives
PLAIT_API Span strides_of(const Handle& a);
PLAIT_API std::int64_t size_of(const Handle& a);
PLAIT_API std::int64_t extent(const Handle& a, int axis);
PLAIT_API bool is_contiguous(const Handle& a);
PLAIT_API bool is_writeable(const Handle& a);
PLAIT_API bool may_share_memory(const Handle& a, const Handle& b);

// Creation.
PLAIT_API Handle empty(Span shape, dtype t);
PLAIT_API Handle full(Span shape, const Value& v);
PLAIT_API Handle arange(const Value& start, const Value& stop, const Value& step);
PLAIT_API Handle linspace(double start, double stop, std::int64_t n, bool endpoint, dtype t);
PLAIT_API Handle logspace(double start, double stop, std::int64_t n, bool endpoint, double base,
                          dtype t);
PLAIT_API Handle geomspace(double start, double stop, std::int64_t n, bool endpoint, dtype t);
PLAIT_API Handle eye(std::int64_t rows, std::int64_t columns, std::int64_t k, dtype t);
PLAIT_API Handle from_values(const void* values, Span shape, dtype t);  // copies, C order
// Borrows: pending uses end and writes arrive when the last handle (of it or a view of it) goes.
PLAIT_API Handle borrow(void* data, Span shape, Span byte_strides, dtype t, bool writeable,
                        Callback<> release = {});
// C-ordered memory that is the array's from now on.
PLAIT_API Handle take_over(void* data, Span shape, dtype t, Callback<> release);
PLAIT_API Handle load_npy(const std::string& path, const dtype* wanted);  // null: any
PLAIT_API void dump_npy(const std::string& path, const Handle& a);
PLAIT_API Handle indices(Span shape);
PLAIT_API std::vector<Handle> meshgrid(const Handle* arrays, int n, bool xy, bool sparse);
PLAIT_API Handle join(joining how, const Handle* arrays, int n, std::int64_t axis);
PLAIT_API std::vector<Handle> split(const Handle& a, std::int64_t parts, std::int64_t axis,
                                    bool equal);
PLAIT_API std::vector<Handle> split_at(const Handle& a, Span indices, std::int64_t axis);
// Uniform in [low, high), or normal of that mean and deviation.
PLAIT_API Handle random(const char* distribution, Span shape, double low, double high, dtype t);
PLAIT_API Handle random_integers(Span shape, std::int64_t low, std::int64_t high, dtype t);
template <class I>
std::vector<Handle> handles(I begin, I end) {
  std::vector<Handle> out;
  for (; begin != end; ++begin) out.push_back(begin->handle());
  return out;
}

// Computation.
PLAIT_API Handle elementwise(fn f, const Operand* operands, int n, dtype result);
PLAIT_API void elementwise_into(fn f, const Operand* operands, int n, const Handle& out);
// Axes: null means all of them, a flattened array for argmin and argmax.
PLAIT_API Handle reduce(reduction r, const Handle& a, const Span* axes, bool keepdims, double ddof);
PLAIT_API Handle norm(const Handle& a, const Span* axes, const double* order, bool keepdims);
PLAIT_API Handle multiply(product p, const Handle& a, const Handle& b);
PLAIT_API Handle tensordot(const Handle& a, const Handle& b, Span axes_a, Span axes_b);
PLAIT_API Handle vecdot(const Handle& a, const Handle& b, std::int64_t axis);
PLAIT_API Handle cross(const Handle& a, const Handle& b, std::int64_t axis);
PLAIT_API Handle trace(const Handle& a, std::int64_t offset, std::int64_t axis1,
                       std::int64_t axis2);
PLAIT_API Handle average(const Handle& a, const Handle& weights, const Span* axes, bool keepdims);
PLAIT_API Handle trapezoid(const Handle& y, const Handle* x, double dx, std::int64_t axis);
PLAIT_API Handle gradient(const Handle& a, double spacing, std::int64_t axis, int edge_order);
struct Tolerance {
  double relative, absolute;
  bool equal_nan;
};
PLAIT_API Handle isclose(const Handle& a, const Handle& b, const Tolerance& t);
PLAIT_API bool allclose(const Handle& a, const Handle& b, const Tolerance& t);
PLAIT_API bool array_equal(const Handle& a, const Handle& b, bool equal_nan);
PLAIT_API Handle round(const Handle& a, std::int64_t decimals);
PLAIT_API Handle angle(const Handle& a, bool degrees);
PLAIT_API Handle nan_to_num(const Handle& a, double nan, const double* posinf,
                            const double* neginf);
PLAIT_API Handle pad(const Handle& a, Span widths, padding how, const Value& value);
PLAIT_API Handle diag(const Handle& a, std::int64_t k);
PLAIT_API Handle triangle(const Handle& a, std::int64_t k, bool lower);
PLAIT_API Handle tile(const Handle& a, Span reps);
PLAIT_API Handle repeat(const Handle& a, std::int64_t n, std::int64_t axis);
PLAIT_API Handle roll(const Handle& a, Span shifts, const Span* axes);
PLAIT_API Handle diff(const Handle& a, std::int64_t n, std::int64_t axis);
PLAIT_API Handle astype(const Handle& a, dtype t);
PLAIT_API Handle copy(const Handle& a);  // in C order
PLAIT_API Handle owned(Handle a);        // itself where nothing else sees its elements, or a copy
PLAIT_API void swap_elements(const Handle& a, const Handle& b);  // of one shape and dtype
PLAIT_API void assign(const Handle& target, const Operand& value, const Handle* mask);

// Views.
PLAIT_API Handle slice(const Handle& a, const Index* indices, int n, bool writeable = true);
PLAIT_API Handle transpose(const Handle& a, Span axes);  // no axes: reversed
PLAIT_API Handle reshape(const Handle& a, Span shape);
PLAIT_API Handle broadcast_to(const Handle& a, Span shape);
PLAIT_API shape_type common_shape(const Handle* arrays, int n);  // that they broadcast to
PLAIT_API void note_called_for_each(const char* function);       // in the log
PLAIT_API Handle squeeze(const Handle& a, const Span* axes);
PLAIT_API Handle expand_dims(const Handle& a, Span axes);
PLAIT_API Handle flip(const Handle& a, const Span* axes);
PLAIT_API Handle swapaxes(const Handle& a, std::int64_t i, std::int64_t j);
PLAIT_API Handle moveaxis(const Handle& a, Span from, Span to);
PLAIT_API Handle diagonal(const Handle& a, std::int64_t offset, std::int64_t axis1,
                          std::int64_t axis2);
PLAIT_API Handle rot90(const Handle& a, std::int64_t k, std::int64_t axis1, std::int64_t axis2);
PLAIT_API Handle atleast(const Handle& a, int ndim);
PLAIT_API Handle windows(const Handle& a, Span window, const Span* axes);
PLAIT_API Handle real(const Handle& a);
PLAIT_API Handle imag(const Handle& a);

// Elements that arrays of indices or masks name. select(): an array whose elements are copied when
// something is first asked of it; selected(): an array of its own that has them; set_selected():
// writes to the array that they are selected from.
PLAIT_API Handle get_selection(const Handle& a, const std::vector<Key>& key);
PLAIT_API Handle select(const Handle& a, std::vector<Key> key);
PLAIT_API Handle selected(const Handle& selection);
PLAIT_API void set_selected(const Handle& selection, const Operand& value);

// Devices, by number: 0 is the host.
PLAIT_API int open_cuda(int ordinal);
PLAIT_API std::string device_name(int device);
PLAIT_API int current_device();
PLAIT_API int set_thread_device(int device);  // returns what it was
PLAIT_API int device_of(const Handle& a);
PLAIT_API Handle to_device(const Handle& a, int device);
PLAIT_API void synchronize(int device);
PLAIT_API void wait_for(int device, void* stream);
PLAIT_API Handle adopt(void* memory, Span shape, dtype t, int device, void* stream,
                       Callback<> release);
PLAIT_API void* lend(const Handle& a, void* stream);

// Values: these evaluate.
PLAIT_API void evaluate(const Handle* arrays, int n);
PLAIT_API void compute_into(Handle a, void* out);  // in C order
PLAIT_API const void* data(const Handle& a);
PLAIT_API void* mutable_data(const Handle& a);
// Where the elements lie for one who walks them in C order. Each has a place, that of the first one
// plus its index: where all are one behind another, the index; else a number below zero, which
// tells how they lie in the bits above the index. So two words say all that an iterator needs, and
// a loop over dense elements pays for the others with the test of a sign.
struct Elements {
  void* first = nullptr;
  std::int64_t place = 0;  // of the first
};
constexpr int kIndexBits = 40, kStrideBits = 22;
constexpr std::int64_t kEvenly = std::int64_t{1} << (kIndexBits + kStrideBits);  // by a stride
// Bytes from the first element to that place, of axes that are not evenly apart.
[[gnu::const]] PLAIT_API std::int64_t offset_by_axes(std::int64_t place) noexcept;
// Bytes from the first element to a place below zero.
inline std::int64_t offset_of(std::int64_t place) noexcept {
  if (!(place & kEvenly)) return offset_by_axes(place);
  const auto bits = static_cast<std::uint64_t>(place) << (64 - kIndexBits - kStrideBits);
  return (place & ((std::int64_t{1} << kIndexBits) - 1)) *
         (static_cast<std::int64_t>(bits) >> (64 - kStrideBits));
}
PLAIT_API Elements elements(const Handle& a, bool writing);  // writing: as mutable_data()
// What a Box begins with: where its elements lie, for who reads one without a call.
struct ElementAccess {
  const void* const* contents = nullptr;  // the array's memory, where that is known; none: never
  const int* captures = nullptr;  // how many calls are watched, who have to know of what is read
  const std::int64_t *shape = nullptr, *strides = nullptr;
  std::int64_t offset = 0;
  int ndim = 0;
};
inline const ElementAccess* access_of(const Handle& a) {
  const auto* const e = reinterpret_cast<const ElementAccess*>(a.get());
  return e && e->contents ? e : nullptr;
}
// The element's memory, without a lock, when it is known to be on the host; else, and where the
// index is out of bounds, nullptr: item() knows more.
inline const void* peek(const Handle& a, const std::int64_t* index, int n) noexcept {
  const ElementAccess* const e = access_of(a);
  if (!e || e->ndim != n || __atomic_load_n(e->captures, __ATOMIC_RELAXED) != 0) return nullptr;
  const char* at = static_cast<const char*>(__atomic_load_n(e->contents, __ATOMIC_ACQUIRE));
  if (!at) return nullptr;
  at += e->offset;
  for (int i = 0; i < n; ++i) {
    const std::int64_t k = index[i] < 0 ? index[i] + e->shape[i] : index[i];
    if (k < 0 || k >= e->shape[i]) return nullptr;
    at += k * e->strides[i];
  }
  return at;
}
// Where the element may be written to, at once, when nothing but its array sees that memory; else
// nullptr, too: set_item() knows more.
PLAIT_API void* poke(const Handle& a, const std::int64_t* index, int n);
PLAIT_API Value item(const Handle& a, const std::int64_t* index, int n);
PLAIT_API Value only_item(const Handle& a);
PLAIT_API void set_item(const Handle& a, const std::int64_t* index, int n, const Value& v);
// Keeps the memory in place, and writes to it immediate, until unexport.
PLAIT_API void* export_memory(const Handle& a);
PLAIT_API void unexport(const Handle& a);
// IndexError unless so many indices name an element.
[[noreturn]] PLAIT_API void throw_indices(const Handle& a, int n);
inline void check_element(const Handle& a, int n) {
  const ElementAccess* const e = access_of(a);
  if ((e ? e->ndim : shape_of(a).size) != n) throw_indices(a, n);
}
PLAIT_API void check_ndim(const char* function, const Handle& a, int least);
[[noreturn]] PLAIT_API void throw_ragged();
[[noreturn]] PLAIT_API void throw_deep();
[[noreturn]] PLAIT_API void throw_shapes(const char* function, Span from, Span to);
// NumPy's OverflowError for an integer that an element cannot hold.
[[noreturn]] PLAIT_API void throw_out_of_bounds(const std::string& integer, dtype t);
PLAIT_API std::string explain(const Handle* arrays, int n);

}  // namespace plait::detail
