// Combining by index in a region that computes indices and values on the way, or as a call that
// reads them from memory.
#include <optional>
#include <utility>
#include <vector>

#include "core/scatter.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/scatter_region.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

class ScatterInRegions final : public Rule {
 public:
  ScatterInRegions() : Rule(of_kind(NodeKind::Call)) {}

  void begin(const Candidate& c, Offers& o) const override {
    const Problem& p = c.problem();
    for (std::int32_t i = 0; i < p.graph.size(); ++i)
      if (!p.graph[i].leaf && scattered_in_loops(*p.graph[i].node, p.target))
        o.begin_with({Edit::Scatter, i, "combined by a region"});
  }

  void visit(const Candidate& c, std::int32_t node, Offers& o) const override {
    if (c.at(node).order != FoldOrder::ByIndex) return;
    o.require({Edit::Store, node, "combined by index"});
    const std::int32_t init = c.problem().graph[node].in[0];
    if (c.problem().graph[c.problem().canon[init]].node->kind != NodeKind::Fill)
      o.require({Edit::Store, init, "combined with by index"});
  }

  void revise(const Candidate& c, Offers& o) const override {
    for (std::int32_t i = 0; i < c.problem().graph.size(); ++i) {
      if (c.at(i).order != FoldOrder::ByIndex) continue;
      const std::optional<std::int32_t> first = before(c, i);
      if (first && !c.share_loop(*first, i))
        share_indices(c, i, o);
      else if (!first || !in_loops(c, i))
        offer(c, i, o);
    }
  }

 private:
  // What regions combine before by the same indices, which nobody has in memory.
  static std::optional<std::int32_t> before(const Candidate& c, std::int32_t scatter) {
    const auto index_of = [&](std::int32_t s) {
      return c.problem().canon[c.problem().graph[s].in[1]];
    };
    if (!c.inlined(index_of(scatter))) return std::nullopt;
    for (std::int32_t i = 0; i < scatter; ++i)
      if (c.at(i).order == FoldOrder::ByIndex && index_of(i) == index_of(scatter)) return i;
    return std::nullopt;
  }

  // Whether its region combines by the same indices for others, too.
  static bool has_company(const Candidate& c, std::int32_t scatter) {
    for (std::int32_t i = 0; i < c.problem().graph.size(); ++i)
      if (i != scatter && c.at(i).order == FoldOrder::ByIndex && c.share_loop(i, scatter))
        return true;
    return false;
  }

  // They are stored once, or each region computes them.
  static void share_indices(const Candidate& c, std::int32_t scatter, Offers& o) {
    const PlanGraph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    const std::int32_t indices = g[scatter].in[1];
    o.make_exact({Edit::Store, indices, "indices of several regions"}, g.unasked([&] {
      return Costs{work_behind(c, {indices}).value_or(0) * m.cycle,
                   memory_seconds(m, 2 * bytes_of(*g[indices].node))};
    }));
  }

  // Whether indices and values are nothing that regions of their own compute.
  static bool in_loops(const Candidate& c, std::int32_t scatter) {
    return work_before(c, scatter).has_value();
  }

  // Units of the operations' Cost in front of it; nothing where a region cannot compute it.
  static std::optional<double> work_before(const Candidate& c, std::int32_t scatter) {
    const PlanNode& gn = c.problem().graph[scatter];
    return work_behind(c, {gn.in[1], gn.in[2]});
  }
  static std::optional<double> work_behind(const Candidate& c, std::vector<std::int32_t> values) {
    const PlanGraph& g = c.problem().graph;
    double work = 0;
    const bool called = walk_inputs(
        g, c.problem().canon, std::move(values), [&](std::int32_t i) { return c.inlined(i); },
        [&](std::int32_t i) {
          work += work_of(*g[i].node);
          return g[i].node->kind == NodeKind::MatMul || g[i].node->kind == NodeKind::Call;
        });
    return called ? std::nullopt : std::optional(work);
  }

  static void offer(const Candidate& c, std::int32_t scatter, Offers& o) {
    const PlanGraph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    const PlanNode& gn = g[scatter];
    double bytes = 0;
    for (const std::int32_t in : {gn.in[1], gn.in[2]}) {
      const std::int32_t i = c.problem().canon[in];
      if (!c.inlined(i) || g[i].node->kind == NodeKind::Scalar) continue;
      // A view of what is in memory is read where it lies.
      if (g[i].node->kind == NodeKind::View && !c.inlined(c.problem().canon[g[i].in[0]])) continue;
      bytes += 2 * bytes_of(*g[i].node);
    }
    const std::optional<double> work = work_before(c, scatter);
    const Edit call_it{Edit::Call, scatter, "computed by a call"};
    // The host computes calls of devices, and a region reads indices for several at once.
    if (work && (!c.problem().target.lanes || has_company(c, scatter))) return;
    if (!work) return o.require(call_it);
    // A region spares nothing, and combines as a call does.
    if (bytes == 0) {
      o.make_exact(call_it, g.unasked([&] {
        const double combining = g[gn.in[2]].node->elements.cost() * m.near_element;
        return Costs{*work * m.cycle + combining, combining};
      }));
      return;
    }
    // One piece has one thread, what is elementwise two at least by itself.
    const bool shared =
        scatter_pieces(g[gn.in[2]].node->elements.estimate(), gn.node->elements.estimate()) > 1;
    const double region = *work * m.cycle;
    const double call = memory_seconds(m, bytes) + region / (shared ? 1 : 2);
    o.make({{call_it}, region, call});
  }
};

}  // namespace

const Rule& scatter_in_regions() {
  static const ScatterInRegions rule;
  return rule;
}

}  // namespace plait::fusion
