// What a live name or a pending node outside may ask for again is stored by the region that
// computes it, unless it is larger than what it is made of.
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

constexpr unsigned kComputed =
    ~(of_kind(NodeKind::View) | of_kind(NodeKind::Fill) | of_kind(NodeKind::Iota));

class KeepHeld final : public Rule {
 public:
  KeepHeld() : Rule(kComputed) {}

  void visit(const Candidate& c, std::int32_t node, Offers& o) const override {
    const PlanNode& gn = c.problem().graph[node];
    if (gn.held && !gn.expiring && node_bytes(*gn.node) <= c.leaf_bytes(node))
      o.make({{{Edit::Store, node, "held by a live name, or read by what is still pending"}}});
  }
};

}  // namespace

const Rule& keep_held() {
  static const KeepHeld rule;
  return rule;
}

}  // namespace plait::fusion
