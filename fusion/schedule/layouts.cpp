#include "layouts.hpp"

#include <algorithm>

namespace plait::fusion {
using tracer::NodeKind;

namespace {

class Layouts {
 public:
  Layouts(const PlanGraph& g, const std::vector<std::int32_t>& canon, const Candidate& c,
          std::span<const Step> steps)
      : g_(g), canon_(canon), c_(c), of_(g.nodes.size()), fixed_(g.nodes.size()) {
    for (const Step& s : steps) fix(s);
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (!g[i].leaf) fix_operands(i);
    for (const Step& s : steps)
      if (s.kind == StepKind::Kernel && s.region.product >= 0)
        for (const std::int32_t p : s.region.products())
          for (const int k : {0, 1}) packed(g[p].in[k]);
  }

  std::vector<Dims> take() { return std::move(of_); }

 private:
  // What is not computed by loops over its elements, and what is read by other than such loops.
  void fix(const Step& s) {
    const bool loops = s.kind == StepKind::Kernel && !in_pieces(s.region.order);
    for (const std::int32_t r : s.region.roots) {
      if (loops) continue;
      fixed_[r] = true;
      if (s.kind == StepKind::Kernel) continue;
      std::vector<std::int32_t> stack = operands(g_, r, s.epilogue);
      while (!stack.empty()) {
        const std::int32_t i = stack.back();
        stack.pop_back();
        if (fixed_[i]) continue;
        fixed_[i] = fixed_[canon_[i]] = true;
        if (g_[i].leaf || c_.is_root(i)) continue;
        for (const std::int32_t in : g_[i].in)
          if (in >= 0) stack.push_back(in);
      }
    }
  }

  void fix_operands(std::int32_t reader) {
    const PlanNode& r = g_[reader];
    const NodeKind kind = r.node->kind;
    for (int k = 0; k < 3; ++k) {
      const std::int32_t in = r.in[k];
      if (in < 0) continue;
      const bool loads = kind == NodeKind::View     ? r.map != nullptr
                         : kind == NodeKind::Update ? k == 1
                         : kind == NodeKind::Gather ? k == 1
                                                    : kind != NodeKind::Call;
      if (!loads) fixed_[canon_[in]] = true;
    }
    // Equal ones may each have memory.
    if (canon_[reader] != reader) fixed_[reader] = fixed_[canon_[reader]] = true;
  }

  // The writes that an operand shows and that have no memory.
  void packed(std::int32_t operand) {
    std::int32_t i = operand;
    while (!g_[i].leaf && g_[i].node->kind == NodeKind::View) i = g_[i].in[0];
    if (!c_.read_mode(i).in_parts()) return;
    const Node& n = *g_[i].node;
    Dims order;
    for (const int d : by_width(n.extents, n.byte_strides)) order.push_back(d);
    written(i, order);
  }

  void written(std::int32_t update, const Dims& order) {
    for (std::int32_t i = update; c_.read_mode(i).in_parts(); i = g_[i].in[0]) {
      Dims own;
      for (const std::int64_t d : order)
        if (const std::int64_t j = g_[i].map->from[static_cast<int>(d)]; j >= 0) own.push_back(j);
      lay_out(g_[i].in[1], own);
    }
  }

  void lay_out(std::int32_t value, const Dims& order) {
    const PlanNode& v = g_[value];
    const Node& n = *v.node;
    if (!v.leaf && n.kind == NodeKind::View && v.map && !c_.is_root(value)) {
      Dims shown;
      for (const std::int64_t j : order)
        for (int d = 0; d < v.map->from.size(); ++d)
          if (v.map->from[d] == j) shown.push_back(d);
      return lay_out(v.in[0], shown);
    }
    if (v.leaf || !c_.is_root(value) || fixed_[value] || v.wanted || v.held || !v.exclusive ||
        n.kind == NodeKind::View || n.kind == NodeKind::Update)
      return;
    // By a view, some axes may not show.
    const std::vector<int> now = by_width(n.extents, n.byte_strides);
    if (now.size() != static_cast<std::size_t>(order.size())) return;
    if (!of_[value].empty() || std::equal(now.begin(), now.end(), order.begin(), order.end()))
      return;
    Dims all;
    for (int d = 0; d < n.extents.size(); ++d)
      if (std::find(order.begin(), order.end(), d) == order.end()) all.push_back(d);
    for (const std::int64_t d : order) all.push_back(d);
    of_[value] = all;
  }

  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  const Candidate& c_;
  std::vector<Dims> of_;
  std::vector<bool> fixed_;
};

}  // namespace

std::vector<Dims> choose_layouts(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                 const Candidate& c, std::span<const Step> steps) {
  return Layouts(g, canon, c, steps).take();
}

}  // namespace plait::fusion
