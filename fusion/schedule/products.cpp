// Products that are regions: which nodes have to be in memory for them.
#include <algorithm>
#include <cmath>
#include <set>

#include "candidate.hpp"
#include "cost.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/graph/written_parts.hpp"
#include "product_region.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Products that a region has blocks of at a time: they share the cache.
constexpr std::size_t kMostBlocks = 4;

// Of work, what a cast is as its operand is loaded, which packing does anyway.
constexpr double kCast = 0.25;

// How often a line of an operand is packed: columns for every block of rows; rows once, or, of
// several axes, for every block of columns.
double times_packed(const PlanGraph& g, std::int32_t product, int operand,
                    const ProductBlocks& most) {
  const Node& p = *g[product].node;
  const tracer::ProductAxes axes = product_axes(p);
  const auto blocks = [&](int first, int count, std::int64_t size) {
    const std::int64_t lines =
        element_count(Numbers(p.extents.begin() + first, p.extents.begin() + first + count))
            .estimate();
    const std::int64_t packed = (lines + size - 1) / size;
    return static_cast<double>(packed);
  };
  if (operand == 0)
    return p.axes.empty() ? 1 : blocks(axes.batch + axes.rows, axes.columns, most.columns);
  const std::int64_t rows = p.axes.empty() ? tile_shape(g, product, false, most).rows : most.rows;
  return blocks(axes.batch, axes.rows, rows);
}

}  // namespace

bool Candidate::reaches_product(std::int32_t node) const {
  return walk_inputs(
      g_, canon_, {node}, [&](std::int32_t i) { return !g_[i].leaf && !is_root(i); },
      [&](std::int32_t i) { return multiplies(i); });
}

// A view that shows axes of a value as one, or one as several, of which loops have the digits.
bool Candidate::merges_axes(std::int32_t view) const {
  const PlanNode& v = g_[view];
  return !v.leaf && v.node->kind == NodeKind::View && !v.map && v.index && v.uses == 1 &&
         !v.wanted && !v.held;
}

void Candidate::find_digits(std::int32_t value) {
  walk_inputs(
      g_, canon_, {value},
      [&](std::int32_t i) {
        digits_[i] = digits_[i] || merges_axes(i);
        return !g_[i].leaf && g_[i].uses == 1 && !g_[i].wanted && !g_[i].held;
      },
      [](std::int32_t) { return false; });
}

void Candidate::find_unfolded() {
  for (std::int32_t p = 0; p < g_.size(); ++p) {
    if (!multiplies(p)) continue;
    if (const Attention* const a = attention(p)) {
      for (const std::int32_t v : {g_[a->scores].in[0], g_[a->scores].in[1], a->values(g_, p)})
        unfolded_[v] = repeats_matrices(v);
      continue;
    }
    if (computes_columns(p)) find_digits(g_[p].in[1]);
    for (const int k : {0, 1}) {
      const std::int32_t v = g_[p].in[k];
      if (!unfolded_axes(g_, v) || stores_copy(g_[v].in[0])) continue;
      const double elements = elements_of(g_[v].node->extents);
      unfolded_[v] = !reading(*problem_->target.machine, elements, 1,
                              elements * times_packed(g_, p, k, problem_->target.blocks))
                          .store();
    }
  }
}

// Whether a copy is all that is stored of a product, whose region stores it.
bool Candidate::stores_copy(std::int32_t copy) const {
  const std::int32_t view = g_[copy].in[0], of = g_[view].in[0];
  return of >= 0 && multiplies(canon_[of]) && g_[of].node->axes.empty() && g_[of].uses == 1 &&
         in_blocks(view, of, canon_[of]);
}

// Whether it is a copy that has matrices several times, as keys have that groups of queries share.
bool Candidate::repeats_matrices(std::int32_t view) const {
  if (!unfolded_axes(g_, view)) return false;
  const Node& shown = *g_[g_[g_[view].in[0]].in[0]].node;
  bool repeats = false;
  for (int d = 0; d < shown.extents.size(); ++d)
    repeats |= shown.extents[d] != 1 && shown.byte_strides[d] == 0;
  if (shown.kind != NodeKind::View || !repeats) return false;
  const PlanIndexMap& m = *g_[view].index;
  for (const std::int64_t d : {m.axis.back(), m.axis.end()[-2]})
    if (d >= 0 && m.wider[d] >= 0) return false;
  return true;
}

