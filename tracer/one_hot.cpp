#include "one_hot.hpp"

#include <cstring>

#include "calls.hpp"
#include "context.hpp"
#include "core/scatter.hpp"
#include "device.hpp"
#include "graph.hpp"
#include "layout.hpp"

namespace plait::tracer {
namespace {

// With more columns than these or than classes a product costs less than combining each of them;
// so it does where one thread would combine.
constexpr std::int64_t kFewColumns = 8;
constexpr std::int64_t kFewest = kScatteredInPieces / kFewColumns;  // labels worth counting
constexpr std::int64_t kMostClasses = 4096;

struct OneHot {
  Ref<Node> labels;  // Int64 (n)
  std::int64_t classes = 0;
  int axis = 0;  // of the classes
};

// A node that shows a line of another, or is one: (n), (1, n) or (n, 1), all of it in order.
Ref<Node> line(const Ref<Node>& n, int axis) {
  const std::int64_t extent = axis < n->shape.size() ? n->shape[axis] : 1;
  if (extent != element_count(n->shape)) return {};
  const bool view = n->kind == NodeKind::View;
  Ref<Node> base = view ? n->inputs[0] : n;
  const bool whole = base->shape == Dims{extent} && base->dtype == n->dtype &&
                     (!view || (n->offset == 0 && n->strides[axis] == base->strides[0]));
  return whole ? base : Ref<Node>();
}

// Whether the values are 0, 1, 2 ...
bool counts_up(const Node& n) {
  if (n.kind == NodeKind::Iota && !n.materialised())
    return cast(n.inputs[0]->scalar, DType::Int64).as<std::int64_t>() == 0 &&
           cast(n.inputs[1]->scalar, DType::Int64).as<std::int64_t>() == 1;
  if (!n.materialised() || n.device > kHost || n.data->foreign) return false;
  for (std::int64_t i = 0; i < n.shape[0]; ++i) {
    std::int64_t v;
    std::memcpy(&v, n.data->data + n.data_offset + i * n.strides[0], sizeof v);
    if (v != i) return false;
  }
  return true;
}

// An input of one dimension has the last axis of the matrix.
Ref<Node> line_along(const Ref<Node>& n, int axis) {
  if (n->shape.size() == 1) return axis == 1 ? line(n, 0) : Ref<Node>();
  return line(n, axis);
}

// What a matrix of two dimensions is, which shows all of a value as it lies or transposed.
std::optional<OneHot> one_hot(const Array& a) {
  const Ref<Node>& v = a.storage->version;
  if (a.ndim() != 2 || a.offset != 0 || a.storage->base != 0 || v->shape.size() != 2 ||
      v->materialised() || a.dtype != v->dtype)
    return std::nullopt;
  const bool as_it_lies = a.shape == v->shape && a.strides == v->strides;
  const bool transposed =
      a.shape == Dims{v->shape[1], v->shape[0]} && a.strides == Dims{v->strides[1], v->strides[0]};
  if (!as_it_lies && !transposed) return std::nullopt;
  const Node* equal = v.get();
  if (equal->kind == NodeKind::Cast) equal = equal->inputs[0].get();
  if (equal->kind != NodeKind::Elementwise || equal->fn != OpId::Equal || equal->materialised() ||
      equal->shape != v->shape)
    return std::nullopt;
  for (const int of_classes : {0, 1})
    for (const int axis : {0, 1}) {
      const Ref<Node> classes = line_along(equal->inputs[of_classes], axis),
                      labels = line_along(equal->inputs[1 - of_classes], 1 - axis);
      if (!classes || !labels || classes->dtype != DType::Int64 || labels->dtype != DType::Int64)
        continue;
      const std::int64_t count = classes->shape[0];
      const std::optional<std::int64_t> bound = position_bound(*labels);
      if (count > kMostClasses || count != v->shape[axis] || !bound || *bound > count ||
          !counts_up(*classes))
        continue;
      return OneHot{labels, count, as_it_lies ? axis : 1 - axis};
    }
  return std::nullopt;
}

bool recorded_here(const Array& a) {
  return device_of(a) == kHost && !eager_errors() && !reads_export(a);
}

Array by_label(const OneHot& hot, const Array& values) {
  Dims shape = values.shape;
  shape[0] = hot.classes;
  const Array all[] = {full(shape, cast(scalar_int(0), values.dtype)), wrap(hot.labels), values};
  CallAttributes attributes;
  attributes.fn = OpId::Add;
  return call(CallId::Scatter, all, attributes)[0];
}

}  // namespace

std::optional<std::int64_t> position_bound(const Node& of) {
  const Node* n = &of;
  while (n->kind == NodeKind::View && !n->materialised()) n = n->inputs[0].get();
  if (n->kind == NodeKind::Cast && !n->materialised()) {
    // Of what is cast the values are those of its dtype.
    const DType from = n->inputs[0]->dtype;
    if (from == DType::Bool) return 2;
    if (from == DType::UInt8 || from == DType::UInt16)
      return std::int64_t{1} << (8 * itemsize(from));
  }
  const bool extreme = n->kind == NodeKind::Reduce && !n->materialised() &&
                       (n->reduce == ReduceKind::ArgMin || n->reduce == ReduceKind::ArgMax);
  if (!extreme) return std::nullopt;
  std::int64_t bound = 1;
  for (const std::int64_t axis : n->axes) bound *= n->inputs[0]->shape[static_cast<int>(axis)];
  return bound;
}

std::optional<Array> summed_by_label(const Array& left, const Array& right) {
  const std::int64_t columns = right.ndim() == 2 ? right.shape[1] : 1;
  if (right.dtype != DType::Float64 || right.ndim() > 2 || columns > kFewColumns || columns == 0 ||
      (left.dtype != DType::Float64 && left.dtype != DType::Bool) || !recorded_here(right) ||
      scatter_pieces(right.size(), left.shape[0] * columns) == 1 || left.shape[0] < columns)
    return std::nullopt;
  const std::optional<OneHot> hot = one_hot(left);
  if (!hot || hot->axis != 0) return std::nullopt;
  const Naming named(NamedAs::MatMul);
  const Array sums = by_label(*hot, right);
  // Zero times what is not finite is NaN: all other classes have it.
  const Operand zeros[] = {right, Operand(scalar_float(0), Weak::Float)};
  const Array spoilt = by_label(*hot, elementwise(OpId::Multiply, zeros));
  const Array classes = arange(hot->classes, scalar_int(0), scalar_int(1));
  const Array column = expand_dims(classes, Dims{1});
  const Operand pair[] = {column, classes};
  Array others = elementwise(OpId::NotEqual, pair);
  Dims each = spoilt.shape;
  each.insert(0, hot->classes);
  if (right.ndim() == 2) others = expand_dims(others, Dims{2});
  ReduceOptions over;
  over.axes = Dims{1};
  over.where = &others;
  const Array of_others = reduce(ReduceKind::Sum, broadcast_to(spoilt, each), over);
  const Operand both[] = {sums, of_others};
  return elementwise(OpId::Add, both);
}

std::optional<Array> counted_by_label(const Array& hot, std::int64_t axis) {
  if (hot.ndim() != 2 || (hot.dtype != DType::Float64 && hot.dtype != DType::Bool) ||
      !recorded_here(hot) || hot.shape[static_cast<int>(axis)] < kFewest)
    return std::nullopt;
  const std::optional<OneHot> h = one_hot(hot);
  if (!h || h->axis == axis) return std::nullopt;
  const Array counts =
      by_label(*h, broadcast_to(from_scalar(scalar_int(1)), Dims{h->labels->shape[0]}));
  return hot.dtype == DType::Bool ? counts : astype(counts, DType::Float64);
}

}  // namespace plait::tracer
