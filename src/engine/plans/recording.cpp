#include "recording.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/call_table.hpp"
#include "core/op_events.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/engine.hpp"
#include "engine/products/packed_operands.hpp"
#include "engine/reports/report.hpp"

namespace plait::engine {
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

RunInputs run_inputs(const fusion::Graph& g, const fusion::Plan& p,
                     std::vector<std::int64_t> values) {
  RunInputs given{std::move(values), {}, std::vector<Slot>(g.nodes.size()), {}};
  std::size_t scalars = 0;
  for (const fusion::Step& s : p.steps) scalars += s.lowered.scalars.size();
  given.scalars.reserve(scalars);
  for (const fusion::Step& s : p.steps)
    for (const std::int32_t n : s.lowered.scalars) given.scalars.push_back(g[n].node->scalar);
  for (std::size_t i = 0; i < given.slots.size(); ++i) {
    const fusion::GNode& gn = g.nodes[i];
    if (!gn.leaf) continue;
    Node& n = *gn.node;
    if (n.data) {
      given.slots[i].memory = {n.data, n.data_offset, packable_contents(n)};
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

void RecordedGraph::give_up(std::int32_t node) {
  const Ref<Buffer> memory = g_[node].recorded->data;
  tracer::invalidate(*g_[node].recorded);
  // Values that equal it were secured in that memory.
  if (memory)
    for_equal(node, [&](Node& n) {
      if (n.data == memory) tracer::invalidate(n);
    });
}

template <class F>
void RecordedGraph::for_equal(std::int32_t node, F&& f) const {
  for (std::int32_t i = node + 1; i < g_.size(); ++i)
    if (canon_[static_cast<std::size_t>(i)] == node && !g_[i].leaf) f(*g_[i].recorded);
}

void RecordedGraph::secure(const Root& r, const NodeMemory& m) {
  keep(r, m);
  for_equal(r.node, [&](Node& n) {
    if (n.data) return;
    n.strides = r.strides;
    tracer::settle(n, m.buffer, m.offset);
  });
}

void RecordedGraph::let_go(std::vector<std::int32_t>& nodes) {
  const std::uint64_t walk = tracer::next_walk();
  std::vector<const Node*> pending;
  const auto reach = [&](const Node& n) {
    if (n.walk == walk) return;
    const_cast<Node&>(n).walk = walk;
    if (!n.data) pending.push_back(&n);
  };
  for (const fusion::GNode& n : g_.nodes)
    if (n.wanted || n.held || !n.exclusive) reach(*n.recorded);
  while (!pending.empty()) {
    const Node& n = *pending.back();
    pending.pop_back();
    for (const Ref<Node>& in : n.inputs)
      if (in) reach(*in);
  }
  std::erase_if(nodes, [&](std::int32_t i) {
    bool needed = g_[i].recorded->walk == walk;
    for_equal(i, [&](const Node& n) { needed |= n.walk == walk; });
    if (!needed) give_up(i);
    return !needed;
  });
}

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

namespace {

tracer::ErrorAction listened(const Node& n, unsigned flag) {
  const tracer::ErrorState e = tracer::error_state(n.errstate);
  return flag == kDivide ? e.divide : flag == kOver ? e.over : flag == kUnder ? e.under : e.invalid;
}

// The events that a node may raise.
unsigned events_of(const fusion::Graph& g, std::int32_t i) {
  const Node& n = *g[i].node;
  const std::int32_t in = g[i].in[n.kind == NodeKind::Update];
  const DType operand = in < 0 ? n.dtype : g[in].node->dtype;
  switch (n.kind) {
    case NodeKind::Cast:
    case NodeKind::Update: {
      const DType to = n.kind == NodeKind::Cast ? n.dtype : n.view_dtype;
      return in < 0 || operand == to ? 0 : kOver | kUnder | kInvalid;
    }
    case NodeKind::Reduce:
      return may_raise(n.reduce, operand);
    case NodeKind::Elementwise:
      return may_raise(n.fn, operand);
    default:
      return 0;
  }
}

}  // namespace

// Whether somebody listens to these events: most programs ignore underflow, some ignore all.
bool RecordedGraph::listens(unsigned flags) const {
  if (!flags || !tracer::events_are_heard()) return false;
  for (const fusion::GNode& gn : g_.nodes) {
    const tracer::ErrorState e = tracer::error_state(gn.node->errstate);
    constexpr auto off = tracer::ErrorAction::Ignore;
    if (((flags & kDivide) && e.divide != off) || ((flags & kOver) && e.over != off) ||
        ((flags & kUnder) && e.under != off) || ((flags & kInvalid) && e.invalid != off))
      return true;
  }
  return false;
}

std::vector<std::int32_t> RecordedGraph::operations(const BoundStep& s) const {
  std::set<std::int32_t> found;
  std::vector<std::int32_t> pending;
  for (const Root& r : s.roots) pending.push_back(r.node);
  const auto& buffers = s.step.lowered.buffers;
  const auto is_root = [&](std::int32_t i) {
    return std::ranges::any_of(s.roots, [&](const Root& r) { return r.node == i; });
  };
  const auto is_read = [&](std::int32_t i) {
    return g_[i].leaf ||
           std::ranges::any_of(s.roots,
                               [&](const Root& r) { return r.update && r.update->old == i; }) ||
           std::ranges::any_of(buffers, [&](const fusion::BufferSource& b) {
             return b.kind == fusion::BufferSource::NodeMemory && b.index == i;
           });
  };
  while (!pending.empty()) {
    const std::int32_t i = pending.back();
    pending.pop_back();
    if (!found.insert(i).second) continue;
    // The version before a write is no operand.
    for (int k = g_[i].node->kind == NodeKind::Update && is_root(i); k < 3; ++k)
      if (const std::int32_t in = g_[i].in[k]; in >= 0 && !is_read(in)) pending.push_back(in);
  }
  return {found.begin(), found.end()};
}

void RecordedGraph::describe(const BoundStep& s, timeline::Span& span) const {
  std::string name;
  std::vector<std::uint32_t> sites;
  for (const Root& r : s.roots) {
    name += (name.empty() ? "" : ", ") + value_of(*g_[r.node].node, {}).type;
    sites.push_back(site(r.node));
  }
  for (const std::int32_t i : operations(s))
    if (const std::uint32_t at = site(i); at && std::ranges::find(sites, at) == sites.end())
      sites.push_back(at);
  span.name(name);
  span.sites(sites);
}

bool RecordedGraph::heard_alike(const BoundStep& s) const {
  if (!one_error_state_) {
    const Node* one = nullptr;
    one_error_state_ = true;
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      if (!events_of(g_, i)) continue;
      if (!one) one = g_[i].node;
      *one_error_state_ &= g_[i].node->errstate == one->errstate;
    }
  }
  if (*one_error_state_) return true;
  const std::vector<std::int32_t> all = operations(s);
  for (const unsigned flag : {kDivide, kOver, kUnder, kInvalid}) {
    const Node* one = nullptr;
    for (const std::int32_t i : all) {
      const Node& n = *g_[i].node;
      if (!(events_of(g_, i) & flag)) continue;
      if (one && listened(*one, flag) != listened(n, flag)) return false;
      one = &n;
    }
  }
  return true;
}

void RecordedGraph::report(const BoundStep& s, UpdateMode update, unsigned flags) {
  if (!listens(flags)) return;
  if (update != UpdateMode::InPlace) {
    for (const Root& r : s.roots) evaluate_apart(r.node, [](const Ref<Buffer>& b) { return b; });
    return;
  }
  const std::vector<std::int32_t> all = operations(s);
  for (const unsigned flag : {kDivide, kOver, kUnder, kInvalid}) {
    if (!(flags & flag)) continue;
    const auto by =
        std::ranges::find_if(all, [&](std::int32_t i) { return (events_of(g_, i) & flag) != 0; });
    if (by == all.end()) continue;
    const Node& n = *g_[*by].node;
    report_flags(flag,
                 n.kind == NodeKind::Elementwise ? op_info(n.fn).name
                 : n.kind == NodeKind::Reduce    ? "reduce"
                                                 : "cast",
                 n);
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