// What computing an element of a value costs, down to what is in memory; nothing where others need
// it there. What is broadcast is read, and put in memory for that if it costs more.
std::optional<double> Candidate::computing_cost(std::int32_t value) const {
  double cost = 0;
  const auto all = std::max(1.0, elements(value).cost());
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{value};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    const Node& n = *g_[i].node;
    if (g_[i].leaf || !seen.insert(i).second) continue;
    if (g_[i].wanted || g_[i].held || n.kind == NodeKind::Reduce || n.kind == NodeKind::Call)
      return std::nullopt;
    if (n.kind == NodeKind::MatMul) continue;
    const bool computes = n.kind == NodeKind::Elementwise;
    const double work = n.kind == NodeKind::Cast ? kCast : element_work(n);
    cost += work * std::min(1.0, elements_of(n.extents) / all);
    for (const std::int32_t in : g_[i].in)
      if (in >= 0 && !(computes && elements(in) < elements(i))) stack.push_back(canon_[in]);
  }
  return cost;
}

// Whether the keys of an attention, or its values, are computed where they are packed, which every
// block of rows does: where that is less than to store them, as for the few rows that read a cache
// of low precision, or little beside what else a block does.
bool Candidate::computes_keys(const Attention& a, std::int32_t operand) const {
  operand = canon_[operand];
  const Numbers& read = g_[operand].node->extents;
  while (!g_[operand].leaf && g_[operand].node->kind == NodeKind::View)
    operand = canon_[g_[operand].in[0]];
  const std::optional<double> cost = computing_cost(operand);
  if (!cost || *cost == 0) return false;
  const Machine& m = *problem_->target.machine;
  const Numbers& shape = g_[a.product].node->extents;
  const std::int64_t all = shape[a.row_axis(g_)].estimate(),
                     most = attention_rows(g_, a, problem_->target.product_depth),
                     rows = std::min(all, most);
  const Node& computed = *g_[operand].node;
  // Elements that all blocks compute: those of its matrix, for each matrix of the product.
  const double packed = elements_of(Numbers(shape.begin(), shape.end() - 2)) *
                        elements_of(Numbers(read.end() - 2, read.end())) *
                        std::ceil(static_cast<double>(all) / static_cast<double>(rows));
  if ((packed - elements_of(computed.extents)) * *cost * m.cycle <=
      memory_seconds(m, 2 * bytes_of(computed)))
    return true;
  // A block of rows multiplies each key, and its value, by all of them.
  constexpr double kShare = 1.0 / 16;
  const double seconds = product_seconds(
      m, Multiplier::Attention, product_types(*g_[a.scores].node), static_cast<double>(rows), 2, 1);
  return *cost * m.cycle <= kShare * seconds;
}

// Dequantised weights, say: what they are made of is less to read, and a product of few rows takes
// little longer than its operands take to be read.
std::optional<double> Candidate::computes_columns(std::int32_t product) const {
  const Target& target = problem_->target;
  const Node& p = *g_[product].node;
  if (!target.lanes || g_[product].leaf || p.kind != NodeKind::MatMul || !p.axes.empty() ||
      attends(product) || target.product_depth == 0 || !target.multiplies(product_types(p)) ||
      product_class(p) == ProductClass::Small)
    return std::nullopt;
  const auto alone = [&](std::int32_t i) {
    return !g_[i].leaf && g_[i].uses == 1 && !g_[i].wanted && !g_[i].held && canon_[i] == i;
  };
  std::int32_t operand = g_[product].in[1];
  if (unfolded_axes(g_, operand)) return std::nullopt;
  for (; alone(operand) && g_[operand].node->kind == NodeKind::View; operand = g_[operand].in[0])
    if (!g_[operand].steps() && !merges_axes(operand)) return std::nullopt;
  const NodeKind kind = g_[operand].node->kind;
  if (!alone(operand) || is_root(operand) ||
      (kind != NodeKind::Elementwise && kind != NodeKind::Cast))
    return std::nullopt;
  const std::optional<double> cost = computing_cost(operand);
  if (!cost) return std::nullopt;
  const Machine& m = *target.machine;
  const double once = elements_of(g_[operand].node->extents) * *cost * m.cycle;
  const double rows = elements_of(p.extents) / p.extents.back().cost();
  const double all = once * std::ceil(rows / static_cast<double>(target.blocks.rows));
  if (all > once + memory_seconds(m, 2 * bytes_of(*g_[operand].node))) return std::nullopt;
  return all - once;
}

