// What stands around a product in blocks: its operands are in memory where to compute them for
// every block costs more, and what reads it otherwise than by its blocks finds it in memory.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/products.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of one product.
class Around {
 public:
  Around(const Candidate& c, std::int32_t product, Offers& o)
      : c_(c),
        g_(c.problem().graph),
        canon_(c.problem().canon),
        product_(product),
        a_(c.attention(product)),
        o_(o) {}

  // Rows of the first operand are computed once a block; columns of the second would be for every
  // block of rows.
  void place_operands() {
    if (const std::int32_t values = a_ ? a_->values(g_, product_) : g_[product_].in[1];
        a_ ? computes_keys(c_, *a_, values) : computes_columns(c_, product_).has_value())
      place_under(values);
    else
      place_columns(values);
    const std::int32_t first = a_ ? a_->scores : product_,
                       rows = g_[first].in[a_ ? a_->queries : 0];
    if (!g_[product_].node->axes.empty()) return place_columns(rows);
    if (!a_ && !is_window(rows) && !made_of_parts(c_, rows) && computes_columns(c_, product_))
      return store_columns(rows, "rows of a product, which all blocks of columns read");
    if (is_window(rows))
      place_columns(rows);
    else if (made_of_parts(c_, rows))
      place_under(rows);
    else if (reaches_product(c_, rows))
      require_operand(rows, "rows of another product");
    if (g_[canon_[rows]].uses > 1 && !made_of_parts(c_, rows))
      store_operand(rows, "rows of a product, which others read, too", 2);
    if (!a_) return;
    if (const std::int32_t keys = a_->keys(g_); computes_keys(c_, *a_, keys))
      place_under(keys);
    else
      place_columns(keys);
    for (const std::int32_t i : a_->inside)
      for (const std::int32_t in : g_[i].in)
        if (in >= 0 && i != first && c_.attention_of(in) != a_->product && reaches_product(c_, in))
          require_operand(in, "read beside the scores of an attention");
  }

  // What reads the product by its rows becomes part of its region; what reads it otherwise finds it
  // in memory.
  void place_readers(const std::vector<std::vector<std::int32_t>>& readers) {
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{product_};
    // A region that writes to a part of an array writes nothing else.
    bool one_reader = true;
    if (a_) stack.insert(stack.end(), a_->rows.begin(), a_->rows.end());
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      if (!seen.insert(v).second) continue;
      one_reader &= g_[v].uses == 1 && !g_[v].wanted && !g_[v].held;
      for (const std::int32_t r : readers[v]) {
        if (a_ && (c_.attention_of(r) == a_->product || (a_->multiplies(r) && r != v))) continue;
        const bool along =
            !a_ || a_->side == 0 || g_[r].node->extents == g_[product_].node->extents;
        const bool writes = g_[r].node->kind == NodeKind::Update && !one_reader;
        if (!along || writes || !in_blocks(c_, r, v, product_)) {
          store(v, "read other than by the rows of its product");
          if (folds_apart(c_, r, product_)) {
            store(product_, "folded where blocks have no whole rows");
            store(r, "a fold of whole rows");
          }
        } else if (!c_.is_root(r)) {
          stack.push_back(r);
        }
      }
    }
  }

 private:
  void store(std::int32_t node, const char* why) { o_.require({Edit::Store, node, why}); }
  void require_operand(std::int32_t node, const char* why) {
    o_.require({Edit::StoreOperand, node, why});
  }
  // Rather than that it is computed so many times altogether. What no loop over elements computes
  // has to be in memory.
  void store_operand(std::int32_t node, const char* why, double times) {
    const Edit store{Edit::StoreOperand, node, why};
    std::int32_t of = canon_[node];
    while (c_.inlined(of) && g_[of].node->kind == NodeKind::View) of = canon_[g_[of].in[0]];
    if (!c_.inlined(of)) return o_.require(store);
    const std::optional<Costs> costs = g_.unasked([&]() -> std::optional<Costs> {
      const std::optional<double> cost = computing_cost(c_, of);
      if (!cost) return std::nullopt;
      const Machine& m = *c_.problem().target.machine;
      const Node& n = *g_[of].node;
      const double once = n.elements.cost() * *cost * m.cycle;
      return Costs{once * times, once + memory_seconds(m, 2 * bytes_of(n))};
    });
    if (costs)
      o_.make_exact(store, *costs);
    else
      o_.require(store);
  }
  // For every block of rows.
  void store_columns(std::int32_t node, const char* why) {
    store_operand(node, why, g_.unasked([&] {
      const Numbers& shape = g_[product_].node->extents;
      const double rows = elements_of(shape) / std::max(1.0, shape.back().cost());
      return std::ceil(rows / static_cast<double>(c_.problem().target.blocks.rows));
    }));
  }
  bool is_window(std::int32_t view) const { return c_.read_mode(view).kind == ReadMode::Window; }

  // What an operand that is computed as it is packed is made of; what is broadcast to it costs
  // little there, or is in memory.
  void place_under(std::int32_t operand) {
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{canon_[operand]};
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      if (g_[i].leaf || c_.is_root(i) || !seen.insert(i).second) continue;
      const NodeKind kind = g_[i].node->kind;
      const std::int32_t under = g_[i].in[0];
      if (kind == NodeKind::MatMul) {
        o_.require({Edit::StoreThis, i, "rows of another product"});
      } else if (kind == NodeKind::View && !c_.read_mode(under).in_parts() &&
                 reaches_product(c_, under)) {
        require_operand(i, "rows of another product");
      } else {
        for (const std::int32_t in : g_[i].in) {
          if (in < 0) continue;
          const bool whole = kind != NodeKind::Elementwise || c_.elements(in) >= c_.elements(i);
          if (whole ||
              computing_cost(c_, canon_[in]).value_or(0) <= c_.problem().target.machine->recompute)
            stack.push_back(canon_[in]);
          else
            store_columns(in, "computing it for every block costs more");
        }
      }
    }
  }

  void place_columns(std::int32_t operand) {
    if (std::int32_t u = parts_under(c_, operand); u >= 0) {
      for (; c_.read_mode(u).in_parts(); u = g_[u].in[0]) place_columns(g_[u].in[1]);
      return;
    }
    if (is_window(operand)) return place_columns(g_[g_[operand].in[0]].in[0]);
    store_columns(operand, "columns of a product, which all blocks of rows read");
  }

  const Candidate& c_;
  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  const std::int32_t product_;
  const Attention* const a_;
  Offers& o_;
};

class PlaceProducts final : public Rule {
 public:
  PlaceProducts() : Rule(of_kind(NodeKind::MatMul)) {}

  void visit(const Candidate& c, std::int32_t node, Offers& o) const override {
    if (c.multiplies(node)) Around(c, node, o).place_operands();
  }

  void revise(const Candidate& c, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    std::vector<std::vector<std::int32_t>> readers;  // of the first of equal ones
    for (std::int32_t p = 0; p < g.size(); ++p) {
      if (!c.multiplies(p)) continue;
      if (readers.empty()) {
        readers.resize(g.nodes.size());
        for (std::int32_t i = 0; i < g.size(); ++i)
          for (const std::int32_t in : g[i].in)
            if (in >= 0 && !g[i].leaf) readers[c.problem().canon[in]].push_back(i);
      }
      Around(c, p, o).place_readers(readers);
    }
  }
};

}  // namespace

const Rule& place_products() {
  static const PlaceProducts rule;
  return rule;
}

}  // namespace plait::fusion
