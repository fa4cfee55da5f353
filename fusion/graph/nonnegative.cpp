#include "nonnegative.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// `known`: of the nodes before it, which its operands are among.
bool follows(const PlanNode& gn, const std::vector<std::int32_t>& canon,
             const std::vector<bool>& known) {
  if (gn.leaf) return false;
  const Node& n = *gn.node;
  auto input = [&](int i) { return known[gn.in[i]]; };
  switch (n.kind) {
    case NodeKind::Elementwise:
      if (is_complex(n.dtype)) return false;
      if (op_info(n.fn).flags & kNonNegative) return true;
      switch (n.fn) {
        case OpId::Sqrt:  // of -0.0 is -0.0
          return input(0);
        case OpId::Square:
          return is_float(n.dtype);
        case OpId::Multiply:
          return is_float(n.dtype) &&
                 (canon[gn.in[0]] == canon[gn.in[1]] || (input(0) && input(1)));
        case OpId::Add:
        case OpId::Divide:
        case OpId::Maximum:
        case OpId::Minimum:
          return is_float(n.dtype) && input(0) && input(1);
        default:
          return false;
      }
    case NodeKind::Reduce:
      switch (n.reduce) {
        case ReduceKind::Sum:
        case ReduceKind::Prod:
        case ReduceKind::Min:
        case ReduceKind::Max:
          return is_float(n.dtype) && input(0);
        default:
          return false;
      }
    case NodeKind::View:
      return gn.map && input(0);
    default:
      return false;
  }
}

}  // namespace

std::vector<bool> non_negative(const PlanGraph& g, const std::vector<std::int32_t>& canon) {
  std::vector<bool> known(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i) known[i] = follows(g[i], canon, known);
  return known;
}

}  // namespace plait::fusion
