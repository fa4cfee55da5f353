// Operations that no region computes: calls, products that are not for tiles, what loops cannot
// express.
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

class CallLibraries final : public Rule {
 public:
  CallLibraries()
      : Rule(of_kind(NodeKind::MatMul) | of_kind(NodeKind::Reduce) |
             of_kind(NodeKind::Elementwise) | of_kind(NodeKind::Call)) {}

  void visit(const Candidate& c, std::int32_t node, Offers& o) const override {
    if (c.direct(node)) o.require({Edit::Call, node, "computed by a library call"});
  }
};

}  // namespace

const Rule& call_libraries() {
  static const CallLibraries rule;
  return rule;
}

}  // namespace plait::fusion
