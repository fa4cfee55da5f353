// What a region needs before it can be lowered.
#include <functional>
#include <map>

#include "lowering.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Values of a region that is not walked: its code stays small, also where a short axis that is
// folded, and one beside it, are unrolled.
constexpr int kFew = 500, kFewFolded = 16;

// The indices that a region's values are computed at: that of its roots, and another behind each
// view and each fold, which the node names.
class ComputedAt {
 public:
  ComputedAt(const LoweringInput& in, const RegionSpec& region)
      : in_(in), g_(in.graph), region_(region), lead_(g_[region.roots[0]]) {}

  // Whether loops over elements compute the values, none more often than it has elements.
  bool once() {
    if (update()) {
      const Number times = element_count(lead_.node->view_extents);
      for (const std::int32_t in : {lead_.in[1], lead_.in[2]})
        if (in >= 0) add_like(in, lead_.node->view_extents, {{kRoots, times}});
    } else {
      for (const std::int32_t r : region_.roots)
        add_like(r, lead_.node->extents, {{kRoots, lead_.node->elements}});
    }
    // What reads a value comes behind it in the graph.
    int count = 0;
    while (sound_ && !values_.empty()) {
      const auto [i, at] = *values_.begin();
      values_.erase(values_.begin());
      sound_ = ++count <= (folds_ ? kFewFolded : kFew) && seldom(at, g_[i].node->elements);
      if (sound_) read(i, at);
    }
    return sound_;
  }

 private:
  static constexpr std::int32_t kRoots = -1;
  using Indices =
      std::map<std::int32_t, Number>;  // by name: iterations that have one of its values

  bool update() const { return lead_.node->kind == NodeKind::Update; }
  bool loaded(std::int32_t i) const {
    return in_.in_memory[i] && !(update() && in_.memory_of[i] == in_.memory_of[lead_.in[0]]);
  }

  static bool seldom(const Indices& at, const Number& elements) {
    if (at.size() == 1) return at.begin()->second <= elements;
    Number times = 0;
    for (const auto& [name, more] : at) times += more;
    return 2 * times < 3 * elements;
  }

  void add(std::int32_t i, const Indices& at) {
    i = in_.canon[i];
    const Node& n = *g_[i].node;
    if (n.kind == NodeKind::Scalar || loaded(i) ||
        (n.kind == NodeKind::View && loaded(in_.canon[g_[i].in[0]])))
      return;
    sound_ &= !in_.in_memory[i];
    if (n.kind != NodeKind::Fill) values_[i].insert(at.begin(), at.end());
  }
  // Of what has an element where its reader has one.
  void add_like(std::int32_t i, const Numbers& shape, const Indices& at) {
    const Node& n = *g_[in_.canon[i]].node;
    add(i, at);
    if (values_.contains(in_.canon[i])) sound_ &= n.extents == shape;
  }

  void read(std::int32_t i, const Indices& at) {
    const PlanNode& gn = g_[i];
    const Node& n = *gn.node;
    switch (n.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        for (const std::int32_t in : gn.in)
          if (in >= 0) add_like(in, n.extents, at);
        return;
      case NodeKind::View:
        sound_ = gn.map && at.size() == 1;
        return add(gn.in[0], {{i, n.elements}});
      case NodeKind::Reduce:
        // Several short axes are unrolled together, and products have an order.
        sound_ = region_.roots.size() == 1 && at.contains(kRoots) && at.size() == 1 && !update() &&
                 n.axes.size() == 1 && gn.in[1] < 0 && !is_arg(n.reduce) &&
                 n.reduce != ReduceKind::Prod && i == in_.canon[region_.roots[0]];
        folds_ = true;
        return add(gn.in[0], {{i, g_[gn.in[0]].node->elements}});
      default:
        sound_ = false;
    }
  }

  const LoweringInput& in_;
  const PlanGraph& g_;
  const RegionSpec& region_;
  const PlanNode& lead_;
  std::map<std::int32_t, Indices, std::greater<>> values_;
  bool sound_ = true, folds_ = false;
};

}  // namespace

bool computed_once(const LoweringInput& in, const RegionSpec& region) {
  return region.over_elements() && !in.scans && ComputedAt(in, region).once();
}

Survey survey(const LoweringInput& in, const RegionSpec& region) {
  Survey s;
  Lowering walk(in, region, s.walked, false);
  walk.run();
  s.needs = walk.needs();
  return s;
}

}  // namespace plait::fusion
