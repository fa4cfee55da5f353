// What is computed more often than it has elements, and whether keeping it in memory is cheaper.
#include <algorithm>
#include <set>

#include "fusion/schedule/cost.hpp"
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

// Operations to compute one element; what is broadcast or reduced counts by its number of elements.
// A value or a load that is used twice counts once, as the loop computes it once.
double Lowering::node_cost(std::int32_t id) const {
  const auto [known, fresh] = node_costs_.try_emplace(id);
  if (!fresh) return known->second;
  std::set<std::int32_t> counted;
  return known->second = node_cost(id, counted, 0);
}

double Lowering::node_cost(std::int32_t id, std::set<std::int32_t>& counted, int depth) const {
  id = in_.canon[id];
  if (!counted.insert(id).second) return 0;
  const PlanNode& gn = g_[id];
  const Node& n = *gn.node;
  if (n.kind == NodeKind::Scalar) return 0;
  if (in_.in_memory[id]) return 1;
  if (depth > 12) return 50;
  double c = n.kind == NodeKind::Elementwise ? ops_weight(n.fn) : 0;
  const double elements = std::max(1.0, n.elements.cost());
  for (int i = 0; i < n.n_inputs; ++i)
    if (gn.in[i] >= 0) {
      const double inputs = node(gn.in[i]).elements.cost();
      const bool view = n.kind == NodeKind::View;
      c += node_cost(gn.in[i], counted, depth + 1) *
           (view ? std::min(1.0, inputs / elements) : inputs / elements);
    }
  return c;
}

// Loops side by side over the same range will share one loop or a row buffer: their values count
// once.
std::vector<std::int64_t> Lowering::range_of(const Index& idx) const {
  std::vector<std::int64_t> r;
  for (const AxisIndex& x : idx) {
    r.push_back(x.step);
    r.push_back(x.start);
    r.push_back(x.at);
    r.push_back(x.inner);
    r.push_back(x.extent);
    std::uint64_t path = 0;  // a hash
    for (std::int32_t l = x.loop; l > 0; l = parent_[l])
      path = path * 1000003 + static_cast<std::uint64_t>(out_.extents[l]) + 1;
    r.push_back(x.loop < 0 ? -1 : static_cast<std::int64_t>(path));
  }
  return r;
}

bool Lowering::stored_cheaper(std::int32_t id, const Emissions& e) const {
  const Node& n = node(id);
  if (is_root(id) || n.kind == NodeKind::View || n.kind == NodeKind::Fill ||
      n.kind == NodeKind::Scalar || n.kind == NodeKind::Iota || n.kind == NodeKind::Update)
    return false;
  const double elements = std::max(1.0, n.elements.cost());
  if (e.computed < 1.5 * elements) return false;
  return in_.reuse == Reuse::ByCost
             ? recompute_cost(*in_.target.machine, elements, node_cost(id), e.computed).store()
             : in_.reuse == Reuse::Store;
}

void Lowering::check_recomputation() {
  if (!needs_.empty()) return;
  std::set<std::int32_t> dear;
  for (const auto& [id, e] : emissions_) {
    const double elements = std::max(1.0, node(id).elements.cost());
    if (e.computed >= 1.5 * elements) out_.repeated[id] = e.computed / elements;
    if (stored_cheaper(id, e)) dear.insert(id);
  }
  if (dear.empty()) return;
  // What only they are made of is computed once when they are in memory.
  const auto within = [&](std::int32_t i) {
    if (dear.contains(i)) need(i, "recomputing costs more than storing it");
    return !dear.contains(i) && !in_.in_memory[i];
  };
  walk_inputs(g_, in_.canon, region_.roots, within, [](std::int32_t) { return false; });
}

}  // namespace plait::fusion
