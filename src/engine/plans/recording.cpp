#include "recording.hpp"

#include "core/call_table.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/engine.hpp"

namespace plait::engine {
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

void Recording::keep(const Root& r) {
  g_[r.node].recorded->strides = r.strides;
  keep_as_recorded(r);
}

void Recording::keep_as_recorded(const Root& r) {
  const NodeMemory& m = bindings_.memory(r.node);
  tracer::settle(*g_[r.node].recorded, m.buffer, m.offset);
}

void Recording::give_up(std::int32_t node) { tracer::invalidate(*g_[node].node); }

NodeMemory Recording::give_memory(std::int32_t node) {
  Node& n = *g_[node].node;
  if (!n.data) compute_direct(n);
  return {n.data, n.data_offset};
}

void Recording::evaluate(const BoundStep& s) {
  for (const Root& r : s.roots) {
    Node& n = *g_[r.node].node;
    for (const std::int32_t in : g_[r.node].in)
      if (in >= 0) publish(in);
    Node* wanted[] = {&n};
    evaluate_direct(wanted);
    bindings_.memory(r.node) = {n.data, n.data_offset};
    if (&n != g_[r.node].recorded) n.data.reset();
  }
}

// Lets the reference evaluator see what this run has computed, itself or behind a view.
void Recording::publish(std::int32_t i) {
  Node& n = *g_[i].node;
  Slot& slot = bindings_.slots[static_cast<std::size_t>(i)];
  if (!n.data && slot.memory) {
    n.strides = fusion::own_strides(n);
    tracer::settle(n, slot.memory.buffer, slot.memory.offset);
    slot.of_run = false;
  } else if (!n.data && n.kind == NodeKind::View) {
    publish(g_[i].in[0]);
  }
}

NodeMemory Recording::evaluate_apart(std::int32_t root, const ToHost& to_host) const {
  Copies copies;
  const Ref<Node> n = copy(root, root, to_host, copies);
  Node* wanted[] = {n.get()};
  evaluate_direct(wanted);
  return {n->data, n->data_offset};
}

NodeMemory Recording::viewed(std::int32_t root) const {
  const Node& n = *g_[root].node;
  if (n.kind != NodeKind::View || !bindings_.memory(g_[root].in[0])) return {};
  const NodeMemory& base = bindings_.memory(g_[root].in[0]);
  return {base.buffer, base.offset + n.offset};
}

std::string_view Recording::operation(std::int32_t root) const {
  const Node& n = *g_[root].node;
  return n.kind == NodeKind::Elementwise ? op_info(n.fn).name
         : n.kind == NodeKind::Reduce    ? reduce_info(n.reduce).name
         : n.kind == NodeKind::Call      ? call_info(n.call).name
                                         : "a region";
}

// Whether somebody listens to these events: most programs ignore underflow, some ignore all.
bool Recording::listens(unsigned flags) const {
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

void Recording::report(const BoundStep& s, UpdateMode update, unsigned flags) const {
  if (!listens(flags)) return;
  for (const Root& r : s.roots) {
    if (update != UpdateMode::InPlace) {
      evaluate_apart(r.node, [](const Ref<Buffer>& b) { return b; });
      continue;
    }
    const Node& value = *g_[g_[r.node].in[1]].node;
    report_flags(flags, value.fn == OpId::Count_ ? "cast" : op_info(value.fn).name,
                 *g_[r.node].node);
  }
}

Ref<Node> Recording::copy(std::int32_t root, std::int32_t i, const ToHost& to_host,
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
