// Products that are regions: which nodes have to be in memory for them.
#include <algorithm>
#include <set>

#include "product_region.hpp"
#include "schedule/candidate.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

bool Schedule::reaches_product(std::int32_t node) const {
  ++walk_;
  std::vector<std::int32_t> stack{canon_[node]};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (g_[i].leaf || root_[i] || seen_[i] == walk_) continue;
    seen_[i] = walk_;
    if (tiled_[i]) return true;
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(canon_[in]);
  }
  return false;
}

// Rows of the first operand are computed once a block; columns of the second would be for every
// block of rows.
void Schedule::place_operands(std::int32_t product) {
  const std::int32_t rows = g_[product].in[0], columns = g_[product].in[1];
  if (reaches_product(rows)) add_own_root(operand_memory(rows), "rows of another product");
  if (g_[canon_[rows]].uses > 1)
    add_own_root(operand_memory(rows), "rows of a product, which others read, too");
  add_own_root(operand_memory(columns), "columns of a product, which all blocks of rows read");
}

void Schedule::call_library(std::int32_t product) {
  tiled_[product] = false;
  add_root(product, "computed by a library call");
  for (const std::int32_t in : operands(g_, product, {}))
    add_own_root(operand_memory(in), "operand of a library call");
}

// What reads the product by its rows becomes part of its region; what reads it otherwise finds it
// in memory.
void Schedule::settle_products() {
  if (std::find(tiled_.begin(), tiled_.end(), true) == tiled_.end()) return;
  std::vector<std::vector<std::int32_t>> readers(g_.nodes.size());
  for (std::int32_t i = 0; i < g_.size(); ++i)
    for (const std::int32_t in : g_[i].in)
      if (in >= 0 && !g_[i].leaf) readers[canon_[in]].push_back(i);
  for (std::int32_t p = 0; p < g_.size(); ++p) {
    if (!tiled_[p]) continue;
    const Dims& shape = g_[p].node->shape;
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{p};
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      if (!seen.insert(v).second) continue;
      for (const std::int32_t c : readers[v]) {
        if (!follows_rows(g_, c, v, shape) || blocked(c) || direct(c)) {
          add_root(v, "read other than by the rows of its product");
        } else if (!root_[c]) {
          stack.push_back(c);
        }
      }
    }
  }
}

// Whether something stands before the product.
bool Schedule::computes_rows(std::int32_t product) const {
  std::int32_t rows = canon_[g_[product].in[0]];
  while (!g_[rows].leaf && !root_[rows] && g_[rows].node->kind == NodeKind::View)
    rows = canon_[g_[rows].in[0]];
  return !g_[rows].leaf && !root_[rows];
}

Schedule::Products Schedule::products_of(std::int32_t node) const {
  Products found;
  if (tiled_[node]) {
    found.stored = node;
    return found;
  }
  if (g_[node].node->kind == NodeKind::Update || direct(node) || blocked(node)) return found;
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
      if (in < 0) continue;
      const std::int32_t c = canon_[in];
      if (g_[c].leaf || seen_[c] == walk_) continue;
      if (tiled_[c]) {
        if (root_[c]) {
          if (at.by_rows && follows_rows(g_, at.node, c, g_[c].node->shape)) found.stored = c;
        } else {
          found.computed.push_back(c);
          seen_[c] = walk_;
        }
        continue;
      }
      if (root_[c]) continue;
      seen_[c] = walk_;
      stack.push_back({c, at.by_rows && g_[c].node->kind != NodeKind::Reduce &&
                              g_[c].node->kind != NodeKind::View});
    }
  }
  return found;
}

bool Schedule::keep_products(const std::vector<Step>& steps) {
  bool added = false;
  std::set<std::int32_t> computed;
  for (const Step& s : steps) {
    for (const std::int32_t r : s.region.roots) {
      const Products p = products_of(r);
      for (std::size_t n = 1; n < p.computed.size(); ++n) {
        if (computes_rows(p.computed[n]))
          add_root(p.computed[n], "read beside another product");
        else
          call_library(p.computed[n]);
        added = true;
      }
    }
    if (s.region.kind == RegionKind::Product && !computed.insert(s.region.product).second)
      added |= add_root(s.region.product, "read by several regions");
  }
  return added;
}

}  // namespace plait::fusion