// What an operand that is computed as it is packed is made of; what is broadcast to it costs little
// there, or is in memory.
void Candidate::place_under(std::int32_t operand) {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{canon_[operand]};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (g_[i].leaf || is_root(i) || !seen.insert(i).second) continue;
    const NodeKind kind = g_[i].node->kind;
    const std::int32_t under = g_[i].in[0];
    if (kind == NodeKind::MatMul ||
        (kind == NodeKind::View && !packed_[under] && reaches_product(under)))
      add_own_root(kind == NodeKind::View ? operand_memory(i) : i, "rows of another product");
    else
      for (const std::int32_t in : g_[i].in) {
        if (in < 0) continue;
        const bool whole = kind != NodeKind::Elementwise || elements(in) >= elements(i);
        if (whole || computing_cost(canon_[in]).value_or(0) <= problem_->target.machine->recompute)
          stack.push_back(canon_[in]);
        else
          add_own_root(operand_memory(in), "computing it for every block costs more");
      }
  }
}

bool Candidate::made_of_parts(std::int32_t operand) const {
  return walk_inputs(
      g_, canon_, {operand},
      [&](std::int32_t i) { return packed_[i] || (!g_[i].leaf && !is_root(i)); },
      [&](std::int32_t i) { return packed_[i]; });
}

void Candidate::place_columns(std::int32_t operand) {
  if (std::int32_t u = packed_under(operand); u >= 0) {
    for (; packed_[u]; u = g_[u].in[0]) place_columns(g_[u].in[1]);
    return;
  }
  if (unfolded_[operand]) return place_columns(g_[g_[operand].in[0]].in[0]);
  add_own_root(operand_memory(operand), "columns of a product, which all blocks of rows read");
}

// Rows of the first operand are computed once a block; columns of the second would be for every
// block of rows.
void Candidate::place_operands(std::int32_t product) {
  const Attention* const a = attention(product);
  if (const std::int32_t values = a ? a->values(g_, product) : g_[product].in[1];
      a ? computes_keys(*a, values) : computes_columns(product).has_value())
    place_under(values);
  else
    place_columns(values);
  const std::int32_t first = a ? a->scores : product, rows = g_[first].in[a ? a->queries : 0];
  if (!g_[product].node->axes.empty()) return place_columns(rows);
  if (!a && !unfolded_[rows] && !made_of_parts(rows) && computes_columns(product)) {
    add_own_root(operand_memory(rows), "rows of a product, which all blocks of columns read");
    return;
  }
  if (unfolded_[rows])
    place_columns(rows);
  else if (made_of_parts(rows))
    place_under(rows);
  else if (reaches_product(rows))
    add_own_root(operand_memory(rows), "rows of another product");
  if (g_[canon_[rows]].uses > 1 && !made_of_parts(rows))
    add_own_root(operand_memory(rows), "rows of a product, which others read, too");
  if (!a) return;
  if (const std::int32_t keys = a->keys(g_); computes_keys(*a, keys))
    place_under(keys);
  else
    place_columns(keys);
  for (const std::int32_t i : a->inside)
    for (const std::int32_t in : g_[i].in)
      if (in >= 0 && i != first && attention_of(in) != a->product && reaches_product(in))
        add_own_root(operand_memory(in), "read beside the scores of an attention");
}

