// A product whose first operand follows from another product through folds of rows: both in blocks,
// so that neither scores nor weights are in memory. It decides bits, so that no cost is asked: what
// it is follows from the graph alone.
#include "rules.hpp"

namespace plait::fusion {

namespace {

class AttendInBlocks final : public Rule {
 public:
  // Where one is the rows of another, the second stays.
  void begin(const Candidate& c, Offers& o) const override {
    const Problem& p = c.problem();
    for (std::int32_t i = p.graph.size(); i-- > 0;) {
      if (p.graph[i].node->kind != tracer::NodeKind::MatMul || c.attention_of(i) >= 0 ||
          c.attends(i))
        continue;
      if (const std::optional<Attention>& a = p.attention(i))
        o.make({{{Edit::Attend, a->product, "what its rows follow from is computed in blocks"}}});
    }
  }
};

}  // namespace

const Rule& attend_in_blocks() {
  static const AttendInBlocks rule;
  return rule;
}

}  // namespace plait::fusion
