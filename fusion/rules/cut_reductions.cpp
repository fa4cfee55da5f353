// Few results of a long reduction: chunks of the reduced axis keep all threads busy, and their
// results are joined in a fixed order. This decides bits: no estimate counts.
#include <algorithm>

#include "fusion/graph/ordered_product.hpp"
#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/step_cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

bool few_and_long(const PlanGraph& g, const PlanNode& gn, const Target& target) {
  const Node& n = *gn.node;
  if (target.ordered_products && multiplied_in_order(n)) return false;
  const Node& on = *g[gn.in[0]].node;
  const Number results = n.elements, total = on.elements;
  if (results == 0 || total / results < 64 || total < kBlockedFold) return false;
  if (results == 1) return true;
  int inner = -1, outer = -1;
  for (int d = 0; d < on.extents.size(); ++d) {
    if (on.extents[d] == 1) continue;
    if (inner < 0 || abs(on.byte_strides[d]) < abs(on.byte_strides[inner])) inner = d;
    if (outer < 0 || abs(on.byte_strides[d]) > abs(on.byte_strides[outer])) outer = d;
  }
  auto reduced = [&](int d) { return std::find(n.axes.begin(), n.axes.end(), d) != n.axes.end(); };
  // Columns: short rows and many of them are streamed row by row; else the threads share the
  // columns.
  if (!reduced(inner)) return reduced(outer) && results < kManyColumns && total / results > results;
  return results < kMinParallelRows || (total / results > kLongRow && target.spreads(n, results));
}

class CutReductions final : public Rule {
 public:
  CutReductions() : Rule(of_kind(NodeKind::Reduce)) {}

  void visit(const Candidate& c, std::int32_t node, Offers& o) const override {
    const Problem& p = c.problem();
    if (!c.direct(node) && c.attention_of(node) < 0 &&
        few_and_long(p.graph, p.graph[node], p.target))
      offer(p, node, o);
  }

 private:
  // A thread has a result, or a chunk of each; another operation joins these.
  static void offer(const Problem& p, std::int32_t node, Offers& o) {
    o.make_exact({Edit::Cut, node, "few results of a long reduction"}, p.graph.unasked([&] {
      const Machine& m = *p.target.machine;
      const Node& n = *p.graph[node].node;
      const Node& on = *p.graph[p.graph[node].in[0]].node;
      const double fold = region_seconds(m, bytes_of(on), on.elements.cost());
      return Costs{shared_seconds(p, fold, n.elements.estimate()),
                   shared_seconds(p, fold, p.target.workers) + m.operation};
    }));
  }
};

}  // namespace

const Rule& cut_reductions() {
  static const CutReductions rule;
  return rule;
}

}  // namespace plait::fusion
