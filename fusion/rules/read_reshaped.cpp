// A value that a view shows in another shape: what reads the view computes it there, at the index
// that the view's map gives, or it is put in memory.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Elements of a node; 1 where it has none.
double count_of(const Candidate& c, std::int32_t node) {
  return std::max(1.0, c.elements(node).cost());
}

// Whether the digits of the map are joined again where memory with these strides is read.
bool in_one_piece(const PlanIndexMap& map, const Numbers& shape, const Numbers& strides) {
  for (int d = 0; d < shape.size(); ++d)
    if (const std::int64_t w = map.wider[d]; w >= 0 && strides[w] != strides[d] * shape[d])
      return false;
  return true;
}

// Of an element of the view how often what is read without being joined is divided: in the loops
// that step along digits, and not inside them.
double divisions(const PlanIndexMap& map, const Node& view) {
  double inside = 1;
  std::vector<int> order = by_width(view.extents, view.byte_strides);
  while (!order.empty() && (map.axis[order.back()] < 0 || map.wider[map.axis[order.back()]] < 0)) {
    inside *= view.extents[order.back()].cost();
    order.pop_back();
  }
  return order.empty() ? 0 : 1 / inside;
}

class ReadReshaped final : public Rule {
 public:
  ReadReshaped() : Rule(of_kind(NodeKind::View)) {}

  void visit(const Candidate& c, std::int32_t view, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    const PlanNode& v = g[view];
    const std::int32_t base = v.in[0];
    if (v.map || c.read_mode(base).in_parts() || c.read_mode(view).kind != ReadMode::Whole ||
        !c.inlined(base) || c.attention_of(view) >= 0)
      return;
    const std::optional<ElementCost> cost =
        v.index && read_in_loops(c, base) ? element_cost(c, view) : std::nullopt;
    const Edit store{Edit::Store, base, "a view that changes its shape reads it"};
    if (!cost) return o.require(store);
    double computed = 0;
    for (const std::int32_t r : c.problem().readers()[base])
      computed += count_of(c, g[r].node->kind == NodeKind::View ? r : base);
    const Machine& m = *c.problem().target.machine;
    const double once = cost->computing * count_of(c, base) * m.cycle;
    o.make({{store},
            computed * (cost->computing * m.cycle + cost->dividing),
            once + (m.store * count_of(c, base) + m.load * computed) * m.cycle});
  }

 private:
  struct ElementCost {
    double computing = 0;  // units
    double dividing = 0;   // seconds
  };

  // Of the base, made of what is in memory by loops over elements; nothing where it is not.
  static std::optional<ElementCost> element_cost(const Candidate& c, std::int32_t view) {
    const PlanGraph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    const std::int32_t base = g[view].in[0];
    const PlanIndexMap& map = *g[view].index;
    const double lookup = divisions(map, *g[view].node) * (m.divided + m.near_element);
    ElementCost cost;
    const auto load = [&](std::int32_t i, const Numbers& strides) {
      const Numbers& shape = g[base].node->extents;
      const Numbers& own = g[i].node->extents;
      if (map.divides() && c.elements(i) != 1 && !(own == shape && in_one_piece(map, own, strides)))
        cost.dividing += lookup;
    };
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{base};
    while (!stack.empty()) {
      const std::int32_t i = c.problem().canon[stack.back()];
      stack.pop_back();
      const PlanNode& gn = g[i];
      const Node& n = *gn.node;
      if (!seen.insert(i).second || n.kind == NodeKind::Scalar) continue;
      if (!c.inlined(i)) {
        load(i, own_strides(n));
        continue;
      }
      switch (n.kind) {
        case NodeKind::Elementwise:
          cost.computing += element_work(n) * std::min(1.0, count_of(c, i) / count_of(c, base));
          break;
        case NodeKind::Cast:
        case NodeKind::Fill:
          break;
        case NodeKind::View:
          if (!c.inlined(gn.in[0])) {
            load(i, n.byte_strides);
            continue;
          }
          if (!gn.map || map.divides()) return std::nullopt;
          break;
        default:
          return std::nullopt;
      }
      for (const std::int32_t in : gn.in)
        if (in >= 0) stack.push_back(in);
    }
    return cost;
  }
};

}  // namespace

const Rule& read_reshaped() {
  static const ReadReshaped rule;
  return rule;
}

}  // namespace plait::fusion