void Candidate::attend(std::int32_t product) {
  const Attention& a = *problem_->attention(product);
  multiply(a.scores, a.product);
  for (const std::int32_t n : a.inside) placed_[n].with = a.product;
  for (const std::int32_t p : a.products) {
    multiply(p, -1);
    fold(p, Order::Rescaled);
  }
}

bool Candidate::is_row_value(std::int32_t node) const {
  const std::int32_t of = attention_of(node);
  return of >= 0 && attention(of)->rows.count(node) > 0;
}

std::optional<std::int32_t> Candidate::broken_attention() const {
  if (refused_) return refused_;
  for (std::int32_t i = 0; i < g_.size(); ++i) {
    const std::int32_t of = attention_of(i);
    if (of >= 0 && is_root(i) && !is_row_value(canon_[i]) && g_[i].node->kind != NodeKind::View)
      return of;
  }
  return std::nullopt;
}

void Candidate::call_library(std::int32_t product) {
  if (attends(product)) {
    refused_ = product;
    return;
  }
  apply({Edit::Call, product, "computed by a library call"});
}

// Blocks of columns have no whole rows.
bool Candidate::folds_apart(std::int32_t reader, std::int32_t product) const {
  return g_[reader].node->kind == NodeKind::Reduce && computes_columns(product);
}

// A view in another order of the axes is only worth it for what is computed from it: stored itself,
// it would lie beside the product, or where a reader could have read that.
bool Candidate::in_blocks(std::int32_t reader, std::int32_t value, std::int32_t product) const {
  const Node &n = *g_[reader].node, &p = *g_[product].node, &v = *g_[value].node;
  if (n.kind == NodeKind::Update)
    return canon_[g_[reader].in[1]] == value && g_[reader].in[2] < 0 && !packed_[reader] &&
           !attends(product) && v.extents == n.view_extents && v.dtype == n.view_dtype &&
           element_count(v.extents) == element_count(p.extents);
  if (!follows_product(g_, reader, value, product) || at(reader).order == Order::Chunks ||
      direct(reader))
    return false;
  if (folds_apart(reader, product)) return false;
  if (n.kind != NodeKind::View || !p.axes.empty() || follows_rows(g_, reader, value, p.extents))
    return true;
  const std::vector<std::int32_t>& by = problem_->readers()[static_cast<std::size_t>(reader)];
  return std::all_of(by.begin(), by.end(), [&](std::int32_t i) {
    return follows_product(g_, i, reader, product) && g_[i].node->kind != NodeKind::View;
  });
}

// What reads the product by its rows becomes part of its region; what reads it otherwise finds it
// in memory.
void Candidate::place_product_readers() {
  if (!any_product()) return;
  std::vector<std::vector<std::int32_t>> readers(g_.nodes.size());
  for (std::int32_t i = 0; i < g_.size(); ++i)
    for (const std::int32_t in : g_[i].in)
      if (in >= 0 && !g_[i].leaf) readers[canon_[in]].push_back(i);
  for (std::int32_t p = 0; p < g_.size(); ++p) {
    if (!multiplies(p)) continue;
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{p};
    // A region that writes to a part of an array writes nothing else.
    bool one_reader = true;
    const Attention* const a = attention(p);
    if (a) stack.insert(stack.end(), a->rows.begin(), a->rows.end());
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      if (!seen.insert(v).second) continue;
      one_reader &= g_[v].uses == 1 && !g_[v].wanted && !g_[v].held;
      for (const std::int32_t c : readers[v]) {
        if (a && (attention_of(c) == a->product || (a->multiplies(c) && c != v))) continue;
        const bool along = !a || a->side == 0 || g_[c].node->extents == g_[p].node->extents;
        const bool writes = g_[c].node->kind == NodeKind::Update && !one_reader;
        if (!along || writes || !in_blocks(c, v, p)) {
          add_root(v, "read other than by the rows of its product");
          if (folds_apart(c, p)) {
            add_root(p, "folded where blocks have no whole rows");
            add_root(c, "a fold of whole rows");
          }
        } else if (!is_root(c)) {
          stack.push_back(c);
        }
      }
    }
  }
}

