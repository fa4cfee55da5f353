#include "rewrites.hpp"

#include <algorithm>

#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

bool alone(const GNode& g) { return !g.leaf && !g.wanted && !g.held && g.uses == 1; }

StridedSource::StridedSource(const tracer::Node& n, DType as, const Strided& lies)
    : base(n.kind == NodeKind::View ? n.inputs[0].get() : const_cast<tracer::Node*>(&n)),
      dtype(as),
      start(lies.start),
      extents(lies.extents),
      steps(lies.steps) {}

bool StridedSource::steps_alike(const StridedSource& o) const {
  return base == o.base && dtype == o.dtype && extents == o.extents && steps == o.steps;
}

bool StridedSource::is_innermost(int axis) const {
  for (int d = 0; d < size(); ++d)
    if (d != axis && extents[d] > 1 && steps[d] < steps[axis]) return false;
  return true;
}

StridedSource StridedSource::through(const ViewMap& map, const Dims& shown) const {
  StridedSource s = *this;
  s.extents = shown;
  s.steps = Dims(shown.size());
  for (int d = 0; d < size(); ++d) {
    s.start += map.start[d] * steps[d];
    if (const auto j = static_cast<int>(map.from[d]); j >= 0) s.steps[j] = map.step[d] * steps[d];
  }
  return s;
}

Ref<tracer::Node> StridedSource::node() const {
  const Strided all = strided(*base);
  bool whole = start == 0 && base->dtype == dtype && all.extents == extents;
  for (int d = 0; whole && d < size(); ++d) whole = extents[d] == 1 || all.steps[d] == steps[d];
  return whole ? Ref<tracer::Node>(base) : view();
}

Ref<tracer::Node> StridedSource::view() const {
  Ref<tracer::Node> v = tracer::new_node(NodeKind::View);
  v->dtype = dtype;
  v->shape = extents;
  v->strides = steps;
  v->offset = start;
  v->n_inputs = 1;
  v->inputs[0] = Ref<tracer::Node>(base);
  return v;
}

bool same_extents(const tracer::Node& a, const tracer::Node& b) {
  return strided(a).extents == strided(b).extents;
}
bool same_layout(const tracer::Node& a, const tracer::Node& b) {
  return same_extents(a, b) && strided(a).steps == strided(b).steps;
}

namespace {

bool copies(const GNode& g) {
  return !g.leaf && g.node->kind == NodeKind::Cast && g.node->inputs[0]->dtype == g.node->dtype;
}

// A view of a copy that steps through its axes, as one of what was copied.
StridedSource through(const GNode& copy, const GNode& view) {
  return StridedSource(*copy.node->inputs[0]).through(*view.map, StridedSource(*view.node).extents);
}

// What a copy shows that nobody else reads, itself or by a view that steps through its axes, as a
// view of what was copied; null: there is none.
Ref<tracer::Node> copied(const Graph& g, std::int32_t operand) {
  const GNode& v = g[operand];
  const bool view = alone(v) && v.node->kind == NodeKind::View && v.map;
  const GNode& copy = g[view ? v.in[0] : operand];
  if (!copies(copy) || !alone(copy)) return {};
  return view ? through(copy, v).node() : copy.node->inputs[0];
}

// Whether its value does not depend on how its operands lie.
bool reads_in_any_order(const tracer::Node& n) {
  return n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast ||
         n.kind == NodeKind::MatMul ||
         (n.kind == NodeKind::Reduce && !reduce_info(n.reduce).has(kOrderShows));
}

bool copies_product(const Graph& g, const GNode& n) {
  if (!copies(n) || n.wanted || n.held) return false;
  const GNode& from = g[n.in[0]];
  const GNode& base = from.node->kind == NodeKind::View && !from.leaf ? g[from.in[0]] : from;
  return !base.leaf && base.node->kind == NodeKind::MatMul;
}

}  // namespace

std::vector<Graph::Instead> read_through_copies(const Graph& g) {
  std::vector<Graph::Instead> found;
  for (const GNode& n : g.nodes) {
    const bool multiplies = !n.leaf && n.node->kind == NodeKind::MatMul && !n.node->axes.empty();
    if (!multiplies && !copies(n)) continue;
    Ref<tracer::Node> in[2];
    for (const int k : {0, 1})
      if (n.in[k] >= 0) in[k] = copied(g, n.in[k]);
    if (!in[0] && !in[1]) continue;
    for (const int k : {0, 1})
      if (!in[k]) in[k] = n.node->inputs[k];
    if (!multiplies) {
      found.push_back({n.recorded, tracer::copy_instead(*n.node, in[0])});
      continue;
    }
    Ref<tracer::Node> p = tracer::product_instead(*n.node, in[0], in[1], n.node->axes);
    p->named = n.node->named;
    found.push_back({n.recorded, std::move(p)});
  }
  return found;
}

std::vector<Graph::Instead> read_products(const Graph& g) {
  std::vector<Graph::Instead> found;
  const auto candidate = [&](const GNode& n) { return copies_product(g, n); };
  if (std::ranges::none_of(g.nodes, candidate)) return found;
  std::vector<std::vector<std::int32_t>> readers(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i)
    for (const std::int32_t in : g[i].in)
      if (in >= 0) readers[static_cast<std::size_t>(in)].push_back(i);
  const auto in_any_order = [&](std::int32_t i) { return reads_in_any_order(*g[i].node); };
  for (std::int32_t c = 0; c < g.size(); ++c) {
    if (!candidate(g[c])) continue;
    const auto steps = [&](std::int32_t i) {
      const GNode& v = g[i];
      return v.node->kind == NodeKind::View && v.map && !v.wanted && !v.held &&
             std::ranges::all_of(readers[static_cast<std::size_t>(i)], in_any_order);
    };
    const std::vector<std::int32_t>& by = readers[static_cast<std::size_t>(c)];
    if (!std::ranges::all_of(by, [&](std::int32_t i) { return in_any_order(i) || steps(i); }))
      continue;
    if (std::ranges::any_of(by, in_any_order))
      found.push_back({g[c].recorded, StridedSource(*g[c].node->inputs[0]).view()});
    for (const std::int32_t i : by)
      if (!in_any_order(i)) found.push_back({g[i].recorded, through(g[c], g[i]).view()});
  }
  return found;
}

}  // namespace plait::fusion
