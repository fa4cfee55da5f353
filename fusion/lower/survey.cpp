// What a region needs before it can be lowered.
#include "lowering.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of a region that is not walked: its code stays small.
constexpr int kFew = 500;

}  // namespace

bool computed_once(const LoweringInput& in, const RegionSpec& region) {
  if (!region.over_elements() || in.scans) return false;
  const PlanGraph& g = in.graph;
  const PlanNode& lead = g[region.roots[0]];
  const bool update = lead.node->kind == NodeKind::Update;
  const Numbers& shape = update ? lead.node->view_extents : lead.node->extents;
  const auto loaded = [&](std::int32_t i) {
    return in.in_memory[i] && !(update && in.memory_of[i] == in.memory_of[lead.in[0]]);
  };
  std::vector<std::int32_t> from = region.roots;
  if (update) from = {lead.in[1]};
  if (update && lead.in[2] >= 0) from.push_back(lead.in[2]);
  int count = 0;
  return !walk_inputs(
      g, in.canon, std::move(from),
      [&](std::int32_t i) {
        const Node& n = *g[i].node;
        return n.kind != NodeKind::Scalar && !loaded(i) &&
               !(n.kind == NodeKind::View && loaded(in.canon[g[i].in[0]]));
      },
      [&](std::int32_t i) {
        const Node& n = *g[i].node;
        const bool fill = n.kind == NodeKind::Fill;
        return in.in_memory[i] || (n.extents != shape && !fill) ||
               !(fill || n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) ||
               ++count > kFew;
      });
}

Survey survey(const LoweringInput& in, const RegionSpec& region) {
  Survey s;
  Lowering walk(in, region, s.walked, false);
  walk.run();
  s.needs = walk.needs();
  return s;
}

}  // namespace plait::fusion
