// Which graphs are too small to plan.
#include "core/config.hpp"
#include "direct.hpp"
#include "fusion/schedule/cost.hpp"

namespace plait::engine {

namespace {

using tracer::Node;
using tracer::NodeKind;

constexpr std::int64_t kMaxElements = 4096;
constexpr int kMaxNodes = 4;

// Counts the pending nodes behind `n`; false when there are too many or too large ones.
bool few(const Node& n, int& nodes) {
  if (n.kind == NodeKind::Scalar) return true;
  if (element_count(n.shape) > kMaxElements) return false;
  if (n.materialised()) return true;
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
    case NodeKind::Reduce:
    case NodeKind::View:
    case NodeKind::Gather:
      break;
    default:
      return false;
  }
  if (++nodes > kMaxNodes) return false;
  for (int i = 0; i < n.n_inputs; ++i)
    if (!few(*n.inputs[i], nodes)) return false;
  return true;
}

bool in_memory(const Node& n) {
  return n.kind == NodeKind::Scalar || n.kind == NodeKind::Empty || n.materialised() ||
         (n.kind == NodeKind::View && n.inputs[0]->materialised());
}

// One operation on what is in memory, so short that neither threads nor machine code would help:
// there is nothing to plan.
bool is_alone(const Node& n) {
  constexpr double kSeconds = 10e-6;
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
    case NodeKind::Update:
    case NodeKind::Fill:
    case NodeKind::Iota:
      break;
    default:
      return false;
  }
  for (int i = 0; i < n.n_inputs; ++i)
    if (!in_memory(*n.inputs[i])) return false;
  return fusion::operation_seconds(host_machine(), n) < kSeconds;
}

}  // namespace

bool direct_is_faster(std::span<Node* const> wanted) {
  int nodes = 0;
  if (wanted.size() == 1 && config().plan != PlanMode::Always && is_alone(*wanted[0])) return true;
  return wanted.size() == 1 && wanted[0]->kind == NodeKind::Reduce && few(*wanted[0], nodes);
}

}  // namespace plait::engine