// Whether something stands before the product.
bool Candidate::computes_rows(std::int32_t product) const {
  std::int32_t rows = canon_[g_[product].in[0]];
  while (!g_[rows].leaf && !is_root(rows) && g_[rows].node->kind == NodeKind::View)
    rows = canon_[g_[rows].in[0]];
  return !g_[rows].leaf && !is_root(rows) && !packed_[rows];
}

Candidate::Products Candidate::products_of(std::int32_t node) const {
  Products found;
  if (multiplies(node)) {
    found.stored = node;
    return found;
  }
  if (is_row_value(node)) {
    found.computed.push_back(attention_of(node));
    return found;
  }
  if (direct(node) || at(node).order == Order::Chunks) return found;
  const bool update = g_[node].node->kind == NodeKind::Update;
  ++walk_;
  struct Item {
    std::int32_t node;
    bool by_rows;
  };
  std::vector<Item> stack{{node, true}};
  while (!stack.empty()) {
    const Item at = stack.back();
    stack.pop_back();
    for (const std::int32_t in : g_[at.node].in) {
      if (in < 0 || (update && at.node == node && in != g_[node].in[1])) continue;
      const std::int32_t c = canon_[in];
      if (g_[c].leaf || seen_[c] == walk_) continue;
      if (attention_of(c) >= 0 && !is_root(c)) {
        if (const std::int32_t p = attention_of(c); seen_[p] != walk_) {
          found.computed.push_back(p);
          seen_[p] = walk_;
        }
        continue;
      }
      if (multiplies(c)) {
        if (is_root(c)) {
          if (at.by_rows && follows_product(g_, at.node, c, c) && !folds_apart(at.node, c))
            found.stored = c;
        } else {
          found.computed.push_back(c);
          seen_[c] = walk_;
        }
        continue;
      }
      if (is_root(c)) continue;
      seen_[c] = walk_;
      stack.push_back({c, at.by_rows && g_[c].node->kind != NodeKind::Reduce &&
                              g_[c].node->kind != NodeKind::View});
    }
  }
  if (update) found.stored = -1;
  return found;
}

bool Candidate::store_product(std::int32_t product) {
  static constexpr const char* why = "read by several regions";
  bool added = add_root(product, why);
  if (attends(product))
    for (const Attention::Fold& f : attention(product)->folds) added |= add_root(f.node, why);
  return added;
}

// Whether a region may have blocks of both, row by row and column by column.
bool Candidate::share_blocks(std::int32_t a, std::int32_t b) const {
  const Node &p = *g_[a].node, &q = *g_[b].node;
  const tracer::ProductAxes of_p = product_axes(p), of_q = product_axes(q);
  if (attends(a) || attends(b)) return attends(a) && attention(a)->multiplies(b);
  const auto sums = [](const Node& n) { return ir::fragment_sums(product_types(n)); };
  return p.dtype == q.dtype && sums(p) == sums(q) && p.extents == q.extents &&
         p.axes.empty() == q.axes.empty() && of_p.batch == of_q.batch && of_p.rows == of_q.rows;
}

bool Candidate::keep_products(const std::vector<Step>& steps) {
  bool added = false;
  std::set<std::int32_t> computed;
  for (const Step& s : steps) {
    if (s.region.kind != RegionKind::Product) continue;
    std::size_t blocks = 1 + s.region.beside.size();
    if (blocks > kMostBlocks)
      for (const SummedProducts& c :
           summed_products(g_, canon_, s.region.products(), problem_->target))
        blocks -= c.products.size() - 1;
    for (const std::int32_t p : s.region.beside) {
      if (share_blocks(s.region.product, p) && blocks <= kMostBlocks) continue;
      --blocks;
      if (attends(p) || computes_rows(p) || packed_bytes(p) > 0)
        add_root(p, "read beside another product");
      else
        call_library(p);
      added = true;
    }
    for (const std::int32_t p : s.region.products())
      if (!computed.insert(p).second) added |= store_product(p);
  }
  return added;
}

}  // namespace plait::fusion
