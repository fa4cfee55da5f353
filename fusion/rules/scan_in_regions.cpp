// A scan as a fold of a region's loop, or as a call between regions: the region spares the memory
// of what stands before and after it, the call takes lines side by side and leaves what is
// elementwise to all threads.
#include <algorithm>
#include <set>
#include <vector>

#include "fusion/graph/walk.hpp"
#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/scan_region.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// What a region does with a scan beside scanning.
struct Neighbours {
  double work = 0;     // units of the operations' Cost, of all elements
  double bytes = 0;    // not moved
  bool store = false;  // what reads the scan finds it in memory
};

class ScanInRegions final : public Rule {
 public:
  void begin(const Candidate& c, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (!g[i].leaf && looped_scan(*g[i].node, c.problem().target))
        o.begin_with({Edit::Scan, i, "a fold of a region's loop"});
  }

  void revise(const Candidate& c, Offers& o) const override {
    if (!c.any(FoldOrder::Running)) return;
    const PlanGraph& g = c.problem().graph;
    std::vector<std::vector<std::int32_t>> readers(g.nodes.size());
    for (std::int32_t i = 0; i < g.size(); ++i)
      for (const std::int32_t in : g[i].in)
        if (in >= 0 && !g[i].leaf) readers[c.problem().canon[in]].push_back(i);
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (c.at(i).order == FoldOrder::Running) offer(c, i, readers, o);
  }

 private:
  using Readers = std::vector<std::vector<std::int32_t>>;

  static void offer(const Candidate& c, std::int32_t scan, const Readers& readers, Offers& o) {
    const PlanGraph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    const Node& n = *g[scan].node;
    const int axis = looped_scan(n, c.problem().target)->axis;
    Neighbours near;
    before(c, g[scan].in[0], near);
    after(c, scan, axis, readers, near);
    const Edit call_it{Edit::Call, scan, "computed by a call"},
        store{Edit::Store, scan, "what reads it is in another region"};
    if (!c.problem().target.lanes) {
      // The host computes calls of devices.
      if (near.store) o.require(store);
      return;
    }
    // A call takes lines side by side wherever a region does, and a region spares nothing.
    if (near.bytes == 0) {
      o.make_exact(call_it, g.unasked([&] {
        return Costs{scan_seconds(m, n, axis, false), scan_seconds(m, n, axis, true)};
      }));
      return;
    }
    const double elements = n.elements.cost();
    const double lines = elements / n.extents[axis].cost();
    const double work = near.work * m.cycle, memory = memory_seconds(m, near.bytes);
    const double looped = scan_seconds(m, n, axis, false), called = scan_seconds(m, n, axis, true);
    // A line has one thread, what is elementwise two at least.
    const double region = looped + (lines == 1 ? work : 0);
    const double call = called + (lines == 1 ? (memory + work) / 2 : memory);
    if (!o.make({{call_it}, region, call, std::min(looped, called)}) && near.store)
      o.require(store);
  }

  // What is computed where the scan needs it.
  static void before(const Candidate& c, std::int32_t operand, Neighbours& near) {
    const PlanGraph& g = c.problem().graph;
    std::int32_t first = c.problem().canon[operand];
    while (c.inlined(first) && g[first].node->kind == NodeKind::View)
      first = c.problem().canon[g[first].in[0]];
    if (!c.inlined(first) || g[first].node->kind == NodeKind::Scalar) return;
    near.bytes += 2 * bytes_of(*g[operand].node);
    int visited = 0;
    walk_inputs(
        g, c.problem().canon, {first},
        [&](std::int32_t i) { return c.inlined(i) && c.at(i).order != FoldOrder::Running; },
        [&](std::int32_t i) {
          near.work += work_of(*g[i].node);
          return ++visited == 64;
        });
  }

  // Whether one region computes all that reads the scan, and then what that spares.
  static void after(const Candidate& c, std::int32_t scan, int axis, const Readers& readers,
                    Neighbours& near) {
    const PlanGraph& g = c.problem().graph;
    if (c.is_root(scan)) return;
    double work = 0;
    int reads = 0;
    const Numbers* shape = nullptr;
    std::set<std::int32_t> seen{scan};
    std::vector<std::int32_t> stack{scan};
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      if (i != scan && c.is_root(i)) {
        const Node& n = *g[i].node;
        const Numbers& stored = n.kind == NodeKind::Update ? n.view_extents : n.extents;
        near.store |= shape && *shape != stored;
        shape = &stored;
        continue;
      }
      for (const std::int32_t r : readers[i]) {
        near.store |= !follows(c, i, r, axis);
        reads += g[r].node->kind != NodeKind::View;
        if (!seen.insert(r).second) continue;
        work += work_of(*g[r].node);
        stack.push_back(r);
      }
    }
    near.store |= shape == nullptr;
    if (near.store) return;
    near.work += work;
    near.bytes += bytes_of(*g[scan].node) * (1 + std::min(reads, 3));
  }

  // Whether a region that scans along the axis computes `reader` of `i` with it.
  static bool follows(const Candidate& c, std::int32_t i, std::int32_t reader, int axis) {
    const PlanGraph& g = c.problem().graph;
    const Node &n = *g[i].node, &r = *g[reader].node;
    switch (r.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return r.extents == n.extents;
      case NodeKind::View:
        return g[reader].map && shifts_along(r, *g[reader].map, n, axis);
      case NodeKind::Update:
        return g[reader].in[2] < 0 && c.problem().canon[g[reader].in[1]] == i &&
               r.view_extents == n.extents;
      case NodeKind::Call:
        return c.at(reader).order == FoldOrder::Running &&
               looped_scan(r, c.problem().target)->axis == axis && r.extents == n.extents;
      default:
        return false;
    }
  }
};

}  // namespace

const Rule& scan_in_regions() {
  static const ScanInRegions rule;
  return rule;
}

}  // namespace plait::fusion
