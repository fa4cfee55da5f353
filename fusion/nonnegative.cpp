#include "nonnegative.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

bool non_negative(const Graph& g, const std::vector<std::int32_t>& canon, std::int32_t node) {
  const GNode& gn = g[node];
  if (gn.leaf) return false;
  const Node& n = *gn.node;
  auto input = [&](int i) { return non_negative(g, canon, gn.in[i]); };
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
      return gn.map.has_value() && input(0);
    default:
      return false;
  }
}

}  // namespace plait::fusion
