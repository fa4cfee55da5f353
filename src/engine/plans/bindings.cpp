#include "bindings.hpp"

#include <utility>

namespace plait::engine {
using fusion::Graph;
using fusion::Step;
using tracer::Node;
using tracer::NodeKind;

namespace {

// As it lies in memory: what is not stored is a view of what is.
LibraryOperand operand(const Graph& g, std::int32_t i, const std::vector<bool>& stored) {
  const Node& n = *g[i].node;
  const auto in_memory = [&](std::int32_t node) { return stored[static_cast<std::size_t>(node)]; };
  LibraryOperand o{i, n.dtype, n.shape, in_memory(i) ? fusion::own_strides(n) : n.strides, 0};
  if (in_memory(i)) return o;
  for (; g[o.node].node->kind == NodeKind::View && !g[o.node].leaf; o.node = g[o.node].in[0])
    o.offset += g[o.node].node->offset;
  return o;
}

}  // namespace

Bindings::Bindings(const Graph& g, const fusion::Plan& p, std::vector<std::int64_t> numbers,
                   DeviceId on)
    : device(on), values(std::move(numbers)), slots(g.nodes.size()) {
  add_leaves(g);
  std::size_t roots = 0, params = 0, scalars = 0;
  for (const Step& s : p.steps) {
    roots += s.region.roots.size();
    params += s.lowered.params.size();
    scalars += s.lowered.scalars.size();
  }
  roots_.reserve(roots);
  params_.reserve(params);
  scalars_.reserve(scalars);
  std::vector<bool> stored;
  if (device != kHost) {
    stored.resize(g.nodes.size());
    for (std::size_t i = 0; i < slots.size(); ++i) stored[i] = static_cast<bool>(slots[i].memory);
  }
  for (const Step& s : p.steps) {
    for (const fusion::ExprId e : s.lowered.params)
      params_.push_back(values[static_cast<std::size_t>(e)]);
    for (const std::int32_t n : s.lowered.scalars) scalars_.push_back(g[n].node->scalar);
    for (const std::int32_t r : s.region.roots) add_root(g, r);
    if (s.lowered.scatters) add_tables(g, p, s);
    if (device == kHost) continue;
    if (s.kind == fusion::StepKind::Direct) add_product(g, s, stored);
    for (const std::int32_t r : s.region.roots) stored[static_cast<std::size_t>(r)] = true;
  }
}

void Bindings::add_leaves(const Graph& g) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const fusion::GNode& gn = g.nodes[i];
    if (!gn.leaf) continue;
    const Node& n = *gn.node;
    if (n.data) {
      slots[i].memory = {n.data, n.data_offset};
    } else if (n.kind == NodeKind::Empty) {
      slots[i].unwritten = static_cast<std::int32_t>(unwritten.size());
      unwritten.push_back({n.dtype, n.shape, gn.exclusive});
    }
  }
}

void Bindings::add_root(const Graph& g, std::int32_t i) {
  const fusion::GNode& gn = g[i];
  const Node& n = *gn.node;
  Root& r = roots_.emplace_back(
      Root{.node = i,
           .dtype = n.dtype,
           .folds = n.kind == NodeKind::Reduce,
           .kept = gn.wanted || gn.held || !gn.exclusive,
           .reduce = n.reduce,
           .site = n.site,
           .shape = n.shape,
           .strides = fusion::own_strides(n),
           .over = n.kind == NodeKind::Reduce ? element_count(g[gn.in[0]].node->shape) : 0,
           .update = {}});
  if (n.kind == NodeKind::Update)
    r.update =
        UpdateTarget{gn.in[0], gn.in[2] >= 0, n.view_dtype, n.view_shape, n.view_strides, n.offset};
}

void Bindings::add_tables(const Graph& g, const fusion::Plan& p, const Step& s) {
  const std::size_t first = roots_.size() - s.region.roots.size();
  for (std::size_t k = first; k < roots_.size(); ++k) {
    const fusion::GNode& gn = g[roots_[k].node];
    roots_[k].over = element_count(g[gn.in[2]].node->shape);
    const std::int32_t init = p.canon[static_cast<std::size_t>(gn.in[0])];
    const Node& from = *g[init].node;
    TableStart t{roots_[k].node, init, {}, {}};
    if (from.kind == NodeKind::Fill)
      t.fill = cast(g[g[init].in[0]].node->scalar, roots_[k].dtype);
    else
      t.strides = fusion::own_strides(from);
    tables.push_back(std::move(t));
  }
}

void Bindings::add_product(const Graph& g, const Step& s, const std::vector<bool>& stored) {
  const std::int32_t root = s.region.roots[0], m = s.epilogue ? s.epilogue.product : root;
  const Node& n = *g[m].node;
  if (n.kind != NodeKind::MatMul) return;
  const LibraryOperand a = operand(g, g[m].in[0], stored), b = operand(g, g[m].in[1], stored);
  products_.push_back({root,
                       m,
                       n.dtype,
                       n.shape,
                       fusion::own_strides(n),
                       tracer::product_axes(n),
                       tracer::product_depth(n),
                       n.site,
                       a,
                       b,
                       {},
                       false});
  if (!s.epilogue) return;
  products_.back().addend = operand(g, s.epilogue.addend, stored);
  products_.back().whole = s.epilogue.whole;
}

}  // namespace plait::engine
