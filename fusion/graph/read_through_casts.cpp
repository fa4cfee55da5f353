// Products whose operands were cast from types that fragments multiply themselves.
#include <cstring>
#include <optional>

#include "core/device.hpp"
#include "rewrites.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Of bytes from one element to another, those where elements are of another dtype.
struct Rescaled {
  std::int64_t wide, narrow;
  std::int64_t operator()(std::int64_t bytes) const { return bytes / wide * narrow; }
  Dims operator()(const Dims& strides) const {
    Dims d = strides;
    for (std::int64_t& s : d) s = (*this)(s);
    return d;
  }
};

// The value that is cast to `n`: of a cast what it reads, and of a cast that was written into a
// constant, as padding does, the same written into the constant of its dtype. Null where there is
// none.
Ref<Node> uncast(const GNode& n) {
  if (n.leaf) return {};
  const Node& of = *n.node;
  if (of.kind == NodeKind::Cast) {
    const Ref<Node>& from = of.inputs[0];
    return from->dtype != of.dtype && from->shape == of.shape ? from : Ref<Node>();
  }
  if (of.kind != NodeKind::Update || of.n_inputs != 2 || of.in_place || !alone(n) ||
      of.view_dtype != of.dtype)
    return {};
  const Node &old = *of.inputs[0], &value = *of.inputs[1];
  if (old.kind != NodeKind::Fill || old.materialised() || value.kind != NodeKind::Cast ||
      value.materialised() || value.shape != of.view_shape ||
      value.inputs[0]->shape != value.shape || value.inputs[0]->dtype == value.dtype)
    return {};
  const DType narrow = value.inputs[0]->dtype;
  const Scalar& filled = old.inputs[0]->scalar;
  const Scalar fewer = cast(filled, narrow), again = cast(fewer, of.dtype);
  if (std::memcmp(again.bytes, filled.bytes, itemsize(of.dtype)) != 0) return {};
  const Rescaled scale{static_cast<std::int64_t>(itemsize(of.dtype)),
                       static_cast<std::int64_t>(itemsize(narrow))};
  Ref<Node> fill = tracer::new_node(NodeKind::Fill), update = tracer::new_node(NodeKind::Update);
  Ref<Node> number = tracer::new_node(NodeKind::Scalar);
  number->dtype = narrow;
  number->device = kAnyDevice;
  number->scalar = fewer;
  fill->dtype = narrow;
  fill->device = old.device;
  fill->shape = old.shape;
  fill->strides = scale(old.strides);
  fill->n_inputs = 1;
  fill->inputs[0] = std::move(number);
  update->dtype = update->view_dtype = narrow;
  update->device = of.device;
  update->site = of.site;
  update->shape = of.shape;
  update->strides = scale(of.strides);
  update->offset = scale(of.offset);
  update->view_shape = of.view_shape;
  update->view_strides = scale(of.view_strides);
  update->n_inputs = 2;
  update->inputs[0] = std::move(fill);
  update->inputs[1] = value.inputs[0];
  return update;
}

struct CastOperand {
  const Node* view = nullptr;  // of the cast; null: the cast itself
  const ViewMap* map = nullptr;
  Ref<Node> from;
};

std::optional<CastOperand> cast_operand(const Graph& g, std::int32_t operand) {
  const GNode* n = &g[operand];
  CastOperand c;
  if (!n->leaf && n->node->kind == NodeKind::View) {
    if (n->node->dtype != n->node->inputs[0]->dtype) return std::nullopt;
    c.view = n->node;
    c.map = n->map.get();
    n = &g[n->in[0]];
  }
  c.from = uncast(*n);
  if (!c.from) return std::nullopt;
  return c;
}

// What the operand shows of the cast, of what was cast: null where that has no such view. Where
// both lie alike, any view of one is one of the other; else one that steps through the axes.
Ref<Node> of_source(const CastOperand& c) {
  if (!c.view) return c.from;
  const Node &v = *c.view, &cast = *v.inputs[0];
  const auto wide = static_cast<std::int64_t>(itemsize(cast.dtype)),
             narrow = static_cast<std::int64_t>(itemsize(c.from->dtype));
  const Dims& step = *shown(c.from).strides;
  bool alike = v.offset % wide == 0;
  for (int d = 0; alike && d < cast.shape.size(); ++d)
    alike = cast.shape[d] == 1 || cast.strides[d] * narrow == step[d] * wide;
  for (int d = 0; alike && d < v.strides.size(); ++d) alike = v.strides[d] % wide == 0;
  Dims strides(v.shape.size());
  if (alike) {
    for (int d = 0; d < strides.size(); ++d) strides[d] = v.strides[d] / wide * narrow;
    return view_of(c.from, v.shape, strides, v.offset / wide * narrow);
  }
  if (!c.map) return {};
  std::int64_t further = 0;
  for (int d = 0; d < step.size(); ++d) {
    further += c.map->start[d] * step[d];
    if (const auto j = static_cast<int>(c.map->from[d]); j >= 0)
      strides[j] = c.map->step[d] * step[d];
  }
  return view_of(c.from, v.shape, strides, further);
}

// Floats of so few rows are read once, as they lie, by a region that computes columns
// (ProductBlocks::few_rows), which takes 0.75 of what packing them for tiles does. Extents as short
// are part of a graph's key.
constexpr std::int64_t kReadOnce = 4;
bool computes_columns(const Node& product) {
  const tracer::ProductAxes axes = tracer::product_axes(product);
  const auto rows = product.shape.begin() + axes.batch;
  return is_float(product.dtype) && element_count(Dims(rows, rows + axes.rows)) <= kReadOnce;
}

// Whether a product has the same value of an operand that is cast to it from that type.
bool keeps_value(DType from, DType to) {
  if (is_integer(from)) return is_integer(to) && itemsize(from) <= itemsize(to);  // both wrap
  return (from == DType::Float16 || from == DType::BFloat16) && to == DType::Float32;
}

}  // namespace

std::vector<Graph::Instead> read_through_casts(const Graph& g) {
  std::vector<Graph::Instead> found;
  for (const GNode& n : g.nodes) {
    if (n.leaf || n.node->kind != NodeKind::MatMul || n.node->device > kHost) continue;
    if (computes_columns(*n.node)) continue;
    const DType t = n.node->dtype;
    Ref<Node> in[2];
    DType types[2] = {t, t};
    for (const int k : {0, 1}) {
      const std::optional<CastOperand> c = cast_operand(g, n.in[k]);
      if (!c || !keeps_value(c->from->dtype, t)) continue;
      if ((in[k] = of_source(*c))) types[k] = c->from->dtype;
    }
    // Both, or the one that fragments take beside the other as it is.
    const auto take = [&](bool a, bool b) {
      if ((a && !in[0]) || (b && !in[1])) return false;
      if (!ir::has_fragments({a ? types[0] : t, b ? types[1] : t, t})) return false;
      const Ref<Node>* const given = n.node->inputs;
      Ref<Node> p = tracer::product_instead(*n.node, a ? in[0] : given[0], b ? in[1] : given[1],
                                            n.node->axes);
      p->named = n.node->named;
      found.push_back({n.recorded, std::move(p)});
      return true;
    };
    if (in[0] || in[1]) take(true, true) || take(true, false) || take(false, true);
  }
  return found;
}

}  // namespace plait::fusion
