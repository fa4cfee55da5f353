#include <algorithm>
#include <optional>
#include <utility>

#include "rewrites.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Whether the sum adds one element after the other: not along the innermost axis in memory, where
// NumPy's order is pairwise. Halves are rounded once.
bool adds_in_order(const GNode& g) {
  const tracer::Node& n = *g.node;
  if (g.leaf || n.kind != NodeKind::Reduce || n.reduce != ReduceKind::Sum || n.axes.size() != 1 ||
      n.n_inputs != 1)
    return false;
  const tracer::Node& on = *n.inputs[0];
  if (n.dtype != on.dtype || n.dtype == DType::Float16) return false;
  return !StridedSource(on).is_innermost(static_cast<int>(n.axes[0]));
}

// An array that was written at one index of some of its axes after the other, all of the other axes
// at a time: what was written at each, in C order of these axes.
struct Parts {
  Dims axes;
  std::vector<const GNode*> updates;
};

// None if somebody else needs the array between the writes, or an index was written twice.
std::optional<Parts> written_by_index(const Graph& g, std::int32_t array) {
  const GNode& top = g[array];
  if (top.leaf || top.node->kind != NodeKind::Update || !top.map) return std::nullopt;
  const StridedSource whole(*top.node);
  Parts p;
  std::size_t count = 1, found = 0;
  for (int d = 0; d < whole.size(); ++d)
    if (whole.extents[d] != 1 && top.map->from[d] < 0) {
      p.axes.push_back(d);
      count *= static_cast<std::size_t>(whole.extents[d]);
      if (count > g.nodes.size()) return std::nullopt;  // each part is an update
    }
  for (std::int32_t i = array; found < count; i = g[i].in[0], ++found) {
    const GNode& u = g[i];
    const tracer::Node& n = *u.node;
    if ((i != array && !alone(u)) || n.kind != NodeKind::Update || !u.map || n.in_place ||
        n.dtype != whole.dtype || !same_extents(n, *top.node))
      return std::nullopt;
    const StridedSource part = StridedSource::written_by(n);
    if (part.elements() * static_cast<std::int64_t>(count) != whole.elements()) return std::nullopt;
    std::int64_t at = 0;
    for (int d = 0; d < whole.size(); ++d) {
      const auto from = static_cast<int>(u.map->from[d]);
      if (std::ranges::find(p.axes, d) != p.axes.end()) {
        if (from >= 0) return std::nullopt;
        at = at * whole.extents[d] + u.map->start[d];
      } else if (whole.extents[d] != 1 &&
                 (u.map->step[d] != 1 || part.extents[from] != whole.extents[d])) {
        return std::nullopt;
      }
    }
    p.updates.resize(count);
    if (std::exchange(p.updates[static_cast<std::size_t>(at)], &u)) return std::nullopt;
  }
  return count > 1 ? std::optional(std::move(p)) : std::nullopt;
}

// The array that a sum reads, whole, or by a view with its axes in another order, as arrays are
// stacked that lie in memory so.
struct Summed {
  std::int32_t array;
  Dims axes;  // of the array, in the order of what the sum reads; -1: of extent 1
};
std::optional<Summed> summed(const Graph& g, const GNode& sum) {
  const GNode& on = g[sum.in[0]];
  const bool view = alone(on) && on.node->kind == NodeKind::View && on.map;
  Summed s{view ? on.in[0] : sum.in[0], {}};
  const StridedSource read(*on.node), array(*g[s.array].node);
  if (read.elements() != array.elements()) return std::nullopt;
  for (int d = 0; d < read.size(); ++d) {
    auto at = static_cast<std::int64_t>(d);
    if (view) {
      const auto from = std::ranges::find(on.map->from, d);
      at = from == on.map->from.end() ? -1 : from - on.map->from.begin();
      if (at >= 0 && (array.extents[at] != read.extents[d] || on.map->step[at] != 1))
        return std::nullopt;
    }
    s.axes.push_back(at);
  }
  return s;
}

