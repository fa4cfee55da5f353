// What a public Handle points to, and the way between public and recorder types.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/free_list.hpp"
#include "core/public_dtype.hpp"
#include "errors.hpp"
#include "plait/detail/core.hpp"
#include "tracer/array.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::detail {

// Shared by every array over one borrowed memory block. When the last goes, work that still reads
// the memory is run and writes arrive there, so that no pending operation outlives its owner.
struct Lease : RefCounted {
  tracer::Array array;
  static void destroy(Lease* lease);
};

// What select() makes: the copy is made, as the box's array, when something is asked of it.
struct Selection {
  Handle from;
  std::vector<Key> key;
};

struct Box : ElementAccess {  // first: headers read it
  template <class Make>
  explicit Box(Make&& make) : array(make()) {
    show();
  }
  // The array's elements to who reads them without a call: again when it is another array. Of what
  // is selected nothing is shown, as it is read anew after writes.
  void show() {
    if (!array.storage) return;
    contents = reinterpret_cast<const void* const*>(&array.storage->readable);
    captures = reinterpret_cast<const int*>(&tracer::detail::captures);
    shape = array.shape.data();
    strides = array.strides.data();
    offset = array.offset;
    ndim = array.ndim();
  }
  std::atomic<std::uint32_t> refs{1};
  Ref<Lease> lease;     // goes after `array`, so that it can tell whether it was the last
  tracer::Array array;  // without storage: of a selection that was not read yet
  std::unique_ptr<Selection> selection;
};
static_assert(sizeof(std::atomic<const std::byte*>) == sizeof(void*) &&
              sizeof(std::atomic<int>) == sizeof(int));
// Nobody can copy the handle of which this is the only one.
inline bool only_handle(const Box& b) { return b.refs.load(std::memory_order_acquire) == 1; }
extern FreeList<Box> boxes;  // guarded by the recorder's lock

// Whether t has integers in [low, high), or [low, high], and there are such: ValueError.
void check_integers(std::int64_t low, std::int64_t high, bool endpoint, dtype t);

// Installs the engine on first use.
void start();
bool started();

// A handle to the array that make() gives. The recorder's lock is taken once for all of it.
template <class Make>
Handle wrap_made(Make&& make) {
  const std::lock_guard held(tracer::lock());
  return Handle(boxes.make(std::forward<Make>(make)));
}
Handle wrap(tracer::Array a);
// A view of `base` keeps its lease.
Handle wrap_view(tracer::Array a, const Handle& base);
void keep_lease(const Handle& view, const Handle& base);
// A view of what a value holds that would be written to has the elements of a copy: who may write
// to the value's own gives an alias() of it as base.
void part_from_value(const Handle& view, const Handle& base);

[[noreturn]] void throw_moved_from();
void read_selection(Box& b);  // may evaluate: not under the lock
inline const tracer::Array& unwrap(const Handle& h) {
  if (!h) [[unlikely]]
    throw_moved_from();
  if (!h.get()->array.storage) [[unlikely]]
    read_selection(*h.get());
  return h.get()->array;
}

// Handles to what make() gives, whose errors are the function's.
template <class Make>
Handle made(const char* function, Make&& make) {
  return named(function, [&] { return wrap(make()); });
}
template <class Make>
Handle made_view(const char* function, const Handle& base, Make&& make) {
  return named(function, [&] {
    unwrap(base);  // reads selections: not under the lock
    Handle h = wrap_made(std::forward<Make>(make));
    keep_lease(h, base);
    part_from_value(h, base);
    return h;
  });
}

inline Dims dims(Span s) { return Dims(s.data, s.data + s.size); }
inline std::optional<Dims> optional_dims(const Span* s) {
  return s ? std::optional<Dims>(dims(*s)) : std::nullopt;
}
// For arrays that are filled through their memory: made on the host, then placed where the thread
// creates arrays.
class OnHost {
 public:
  Handle placed(const Handle& made) const {
    return target_ == kHost ? made : wrap(tracer::to_device(unwrap(made), target_));
  }

 private:
  DeviceId target_ = tracer::current_device();
  tracer::OnDevice host_{kHost};
};

OpId op_of(fn f);
Scalar to_scalar(const Value& v);
Value to_value(const Scalar& s);
tracer::Operand to_operand(const Operand& o);
// f of the operands; `result` is its dtype where that is known beforehand.
Handle elementwise_of(fn f, const Operand* operands, int n, std::optional<DType> result);
// DTypeError for complex values in a real array, which the templates refuse where they know the
// types.
void check_storable(const char* function, const Operand& from, DType to);

}  // namespace plait::detail
