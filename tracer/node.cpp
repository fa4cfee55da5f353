#include "node.hpp"

#include "computed.hpp"
#include "derived.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

void forget_pending(Context& c, Node& n) {
  if (n.accounting & kPending) {
    --c.pending_nodes;
    n.accounting &= static_cast<std::uint8_t>(~kPending);
  }
}

void forget_retained(Context& c, Node& n) {
  if (n.accounting & kRetained) {
    c.retained_bytes -= n.data->bytes;
    n.accounting &= static_cast<std::uint8_t>(~kRetained);
  }
}

}  // namespace

Ref<Node> new_node(NodeKind kind) {
  const Lock held = hold();
  return take_node(kind);
}

void Node::destroy(Node* n) {
  Context& c = context();
  const Lock held = hold();
  if (c.destroying) {
    c.dying.push_back(n);
    return;
  }
  c.destroying = true;
  for (;;) {
    forget_pending(c, *n);
    forget_retained(c, *n);
    forget_contents(*n);
    c.nodes.destroy(n);
    if (c.dying.empty()) break;
    n = c.dying.back();
    c.dying.pop_back();
  }
  c.destroying = false;
}

std::size_t trim_nodes() {
  const Lock held = hold();
  Context& c = context();
  return c.nodes.trim() + c.storages.trim();
}

std::uint64_t next_walk() { return ++context().walks; }

void settle(Node& n, Ref<Buffer> data, std::int64_t data_offset) {
  Context& c = context();
  const Lock held = hold();
  forget_pending(c, n);
  n.device = data->device;
  n.data = std::move(data);
  n.data_offset = data_offset;
  n.kind = NodeKind::Data;
  n.n_inputs = 0;
  for (Ref<Node>& in : n.inputs) in.reset();
}

void invalidate(Node& n) {
  Context& c = context();
  const Lock held = hold();
  forget_retained(c, n);
  forget_contents(n);
  n.data.reset();
}

void mark_computed(Node& n) { n.accounting |= kComputed; }
bool computed_before(const Node& n) { return n.accounting & kComputed; }

std::uint64_t contents_of(Node& n) {
  if (n.accounting & kOpen) return 0;
  if (n.contents == 0) n.contents = ++context().last_contents;
  return n.contents;
}

void share_contents(Node& view, const Node& of) {
  view.contents = of.contents;
  view.accounting |= kShown | (of.accounting & kOpen);
}

void forget_contents(Node& n) {
  const std::uint64_t gone = std::exchange(n.contents, 0);
  const bool own = !(n.accounting & kShown);
  n.accounting &= static_cast<std::uint8_t>(~kShown);
  if (gone && own && context().contents_gone) context().contents_gone(gone);
}

void on_contents_gone(void (*gone)(std::uint64_t)) { context().contents_gone = gone; }

}  // namespace plait::tracer
