#include "products.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "cost.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/graph/written_parts.hpp"
#include "product_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of work, what a cast is as its operand is loaded, which packing does anyway.
constexpr double kCast = 0.25;

}  // namespace

bool reaches_product(const Candidate& c, std::int32_t node) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  return walk_inputs(
      g, canon, {node}, [&](std::int32_t i) { return !g[i].leaf && !c.is_root(i); },
      [&](std::int32_t i) { return c.multiplies(i); });
}

std::int32_t parts_under(const Candidate& c, std::int32_t operand) {
  const PlanGraph& g = c.problem().graph;
  std::int32_t i = operand;
  while (!g[i].leaf && g[i].node->kind == NodeKind::View) i = g[i].in[0];
  return c.read_mode(i).in_parts() ? i : -1;
}

bool made_of_parts(const Candidate& c, std::int32_t operand) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  return walk_inputs(
      g, canon, {operand},
      [&](std::int32_t i) { return c.read_mode(i).in_parts() || (!g[i].leaf && !c.is_root(i)); },
      [&](std::int32_t i) { return c.read_mode(i).in_parts(); });
}

// Several products that read one have a share each.
std::int64_t packed_bytes(const Candidate& c, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  std::int64_t bytes = 0;
  for (const int k : {0, 1})
    if (const std::int32_t u = parts_under(c, g[product].in[k]); u >= 0)
      bytes += node_bytes(*g[u].node).estimate() / std::max(1, c.read_mode(u).products);
  return bytes;
}

bool merges_axes(const PlanNode& v) {
  return !v.leaf && v.node->kind == NodeKind::View && !v.map && v.index && v.uses == 1 &&
         !v.wanted && !v.held;
}

// What is broadcast is read, and put in memory for that if it costs more.
std::optional<double> computing_cost(const Candidate& c, std::int32_t value) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  double cost = 0;
  const auto all = std::max(1.0, c.elements(value).cost());
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{value};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    const Node& n = *g[i].node;
    if (g[i].leaf || !seen.insert(i).second) continue;
    if (g[i].wanted || g[i].held || n.kind == NodeKind::Reduce || n.kind == NodeKind::Call)
      return std::nullopt;
    if (n.kind == NodeKind::MatMul) continue;
    const bool computes = n.kind == NodeKind::Elementwise;
    const double work = n.kind == NodeKind::Cast ? kCast : element_work(n);
    cost += work * std::min(1.0, n.elements.cost() / all);
    for (const std::int32_t in : g[i].in)
      if (in >= 0 && !(computes && c.elements(in) < c.elements(i))) stack.push_back(canon[in]);
  }
  return cost;
}

// Where that is less than to store them, as for the few rows that read a cache of low precision, or
// little beside what else a block does.
bool computes_keys(const Candidate& c, const Attention& a, std::int32_t operand) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  operand = canon[operand];
  const Numbers& read = g[operand].node->extents;
  while (!g[operand].leaf && g[operand].node->kind == NodeKind::View)
    operand = canon[g[operand].in[0]];
  const std::optional<double> cost = computing_cost(c, operand);
  if (!cost || *cost == 0) return false;
  const Machine& m = *c.problem().target.machine;
  const Numbers& shape = g[a.product].node->extents;
  const std::int64_t all = shape[a.row_axis(g)].estimate(),
                     most = attention_rows(g, a, c.problem().target.product_depth),
                     rows = std::min(all, most);
  const Node& computed = *g[operand].node;
  // Elements that all blocks compute: those of its matrix, for each matrix of the product.
  const double packed = elements_of(Numbers(shape.begin(), shape.end() - 2)) *
                        elements_of(Numbers(read.end() - 2, read.end())) *
                        std::ceil(static_cast<double>(all) / static_cast<double>(rows));
  if ((packed - computed.elements.cost()) * *cost * m.cycle <=
      memory_seconds(m, 2 * bytes_of(computed)))
    return true;
  // A block of rows multiplies each key, and its value, by all of them.
  constexpr double kShare = 1.0 / 16;
  const double seconds = product_seconds(
      m, ProductImpl::Attention, product_types(*g[a.scores].node), static_cast<double>(rows), 2, 1);
  return *cost * m.cycle <= kShare * seconds;
}

