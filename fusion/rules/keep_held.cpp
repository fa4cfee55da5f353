// What a live name or a pending node outside may ask for again is stored by the region that
// computes it, unless it is larger than what it is made of.
#include "fusion/schedule/cost.hpp"
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
    const PlanGraph& g = c.problem().graph;
    const PlanNode& gn = g[node];
    if (!gn.held || gn.expiring || c.is_root(node) || !c.inlined(node)) return;
    const Number made_of = c.leaf_bytes(node);
    if (!(node_bytes(*gn.node) <= made_of)) return;
    // It is asked for again or it is not, which is even: then an operation computes it of what it
    // is made of. Whichever is larger decides, which the bytes themselves are asked.
    o.make_exact({Edit::Store, node, "held by a live name, or read by what is still pending"},
                 g.unasked([&] {
                   const Machine& m = *c.problem().target.machine;
                   const double stored = bytes_of(*gn.node);
                   return Costs{(m.operation + memory_seconds(m, stored + made_of.cost())) / 2,
                                memory_seconds(m, stored)};
                 }));
  }
};

}  // namespace

const Rule& keep_held() {
  static const KeepHeld rule;
  return rule;
}

}  // namespace plait::fusion
