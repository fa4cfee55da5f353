// Building blocks of recording: nodes with few decisions in them.
#include "core/array_memory.hpp"
#include "core/shape_limits.hpp"
#include "elementwise.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

// Of so many elements at most, and in memory or a view of what is.
bool ready(const Node& n, std::int64_t limit) {
  if (n.kind == NodeKind::Scalar) return true;
  if (n.device > kHost || element_count(n.shape) > limit) return false;
  if (n.materialised()) return true;
  return n.kind == NodeKind::View &&
         (n.inputs[0]->materialised() ? n.inputs[0]->device <= kHost : ready(*n.inputs[0], limit));
}

// What at_once.hpp is about, elementwise operations apart: those are computed before there is a
// node.
bool moves_elements(const Node& n) {
  return n.kind == NodeKind::Cast || n.kind == NodeKind::Update || n.kind == NodeKind::Fill;
}

void bring(Node& n) {
  if (n.materialised() || n.kind == NodeKind::Scalar) return;
  bring(*n.inputs[0]);
  evaluator().compute(n);
}

}  // namespace

bool computed_at_once(const Node& n) {
  if (n.kind == NodeKind::Data || n.kind == NodeKind::Scalar || n.kind == NodeKind::Empty)
    return false;
  const std::int64_t elements =
      element_count(n.kind == NodeKind::Update && n.in_place ? n.view_shape : n.shape);
  const bool small = elements <= eager_limit();
  if (!small && (!moves_elements(n) || elements > kMiddling)) return false;
  if (!context().evaluator || n.device > kHost || eager_limit() <= 0) return false;
  // An array made of numbers alone lies where its reader does, which may be on a device.
  if (n.device == kAnyDevice && n.shape.size() > 0 && devices_in_use()) return false;
  int first = 0;
  if (n.kind == NodeKind::Update) {
    const Node& old = *n.inputs[0];
    if (!old.materialised() || old.device > kHost) return false;
    first = 1;
  }
  for (int i = first; i < n.n_inputs; ++i)
    if (n.inputs[i] && !ready(*n.inputs[i], small ? eager_limit() : kMiddling)) return false;
  return small || at_once_here(elements, element_seconds(n.dtype));
}

void recorded_here(Node& n) {
  const ThreadState& state = thread_state();
  n.errstate = state.errors.index;
  n.named = state.named;
}

void complete(Node& n) {
  Context& c = context();
  recorded_here(n);
  if (devices_in_use()) [[unlikely]]
    place(n);
  if (is_pending(n)) {
    n.accounting |= kPending;
    ++c.pending_nodes;
    ++c.recorded;
    if (c.site) n.site = c.site();
  }
#ifdef PLAIT_CHECKS
  verify(n);
#endif
  // Of a store in place that was asked before.
  if ((n.kind == NodeKind::Update && n.in_place) || computed_at_once(n)) {
    for (const Ref<Node>& in : n.inputs)
      if (in) bring(*in);
    evaluator().compute(n);
  }
}

void give_memory(Array& a) {
  Ref<Node> n = take_node(NodeKind::Data);
  n->dtype = a.dtype;
  n->shape = a.shape;
  n->strides = a.strides;
  recorded_here(*n);
  n->data = allocate_array(a.shape, a.dtype);
  make_storage(a, std::move(n));
}

namespace {
Ref<Node> new_scalar(const Scalar& s) {
  Ref<Node> n = take_node(NodeKind::Scalar);
  n->dtype = s.dtype;
  n->device = kAnyDevice;
  n->scalar = s;
  return n;  // nothing is pending, and nothing of it can go wrong
}
}  // namespace

Ref<Node> scalar_node(const Scalar& s) {
  Capture* const c = capture();
  if (!c) return new_scalar(s);
  Ref<Node>& one = c->scalar(s);
  if (!one) one = new_scalar(s);
  return one;
}

Ref<Node> fill_node(const Dims& shape, const Dims& strides, const Scalar& s, DeviceId device) {
  Ref<Node> n = take_node(NodeKind::Fill);
  n->dtype = s.dtype;
  n->device = device;
  n->shape = shape;
  n->strides = strides;
  n->n_inputs = 1;
  n->inputs[0] = scalar_node(s);
  return record(std::move(n));
}

