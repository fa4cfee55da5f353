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
  const auto axis = static_cast<int>(n.axes[0]);
  for (int d = 0; d < on.shape.size(); ++d)
    if (d != axis && on.shape[d] > 1 && on.strides[d] < on.strides[axis]) return true;
  return false;
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
  const tracer::Node& whole = *top.node;
  if (top.leaf || whole.kind != NodeKind::Update || !top.map) return std::nullopt;
  Parts p;
  std::size_t count = 1, found = 0;
  for (int d = 0; d < whole.shape.size(); ++d)
    if (whole.shape[d] != 1 && top.map->from[d] < 0) {
      p.axes.push_back(d);
      count *= static_cast<std::size_t>(whole.shape[d]);
      if (count > g.nodes.size()) return std::nullopt;  // each part is an update
    }
  for (std::int32_t i = array; found < count; i = g[i].in[0], ++found) {
    const GNode& u = g[i];
    const tracer::Node& n = *u.node;
    if ((i != array && !alone(u)) || n.kind != NodeKind::Update || !u.map || n.in_place ||
        n.dtype != whole.dtype || n.shape != whole.shape ||
        element_count(n.view_shape) * static_cast<std::int64_t>(count) != element_count(n.shape))
      return std::nullopt;
    std::int64_t at = 0;
    for (int d = 0; d < n.shape.size(); ++d) {
      const auto from = static_cast<int>(u.map->from[d]);
      if (std::ranges::find(p.axes, d) != p.axes.end()) {
        if (from >= 0) return std::nullopt;
        at = at * n.shape[d] + u.map->start[d];
      } else if (n.shape[d] != 1 && (u.map->step[d] != 1 || n.view_shape[from] != n.shape[d])) {
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
  const Dims &shape = on.node->shape, &base = g[s.array].node->shape;
  if (element_count(shape) != element_count(base)) return std::nullopt;
  for (int d = 0; d < shape.size(); ++d) {
    auto at = static_cast<std::int64_t>(d);
    if (view) {
      const auto from = std::ranges::find(on.map->from, d);
      at = from == on.map->from.end() ? -1 : from - on.map->from.begin();
      if (at >= 0 && (base[at] != shape[d] || on.map->step[at] != 1)) return std::nullopt;
    }
    s.axes.push_back(at);
  }
  return s;
}

// What the update wrote, with the axes of the array in this order.
Ref<tracer::Node> part(const GNode& update, const Dims& axes, int leave_out) {
  const Ref<tracer::Node>& value = update.node->inputs[1];
  Dims shape, steps;
  for (int j = 0; j < axes.size(); ++j) {
    if (j == leave_out) continue;
    const auto from = axes[j] < 0 ? -1 : static_cast<int>(update.map->from[axes[j]]);
    shape.push_back(from < 0 ? 1 : value->shape[from]);
    steps.push_back(from < 0 ? 0 : (*shown(value).strides)[from]);
  }
  return view_of(value, shape, steps);
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
    const tracer::Node& whole = *n.node;
    const Ref<tracer::Node>& first = parts->updates[0]->node->inputs[1];
    const Shown from = shown(first);
    Dims strides(whole.shape.size());
    for (int d = 0; d < strides.size(); ++d)
      if (const std::int64_t j = parts->updates[0]->map->from[d]; j >= 0)
        strides[d] = (*from.strides)[static_cast<int>(j)];
    std::int64_t inner = 1;
    for (int a = parts->axes.size(); a-- > 0; inner *= whole.shape[parts->axes[a]])
      strides[parts->axes[a]] =
          shown(parts->updates[static_cast<std::size_t>(inner)]->node->inputs[1]).offset -
          from.offset;
    const bool steps = std::ranges::all_of(parts->updates, [&](const GNode* u) {
      const Ref<tracer::Node>& value = u->node->inputs[1];
      const Shown at = shown(value);
      std::int64_t offset = from.offset;
      for (const std::int64_t d : parts->axes) offset += u->map->start[d] * strides[d];
      return at.base == from.base && at.offset == offset && *at.strides == *from.strides &&
             value->shape == first->shape && u->map->from == parts->updates[0]->map->from;
    });
    if (!steps) continue;
    const tracer::Node& base = *from.base;
    if (!base.materialised() &&
        (base.dtype != whole.dtype ||
         !decompose_index(base.shape, base.strides, from.offset, whole.shape, strides)))
      continue;
    found.push_back(
        {n.recorded, tracer::copy_instead(whole, view_of(first, whole.shape, strides))});
  }
  return found;
}

}  // namespace plait::fusion
