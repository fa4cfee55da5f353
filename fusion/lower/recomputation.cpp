#include "recomputation.hpp"

#include <algorithm>

#include "fusion/graph/walk.hpp"
#include "fusion/schedule/cost.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {
// From here on what is computed too often is not computed once more to the end.
constexpr std::size_t kGrowing = 400;
}  // namespace

double NodeCosts::of(std::int32_t id) {
  const auto [known, fresh] = costs_.try_emplace(id);
  if (!fresh) return known->second;
  std::set<std::int32_t> counted;
  return known->second = of(id, counted, 0);
}

double NodeCosts::of(std::int32_t id, std::set<std::int32_t>& counted, int depth) const {
  id = in_.canon[id];
  if (!counted.insert(id).second) return 0;
  const PlanNode& gn = in_.graph[id];
  const Node& n = *gn.node;
  if (n.kind == NodeKind::Scalar) return 0;
  if (in_.in_memory[id]) return 1;
  if (depth > 12) return 50;
  double c = n.kind == NodeKind::Elementwise ? Nest::ops_weight(n.fn) : 0;
  const double elements = std::max(1.0, n.elements.cost());
  for (int i = 0; i < n.n_inputs; ++i)
    if (gn.in[i] >= 0) {
      const double inputs = in_.graph[gn.in[i]].node->elements.cost();
      const bool view = n.kind == NodeKind::View;
      c += of(gn.in[i], counted, depth + 1) *
           (view ? std::min(1.0, inputs / elements) : inputs / elements);
    }
  return c;
}

// Loops side by side over the same range will share one loop or a row buffer: their values count
// once.
std::vector<std::int64_t> Recomputation::range_of(const Index& idx) const {
  std::vector<std::int64_t> r;
  for (const AxisIndex& x : idx) {
    r.push_back(x.step);
    r.push_back(x.start);
    r.push_back(x.at);
    r.push_back(x.inner);
    r.push_back(x.extent);
    std::uint64_t path = 0;  // a hash
    for (std::int32_t l = x.loop; l > 0; l = nest_.parent_[l])
      path = path * 1000003 + static_cast<std::uint64_t>(out_.extents[l]) + 1;
    r.push_back(x.loop < 0 ? -1 : static_cast<std::int64_t>(path));
  }
  return r;
}

bool Recomputation::note(std::int32_t id, const Index& idx) {
  Emissions& e = emissions_[id];
  const bool fresh = e.ranges.insert(range_of(idx)).second;
  if (fresh) e.computed += nest_.times(innermost(idx));
  if (k_.insts.size() < kGrowing || !fresh || !stored_cheaper(id, e)) return true;
  values_.need(id, "recomputing costs more than storing it");
  return false;
}

bool Recomputation::stored_cheaper(std::int32_t id, const Emissions& e) const {
  const Node& n = node(id);
  if (is_root(in_, region_, id) || n.kind == NodeKind::View || n.kind == NodeKind::Fill ||
      n.kind == NodeKind::Scalar || n.kind == NodeKind::Iota || n.kind == NodeKind::Update)
    return false;
  const double elements = std::max(1.0, n.elements.cost());
  if (e.computed < 1.5 * elements) return false;
  return in_.reuse == Reuse::ByCost
             ? recompute_cost(*in_.target.machine, elements, costs_.of(id), e.computed).store()
             : in_.reuse == Reuse::Store;
}

void Recomputation::check() {
  std::set<std::int32_t> dear;
  for (const auto& [id, e] : emissions_) {
    const double elements = std::max(1.0, node(id).elements.cost());
    if (e.computed >= 1.5 * elements) out_.repeated[id] = e.computed / elements;
    if (stored_cheaper(id, e)) dear.insert(id);
  }
  if (dear.empty()) return;
  // What only they are made of is computed once when they are in memory.
  const auto within = [&](std::int32_t i) {
    if (dear.contains(i)) values_.need(i, "recomputing costs more than storing it");
    return !dear.contains(i) && !in_.in_memory[i];
  };
  walk_inputs(g_, in_.canon, region_.roots, within, [](std::int32_t) { return false; });
}

}  // namespace plait::fusion