Ref<Node> cast_node(Ref<Node> value, DType to, const Dims& strides) {
  // To and from a narrow dtype there is a way from one dtype alone, which every backend has.
  if (const DType from = value->dtype; from != to) {
    if (is_narrow(from) && to != computes_in(from))
      value = converted(std::move(value), computes_in(from));
    if (is_narrow(to)) value = as_dtype(std::move(value), computes_in(to));
  }
  Ref<Node> n = take_node(NodeKind::Cast);
  n->dtype = to;
  n->shape = value->shape;
  n->strides = strides;
  n->n_inputs = 1;
  n->inputs[0] = std::move(value);
  return record(std::move(n));
}

Ref<Node> converted(Ref<Node> n, DType to) {
  if (n->kind == NodeKind::Scalar) return scalar_node(cast(n->scalar, to));
  const auto from_size = static_cast<std::int64_t>(itemsize(n->dtype));
  const auto to_size = static_cast<std::int64_t>(itemsize(to));
  const Dims strides = copy_strides(n->shape, n->strides, from_size, 'K');
  const Dims scaled = scaled_strides(n->shape, strides, from_size, to_size);
  return cast_node(std::move(n), to, scaled);
}

Ref<Node> broadcast_node(Ref<Node> n, const Dims& shape) {
  if (n->shape == shape) return n;
  if (n->kind == NodeKind::Scalar)
    return fill_node(
        shape, dense_strides(shape, static_cast<std::int64_t>(itemsize(n->dtype)), 'C'), n->scalar);
  check_shape(shape, static_cast<std::int64_t>(itemsize(n->dtype)));
  // Views are relative to memory: a View input is looked through.
  Ref<Node> v = take_node(NodeKind::View);
  v->dtype = n->dtype;
  v->shape = shape;
  v->strides = broadcast_strides(n->shape, n->strides, shape);
  v->n_inputs = 1;
  if (n->kind == NodeKind::View) {
    v->offset = n->offset;
    v->inputs[0] = n->inputs[0];
  } else {
    v->inputs[0] = std::move(n);
  }
  return record(std::move(v));
}

std::int64_t normalise_axis(std::int64_t axis, int ndim, const char* prefix) {
  if (axis < -ndim || axis >= ndim)
    throw AxisError(std::string(prefix) + "axis " + std::to_string(axis) +
                    " is out of bounds for array of dimension " + std::to_string(ndim));
  return axis < 0 ? axis + ndim : axis;
}

Dims normalise_axes(const Dims& axes, int ndim) {
  Dims out;
  for (std::int64_t axis : axes) out.push_back(normalise_axis(axis, ndim));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw ValueError("duplicate value in 'axis'");
  return out;
}

namespace {
bool fits(std::int64_t v, DType to) {
  if (is_narrow(to)) return true;  // ml_dtypes takes any, and wraps
  if (kind(to) == Kind::Signed) {
    const int bits = static_cast<int>(itemsize(to)) * 8;
    return bits == 64 ||
           (v >= -(std::int64_t{1} << (bits - 1)) && v < std::int64_t{1} << (bits - 1));
  }
  if (kind(to) == Kind::Unsigned) {
    const int bits = static_cast<int>(itemsize(to)) * 8;
    return v >= 0 && (bits == 64 || v < std::int64_t{1} << bits);
  }
  return true;
}
}  // namespace

Scalar checked_scalar(const Scalar& s, Weak weak, DType to) {
  if (weak == Weak::Int && s.dtype == DType::Int64 && !fits(s.as<std::int64_t>(), to))
    throw OverflowError("Python integer " + std::to_string(s.as<std::int64_t>()) +
                        " out of bounds for " + std::string(name(to)));
  return s.dtype == to ? s : cast(s, to);
}

std::string quoted(DType t) {
  const std::string text(name(t));
  return is_narrow(t) ? "dtype(" + text + ")" : "dtype('" + text + "')";
}

std::string_view casting_name(Casting c) {
  constexpr std::string_view names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return names[static_cast<int>(c)];
}

}  // namespace plait::tracer
