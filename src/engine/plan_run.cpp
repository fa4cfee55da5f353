#include "plan_run.hpp"

#include "core/scatter.hpp"

#include <algorithm>

namespace plait::engine {
using fusion::BufferSource;
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

PlanRun::PlanRun(const fusion::Graph& g, fusion::Plan& p, const std::vector<std::int64_t>& values)
    : g_(g), plan_(p), values_(values), memory_(g.nodes.size()), of_run_(g.nodes.size()) {
  for (std::int32_t i = 0; i < g.size(); ++i)
    if (g[i].leaf && g[i].node->data) memory_[i] = {g[i].node->data, g[i].node->data_offset};
}

PlanRun::Call PlanRun::numbers_of(const fusion::LoweredKernel& l) const {
  Call c;
  c.params.reserve(l.params.size() + 1);
  for (fusion::ExprId e : l.params) c.params.push_back(values_[e]);
  c.scalars.reserve(l.scalars.size());
  for (std::int32_t n : l.scalars) c.scalars.push_back(g_[n].node->scalar);
  return c;
}

void PlanRun::bind_buffers(const fusion::LoweredKernel& l, std::span<const Ref<Buffer>> partials,
                           void* chunk_table, Call& c) const {
  c.buffers.reserve(l.buffers.size());
  for (const BufferSource& b : l.buffers) switch (b.kind) {
      case BufferSource::NodeMemory:
        c.buffers.push_back(memory_[b.index].at());
        break;
      case BufferSource::Partial:
        c.buffers.push_back(partials[static_cast<std::size_t>(b.index)]->data);
        break;
      case BufferSource::ChunkTable:
        c.buffers.push_back(chunk_table);
        break;
    }
}

std::int64_t PlanRun::elements_an_iteration(const fusion::Step& s, std::int64_t extent) const {
  const Node& operand = *g_[g_[s.region.roots[0]].in[0]].node;
  return element_count(operand.shape) / std::max<std::int64_t>(1, extent);
}

Chunks PlanRun::chunks_of(const fusion::Step& s, std::int64_t extent) const {
  if (s.lowered.scatters) {
    std::int32_t by = s.region.roots[0];
    for (const std::int32_t r : s.region.roots)
      if (is_integer(g_[by].node->dtype)) by = r;
    return equal_chunks(extent, scatter_pieces(element_count(g_[g_[by].in[2]].node->shape),
                                               element_count(g_[by].node->shape)));
  }
  return s.lowered.pairwise_chunks ? tree_chunks(extent)
                                   : even_chunks(extent, elements_an_iteration(s, extent));
}

void PlanRun::settle(Node& n, const NodeMemory& m) const {
  n.strides = fusion::own_strides(n);
  tracer::settle(n, m.buffer, m.offset);
}

void PlanRun::settle_roots(const fusion::Step& s, UpdateMode update) {
  for (std::int32_t r : s.region.roots) {
    const fusion::GNode& gn = g_[r];
    const bool in_place = update == UpdateMode::InPlace;
    const std::int32_t old = in_place ? gn.in[0] : -1;
    const bool of_run = in_place && of_run_[old];
    // What was overwritten cannot be computed again, and what others can ask for is kept; the rest
    // is this run's own.
    const bool kept = gn.wanted || gn.held || !gn.exclusive || (in_place && !of_run);
    if (kept) settle(*gn.node, memory_[r]);
    of_run_[r] = of_run && !kept;
    if (in_place) {
      memory_[old] = {};
      if (!of_run) tracer::surrender(*g_[old].node);
    }
  }
}

Ref<Node> PlanRun::shadow(std::int32_t root, const ToHost& to_host) const {
  Copies copies;
  return shadow(root, root, to_host, copies);
}

Ref<Node> PlanRun::shadow(std::int32_t root, std::int32_t i, const ToHost& to_host,
                          Copies& copies) const {
  const Node& n = *g_[i].node;
  if (n.kind == NodeKind::Scalar) return Ref<Node>(g_[i].node);
  if (auto it = copies.find(i); it != copies.end()) return it->second;
  const NodeMemory m = i == root    ? NodeMemory{}
                       : memory_[i] ? memory_[i]
                                    : NodeMemory{n.data, n.data_offset};
  Ref<Node> c = tracer::new_node(n.kind);
  c->dtype = n.dtype;
  c->shape = n.shape;
  c->strides = m ? fusion::own_strides(n) : n.strides;
  if (m) {
    c->kind = NodeKind::Data;
    c->data = to_host(m.buffer);
    c->data_offset = m.offset;
  } else {
    c->fn = n.fn;
    c->reduce = n.reduce;
    c->n_inputs = n.n_inputs;
    c->errstate = n.errstate;
    c->site = n.site;
    c->named = n.named;
    c->offset = n.offset;
    c->axes = n.axes;
    c->call = n.call;
    c->scalar = n.scalar;
    c->view_shape = n.view_shape;
    c->view_strides = n.view_strides;
    c->view_dtype = n.view_dtype;
    for (int k = 0; k < 3; ++k)
      if (g_[i].in[k] >= 0) c->inputs[k] = shadow(root, g_[i].in[k], to_host, copies);
  }
  return copies[i] = c;
}

}  // namespace plait::engine
