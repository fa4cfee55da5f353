// A product whose first operand follows from another product through folds of rows: both in blocks,
// so that neither scores nor weights are in memory. On the host it decides bits, so that no cost
// decides: what it is follows from the graph alone. On a device, where a library has its own order
// of sums anyway, it is done where it is faster, or where the scores are too large to be in memory.
#include <algorithm>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/products.hpp"
#include "rules.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {

namespace {

// Of all its products.
double multiplying(const Problem& p, const Attention& a, ProductImpl by) {
  const auto of = [&](std::int32_t product) {
    const Node& n = *p.graph[product].node;
    const double columns = n.extents.back().cost();
    const auto seconds = [&](ProductImpl m) {
      return product_seconds(*p.target.machine, m, product_types(n), n.elements.cost() / columns,
                             columns, product_depth(n).cost());
    };
    // The host multiplies what a BLAS does not take, or not faster, by tiles.
    const bool tiles = by == ProductImpl::Blas && p.target.lanes;
    return tiles ? std::min(seconds(by), seconds(ProductImpl::Tiles)) : seconds(by);
  };
  double seconds = of(a.scores);
  for (const std::int32_t product : a.products) seconds += of(product);
  return seconds;
}

class AttendInBlocks final : public Rule {
 public:
  // Where one is the rows of another, the second stays.
  void begin(const Candidate& c, Offers& o) const override {
    const Problem& p = c.problem();
    for (std::int32_t i = p.graph.size(); i-- > 0;) {
      if (p.graph[i].node->kind != tracer::NodeKind::MatMul || c.attention_of(i) >= 0 ||
          c.attention(i))
        continue;
      if (const auto& a = p.attention(i)) offer(p, *a, o);
    }
  }

  // One cannot stay where something in its blocks has to be in memory.
  void revise_regions(const Candidate& c, std::span<const Step>, Offers& o) const override {
    const Problem& p = c.problem();
    for (std::int32_t i = 0; i < p.graph.size(); ++i) {
      const std::int32_t of = c.attention_of(i);
      if (of >= 0 && c.is_root(i) && !is_row_value(c, p.canon[i]) &&
          p.graph[i].node->kind != tracer::NodeKind::View)
        return o.withdraw({Edit::Attend, of, ""});
    }
  }

 private:
  static void offer(const Problem& p, const Attention& a, Offers& o) {
    const Machine& m = *p.target.machine;
    const Node& scores = *p.graph[a.scores].node;
    // A single row reads keys and values once, as a library would.
    const bool one_row = p.graph[a.product].node->extents[a.row_axis(p.graph)] == 1;
    const Edit blocks{Edit::Attend, a.product, "what its rows follow from is computed in blocks"};
    // Scores and weights are stored and loaded, and what is between them is a step, too.
    const auto costs = [&] {
      return Costs{multiplying(p, a, ProductImpl::Blas) + memory_seconds(m, 4 * bytes_of(scores)) +
                       static_cast<double>(1 + a.products.size()) * m.operation,
                   multiplying(p, a, ProductImpl::Attention)};
    };
    if (p.target.lanes || one_row || bytes_of(scores) > m.most_stored) {
      o.make_exact(blocks, p.graph.unasked(costs));
    } else {
      const Costs c = costs();
      o.make({{blocks}, c.as_is, c.instead});
    }
  }
};

}  // namespace

const Rule& attend_in_blocks() {
  static const AttendInBlocks rule;
  return rule;
}

}  // namespace plait::fusion
