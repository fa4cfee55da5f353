// An array that was filled and then written to in part (padding), which only loops over elements
// read: they read what was written and what it was filled with, or it is put in memory.
#include <vector>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Of a read, in units of work: to choose between two values.
constexpr double kChoose = 0.5;

class ReadPadding final : public Rule {
 public:
  void revise(const Candidate& c, Offers& o) const override {
    if (!c.pads()) return;
    const Graph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    std::vector<double> read(g.nodes.size());
    for (std::int32_t i = 0; i < g.size(); ++i)
      for (const std::int32_t in : g[i].in)
        if (in >= 0 && !g[i].leaf && c.pads(in)) read[in] += elements_of(g[i].node->shape);
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (c.pads(i))
        o.make({{{Edit::Store, i, "what reads its parts would choose too often"}},
                read[i] * kChoose * m.cycle,
                memory_seconds(m, 3 * bytes_of(*g[i].node))});
  }
};

}  // namespace

const Rule& read_padding() {
  static const ReadPadding rule;
  return rule;
}

}  // namespace plait::fusion
