#include "node.hpp"

#include <new>

#include "graph.hpp"

namespace plait::tracer {

namespace {

constexpr int kSlab = 64;

// A dead node's memory holds the link to the next free one.
Node*& next_free(Node* n) { return *reinterpret_cast<Node**>(n); }

void refill(Context& c) {
  auto* slab = static_cast<Node*>(::operator new(sizeof(Node) * kSlab));
  for (int i = 0; i < kSlab; ++i) {
    next_free(slab + i) = c.free_nodes;
    c.free_nodes = slab + i;
  }
}

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
  Context& c = context();
  const Lock held = hold();
  if (!c.free_nodes) refill(c);
  Node* n = c.free_nodes;
  c.free_nodes = next_free(n);
  ::new (n) Node;
  n->kind = kind;
  return Ref<Node>(n);
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
    n->~Node();
    next_free(n) = c.free_nodes;
    c.free_nodes = n;
    if (c.dying.empty()) break;
    n = c.dying.back();
    c.dying.pop_back();
  }
  c.destroying = false;
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

void surrender(Node& n) {
  Context& c = context();
  const Lock held = hold();
  forget_retained(c, n);
  n.data.reset();
}

}  // namespace plait::tracer