// Dequantised weights, say: what they are made of is less to read, and a product of few rows takes
// little longer than its operands take to be read.
std::optional<double> computes_columns(const Candidate& c, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  const Target& target = c.problem().target;
  const Node& p = *g[product].node;
  if (!target.lanes || g[product].leaf || p.kind != NodeKind::MatMul || !p.axes.empty() ||
      c.attention(product) || target.product_depth == 0 || !target.multiplies(product_types(p)) ||
      product_class(p) == ProductClass::Small)
    return std::nullopt;
  const auto alone = [&](std::int32_t i) {
    return !g[i].leaf && g[i].uses == 1 && !g[i].wanted && !g[i].held && canon[i] == i;
  };
  std::int32_t operand = g[product].in[1];
  if (unfolded_axes(g, operand)) return std::nullopt;
  for (; alone(operand) && g[operand].node->kind == NodeKind::View; operand = g[operand].in[0])
    if (!g[operand].steps() && !merges_axes(g[operand])) return std::nullopt;
  const NodeKind kind = g[operand].node->kind;
  if (!alone(operand) || c.is_root(operand) ||
      (kind != NodeKind::Elementwise && kind != NodeKind::Cast))
    return std::nullopt;
  const std::optional<double> cost = computing_cost(c, operand);
  if (!cost) return std::nullopt;
  const Machine& m = *target.machine;
  const double once = g[operand].node->elements.cost() * *cost * m.cycle;
  const double rows = p.elements.cost() / p.extents.back().cost();
  const double all = once * std::ceil(rows / static_cast<double>(target.blocks.rows));
  if (all > once + memory_seconds(m, 2 * bytes_of(*g[operand].node))) return std::nullopt;
  return all - once;
}

bool folds_apart(const Candidate& c, std::int32_t reader, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  return g[reader].node->kind == NodeKind::Reduce && computes_columns(c, product);
}

// A view in another order of the axes is only worth it for what is computed from it: stored itself,
// it would lie beside the product, or where a reader could have read that.
bool in_blocks(const Candidate& c, std::int32_t reader, std::int32_t value, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  const Node &n = *g[reader].node, &p = *g[product].node, &v = *g[value].node;
  if (n.kind == NodeKind::Update)
    return canon[g[reader].in[1]] == value && g[reader].in[2] < 0 && !c.attention(product) &&
           v.extents == n.view_extents && v.dtype == n.view_dtype && v.elements == p.elements &&
           !c.read_mode(reader).in_parts();
  if (!follows_product(g, reader, value, product) || c.at(reader).order == FoldOrder::Chunks ||
      c.direct(reader))
    return false;
  if (folds_apart(c, reader, product)) return false;
  if (n.kind != NodeKind::View || !p.axes.empty() || follows_rows(g, reader, value, p.extents))
    return true;
  const std::vector<std::int32_t>& by = c.problem().readers()[static_cast<std::size_t>(reader)];
  return std::all_of(by.begin(), by.end(), [&](std::int32_t i) {
    return follows_product(g, i, reader, product) && g[i].node->kind != NodeKind::View;
  });
}

bool computes_rows(const Candidate& c, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  std::int32_t rows = canon[g[product].in[0]];
  while (!g[rows].leaf && !c.is_root(rows) && g[rows].node->kind == NodeKind::View)
    rows = canon[g[rows].in[0]];
  return !g[rows].leaf && !c.is_root(rows) && !c.read_mode(rows).in_parts();
}

bool is_row_value(const Candidate& c, std::int32_t node) {
  const std::int32_t of = c.attention_of(node);
  return of >= 0 && c.attention(of)->rows.count(node) > 0;
}

}  // namespace plait::fusion
