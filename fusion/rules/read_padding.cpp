// An array that was written in parts (padding, a concatenation, what was rolled), which only loops
// over elements read: they read the parts, and what it was filled with, or it is put in memory.
#include <vector>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of a read of one of several parts, in units of work: to choose between two values.
constexpr double kChoose = 0.5;

// Lanes have loops for each part in every row.
double loops_seconds(const Problem& p, const Node& n, int parts) {
  if (!p.target.lanes || parts < 2) return 0;
  const Numbers& shape = n.extents;
  const std::vector<int> order = by_width(shape, n.byte_strides);
  const double rows = order.size() < 2 ? 1 : elements_of(shape) / shape[order.back()].cost();
  const InterpreterCosts& m = p.target.machine->interpreter;
  return rows * (parts - 1) * (m.loop + 2 * m.instruction);
}

class ReadPadding final : public Rule {
 public:
  void revise(const Candidate& c, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    const auto padded = [&](std::int32_t i) { return c.read_mode(i).kind == ReadMode::Padded; };
    bool any = false;
    for (std::int32_t i = 0; i < g.size() && !any; ++i) any = padded(i);
    if (!any) return;
    const Machine& m = *c.problem().target.machine;
    std::vector<double> read(g.nodes.size());
    std::vector<int> parts(g.nodes.size());
    for (std::int32_t i = 0; i < g.size(); ++i) {
      if (padded(i)) parts[i] = 1 + parts[g[i].in[0]];
      for (const std::int32_t in : g[i].in)
        if (in >= 0 && !g[i].leaf && padded(in)) read[in] += g[i].node->elements.cost();
      // What is written over reads nothing, and is stored with what is.
      if (padded(i)) read[g[i].in[0]] = 0;
    }
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (read[i] > 0 && padded(i))
        o.make({{{Edit::Store, i, "what reads its parts would choose too often"}},
                read[i] * kChoose * parts[i] * m.cycle +
                    loops_seconds(c.problem(), *g[i].node, parts[i]),
                memory_seconds(m, 3 * bytes_of(*g[i].node))});
  }
};

}  // namespace

const Rule& read_padding() {
  static const ReadPadding rule;
  return rule;
}

}  // namespace plait::fusion
