#include "box.hpp"

#include <mutex>

#include "engine/engine.hpp"
#include "engine/threads/interruption.hpp"
#include "small.hpp"

namespace plait::detail {

namespace {
std::atomic<bool> has_started{false};
}  // namespace
void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    engine::start();
    has_started.store(true, std::memory_order_relaxed);
  });
}
bool started() { return has_started.load(std::memory_order_relaxed); }

void Lease::destroy(Lease* lease) {
  // A destructor calls this: an error of pending work has nowhere to go. eval() beforehand reports
  // it. What was written to the application's memory arrives there, whoever ends evaluations.
  const engine::Uninterrupted whole(true);
  try {
    tracer::end_borrow(std::span(&lease->array, 1));
  } catch (...) {
  }
  delete lease;
}

void Handle::retain(Box* b) { b->refs.fetch_add(1, std::memory_order_relaxed); }
void Handle::release(Box* b) {
  if (!only_handle(*b) && b->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // May evaluate: not under the lock.
  const std::unique_ptr<Selection> selection = std::move(b->selection);
  const Ref<Lease> lease = std::move(b->lease);
  const std::lock_guard held(tracer::lock());
  if (!lease && keep_small(*b)) return;
  boxes.destroy(b);
}

Box* Handle::fork(const Box* b) {
  Handle from(const_cast<Box*>(b));
  retain(from.box_);
  Handle copy = wrap(tracer::fork(unwrap(from)));
  return std::exchange(copy.box_, nullptr);
}
void Handle::own() {
  Handle array = owned(std::move(*this));
  std::swap(box_, array.box_);
}
Handle owned(Handle a) {
  if (!a) return a;
  const tracer::Array& array = unwrap(a);
  const Box& b = *a.get();
  if (only_handle(b) && !b.lease && !b.selection && tracer::is_owned(array)) return a;
  return wrap(tracer::fork(array));
}

constinit FreeList<Box> boxes;

Handle wrap(tracer::Array a) {
  return wrap_made([&]() -> tracer::Array { return std::move(a); });
}
Handle wrap_view(tracer::Array a, const Handle& base) {
  Handle h = wrap(std::move(a));
  keep_lease(h, base);
  return h;
}
void keep_lease(const Handle& view, const Handle& base) {
  // A reshape or a real part may have been a copy.
  const Ref<Lease>& lease = base.get()->lease;
  if (lease && view.get()->array.storage == unwrap(base).storage) view.get()->lease = lease;
}
void part_from_value(const Handle& view, const Handle& base) {
  Box& b = *view.get();
  if (!base.is_value() || b.array.storage != unwrap(base).storage) return;
  b.array.storage = tracer::fork(unwrap(base)).storage;  // of the same layout, as values are whole
  b.show();
}

Scalar to_scalar(const Value& v) {
  Scalar s;
  std::memcpy(s.bytes, v.bytes, sizeof(s.bytes));
  s.dtype = core(v.type);
  return s;
}
Value to_value(const Scalar& s) {
  Value v;
  std::memcpy(v.bytes, s.bytes, sizeof(s.bytes));
  v.type = outer(s.dtype);
  return v;
}
tracer::Operand to_operand(const Operand& o) {
  if (o.array) return tracer::Operand(unwrap(*o.array));
  return tracer::Operand(to_scalar(o.value), static_cast<Weak>(o.value.weakness));
}

void throw_moved_from() {
  throw ValueError("this array was moved from: assign an array to it before it is used");
}

namespace {
// Shape and strides of an array that was moved from.
constexpr std::int64_t kNone[] = {0};
}  // namespace

dtype dtype_of(const Handle& a) { return outer(unwrap(a).dtype); }
Handle of_dtype(Handle h, dtype t) {
  if (!h) return h;
  const Box& b = *h.get();
  const DType found = b.array.storage ? b.array.dtype : unwrap(b.selection->from).dtype;
  if (found != core(t))
    throw DTypeError("an array of " + std::string(plait::name(found)) + " is no array<T> of " +
                     std::string(plait::name(core(t))));
  return h;
}
Span shape_of(const Handle& a) {
  if (!a) return {kNone, 1};
  return {unwrap(a).shape.data(), unwrap(a).shape.size()};
}
Span strides_of(const Handle& a) {
  if (!a) return {kNone, 1};
  return {unwrap(a).strides.data(), unwrap(a).strides.size()};
}
std::int64_t size_of(const Handle& a) { return a ? unwrap(a).size() : 0; }
std::int64_t extent(const Handle& a, int axis) {
  const Span shape = shape_of(a);
  const int i = axis < 0 ? axis + shape.size : axis;
  if (i < 0 || i >= shape.size)
    throw AxisError("axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                    std::to_string(shape.size));
  return shape.data[i];
}
bool is_contiguous(const Handle& a) { return !a || tracer::is_c_contiguous(unwrap(a)); }
bool is_writeable(const Handle& a) { return unwrap(a).writeable; }
bool may_share_memory(const Handle& a, const Handle& b) {
  return tracer::may_share_memory(unwrap(a), unwrap(b));
}

}  // namespace plait::detail
