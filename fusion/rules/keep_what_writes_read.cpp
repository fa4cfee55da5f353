// Each write to storage is a loop of its own, which computes what it stores from the roots: a value
// that several of them read (the pieces of a roll, of a concatenation) may be better in memory.
#include <algorithm>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Of an element of each node, in units of work; false when nothing is written to.
bool costs(const Candidate& c, std::vector<double>& cost) {
  const Graph& g = c.problem().graph;
  bool updates = false;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const Node& n = *g[i].node;
    updates |= !g[i].leaf && n.kind == NodeKind::Update;
    if (!c.inlined(i)) continue;
    cost[i] = n.kind == NodeKind::Cast ? 1 : element_work(n);
    const double elements = std::max<double>(1, elements_of(n.shape));
    // Of what is read in parts, to load the part.
    if (n.kind == NodeKind::Update) cost[i] += elements_of(n.view_shape) / elements;
    for (std::int32_t in : g[i].in)
      if (in >= 0)
        cost[i] +=
            cost[in] * (n.kind == NodeKind::View ? 1 : elements_of(g[in].node->shape) / elements);
  }
  return updates;
}

class KeepWhatWritesRead final : public Rule {
 public:
  void revise(const Candidate& c, Offers& o) const override {
    const Graph& g = c.problem().graph;
    std::vector<double> cost(g.nodes.size()), computed(g.nodes.size());
    if (!costs(c, cost)) return;
    for (std::int32_t i = g.size(); i-- > 0;) {
      const GNode& gn = g[i];
      const Node& n = *gn.node;
      if (gn.leaf) continue;
      if (n.kind == NodeKind::Update) {
        if (gn.in[1] >= 0) computed[gn.in[1]] += elements_of(n.view_shape);
        continue;
      }
      if (!c.inlined(i)) continue;
      const Reading r =
          reading(*c.problem().target.machine, elements_of(n.shape), cost[i], computed[i]);
      if (n.kind != NodeKind::View && r.large && node_bytes(n) <= c.leaf_bytes(i) &&
          o.make({{{Edit::Store, i, "several writes would compute it again"}}, r.again, r.stored}))
        continue;
      for (std::int32_t in : gn.in)
        if (in >= 0) computed[in] += computed[i];
    }
  }
};

}  // namespace

const Rule& keep_what_writes_read() {
  static const KeepWhatWritesRead rule;
  return rule;
}

}  // namespace plait::fusion
