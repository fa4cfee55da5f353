#include "recording.hpp"

#include <utility>

#include "core/call_table.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/engine.hpp"

namespace plait::engine {
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

Given given_by(const fusion::Graph& g, const fusion::Plan& p, std::vector<std::int64_t> values) {
  Given given{std::move(values), {}, std::vector<Slot>(g.nodes.size()), {}};
  std::size_t scalars = 0;
  for (const fusion::Step& s : p.steps) scalars += s.lowered.scalars.size();
  given.scalars.reserve(scalars);
  for (const fusion::Step& s : p.steps)
    for (const std::int32_t n : s.lowered.scalars) given.scalars.push_back(g[n].node->scalar);
  for (std::size_t i = 0; i < given.slots.size(); ++i) {
    const fusion::GNode& gn = g.nodes[i];
    if (!gn.leaf) continue;
    const Node& n = *gn.node;
    if (n.data) {
      given.slots[i].memory = {n.data, n.data_offset};
    } else if (n.kind == NodeKind::Empty) {
      given.slots[i].unwritten = static_cast<std::int32_t>(given.unwritten.size());
      given.unwritten.push_back({n.dtype, n.shape, gn.exclusive});
    }
  }
  return given;
}

void RecordedGraph::keep(const Root& r, const NodeMemory& m) {
  g_[r.node].recorded->strides = r.strides;
  keep_as_recorded(r, m);
}

void RecordedGraph::keep_as_recorded(const Root& r, const NodeMemory& m) {
  tracer::settle(*g_[r.node].recorded, m.buffer, m.offset);
}

void RecordedGraph::give_up(std::int32_t node) { tracer::invalidate(*g_[node].node); }

NodeMemory RecordedGraph::give_memory(std::int32_t node) {
  Node& n = *g_[node].node;
  if (!n.data) compute_direct(n);
  return {n.data, n.data_offset};
}

void RecordedGraph::report(std::int32_t node, std::string_view name, unsigned flags) {
  report_flags(flags, name, *g_[node].node);
}

NodeMemory RecordedGraph::evaluate_apart(std::int32_t root, const ToHost& to_host) {
  Copies copies;
  const Ref<Node> n = copy(root, root, to_host, copies);
  Node* wanted[] = {n.get()};
  evaluate_direct(wanted);
  return {n->data, n->data_offset};
}

NodeMemory RecordedGraph::viewed(std::int32_t root) const {
  const Node& n = *g_[root].node;
  if (n.kind != NodeKind::View || !bindings_.memory(g_[root].in[0])) return {};
  const NodeMemory& base = bindings_.memory(g_[root].in[0]);
  return {base.buffer, base.offset + n.offset};
}

std::string_view RecordedGraph::operation(std::int32_t root) const {
  const Node& n = *g_[root].node;
  return n.kind == NodeKind::Elementwise ? op_info(n.fn).name
         : n.kind == NodeKind::Reduce    ? reduce_info(n.reduce).name
         : n.kind == NodeKind::Call      ? call_info(n.call).name
                                         : "a region";
}

// Whether somebody listens to these events: most programs ignore underflow, some ignore all.
bool RecordedGraph::listens(unsigned flags) const {
  if (!flags) return false;
  for (const fusion::GNode& gn : g_.nodes) {
    const tracer::ErrorState e = tracer::error_state(gn.node->errstate);
    constexpr auto off = tracer::ErrorAction::Ignore;
    if (((flags & kDivide) && e.divide != off) || ((flags & kOver) && e.over != off) ||
        ((flags & kUnder) && e.under != off) || ((flags & kInvalid) && e.invalid != off))
      return true;
  }
  return false;
}

void RecordedGraph::report(const BoundStep& s, UpdateMode update, unsigned flags) {
  if (!listens(flags)) return;
  for (const Root& r : s.roots) {
    if (update != UpdateMode::InPlace) {
      evaluate_apart(r.node, [](const Ref<Buffer>& b) { return b; });
      continue;
    }
    const Node& value = *g_[r.update ? g_[r.node].in[1] : r.node].node;
    report_flags(flags, value.fn == OpId::Count_ ? "cast" : op_info(value.fn).name,
                 *g_[r.node].node);
  }
}

Ref<Node> RecordedGraph::copy(std::int32_t root, std::int32_t i, const ToHost& to_host,
                              Copies& copies) const {
  const Node& n = *g_[i].node;
  if (n.kind == NodeKind::Scalar) return Ref<Node>(g_[i].node);
  if (auto it = copies.find(i); it != copies.end()) return it->second;
  const NodeMemory& here = bindings_.memory(i);
  const NodeMemory m = i == root ? NodeMemory{} : here ? here : NodeMemory{n.data, n.data_offset};
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
    c->step = n.step;
    c->axes = n.axes;
    c->call = n.call;
    c->scalar = n.scalar;
    c->view_shape = n.view_shape;
    c->view_strides = n.view_strides;
    c->view_dtype = n.view_dtype;
    for (int k = 0; k < 3; ++k)
      if (g_[i].in[k] >= 0) c->inputs[k] = copy(root, g_[i].in[k], to_host, copies);
  }
  return copies[i] = c;
}

}  // namespace plait::engine