// What the update wrote, with the axes of the array in this order.
Ref<tracer::Node> part(const GNode& update, const Dims& axes, int leave_out) {
  const StridedSource value(*update.node->inputs[1]);
  StridedSource turned = value;
  turned.extents = turned.steps = {};
  for (int j = 0; j < axes.size(); ++j) {
    if (j == leave_out) continue;
    const auto from = axes[j] < 0 ? -1 : static_cast<int>(update.map->from[axes[j]]);
    turned.extents.push_back(from < 0 ? 1 : value.extents[from]);
    turned.steps.push_back(from < 0 ? 0 : value.steps[from]);
  }
  return turned.node();
}

}  // namespace

std::vector<Graph::Instead> add_stacked(const Graph& g) {
  std::vector<Graph::Instead> found;
  for (const GNode& n : g.nodes) {
    if (!adds_in_order(n)) continue;
    const auto axis = static_cast<int>(n.node->axes[0]);
    const std::optional<Summed> on = summed(g, n);
    if (!on || !alone(g[on->array])) continue;
    const std::optional<Parts> parts = written_by_index(g, on->array);
    if (!parts || parts->axes != Dims{on->axes[axis]}) continue;
    Ref<tracer::Node> sum;
    for (const GNode* u : parts->updates) {
      Ref<tracer::Node> p = part(*u, on->axes, axis);
      sum = sum ? tracer::sum_instead(*n.node, std::move(sum), std::move(p)) : std::move(p);
    }
    found.push_back({n.recorded, std::move(sum)});
  }
  return found;
}

std::vector<Graph::Instead> copy_windows(const Graph& g) {
  std::vector<Graph::Instead> found;
  const auto is_update = [](const GNode& n) { return n.node->kind == NodeKind::Update; };
  if (std::ranges::none_of(g.nodes, is_update)) return found;
  std::vector<bool> inside(g.nodes.size(), false);  // overwritten by another
  for (std::int32_t i = g.size() - 1; i >= 0; --i) {
    const GNode& n = g[i];
    if (n.leaf || !is_update(n)) continue;
    inside[static_cast<std::size_t>(n.in[0])] = true;
    if (inside[static_cast<std::size_t>(i)]) continue;
    const std::optional<Parts> parts = written_by_index(g, i);
    if (!parts) continue;
    const ViewMap& places = *parts->updates[0]->map;
    const auto value_of = [](const GNode* u) { return StridedSource(*u->node->inputs[1]); };
    const StridedSource first = value_of(parts->updates[0]);
    StridedSource windows = first;
    windows.extents = StridedSource(*n.node).extents;
    windows.steps = Dims(windows.size());
    for (int d = 0; d < windows.size(); ++d)
      if (const auto j = static_cast<int>(places.from[d]); j >= 0)
        windows.steps[d] = first.steps[j];
    std::int64_t inner = 1;
    for (int a = parts->axes.size(); a-- > 0; inner *= windows.extents[parts->axes[a]])
      windows.steps[parts->axes[a]] =
          value_of(parts->updates[static_cast<std::size_t>(inner)]).start - first.start;
    const bool steps = std::ranges::all_of(parts->updates, [&](const GNode* u) {
      const StridedSource at = value_of(u);
      std::int64_t start = first.start;
      for (const std::int64_t d : parts->axes) start += u->map->start[d] * windows.steps[d];
      return at.steps_alike(first) && at.start == start && u->map->from == places.from;
    });
    if (!steps) continue;
    const StridedSource base(*windows.base);
    if (!windows.base->materialised() &&
        (base.dtype != n.node->dtype || !decompose_index(base.layout(), windows.layout())))
      continue;
    found.push_back({n.recorded, tracer::copy_instead(*n.node, windows.node())});
  }
  return found;
}

}  // namespace plait::fusion
