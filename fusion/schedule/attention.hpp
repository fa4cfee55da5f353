// Attention, as a rewrite of folds: a product (the scores), values that follow from a block of its
// rows and columns, folds of these along the rows, and a product of them (the weights). It is
// computed in blocks of columns (keys) when each fold, and the second product, sums what is
// homogeneous in the row values that change from block to block: sums so far are rescaled by
// exp(old - new) when a maximum grows. Any other factor of a row is deferred: the weights are
// summed without it, and the row of the product has it at the end, when row values are final.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fusion/graph/plan_graph.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// Of each axis of a view: the neighbouring ones of its base that it merges, [first, last).
struct MergedAxes {
  Dims first, last;
};

struct Attention {
  // A row value that grows with the maximum of its row. exp((x - row) * scale) is homogeneous in
  // it: a growth rescales by exp((old - new) * scale).
  struct Shift {
    std::int32_t row = -1;
    std::int32_t maximum = -1;  // which of the folds
    OpId exponential = OpId::Exp;
    std::int32_t scale = -1;  // one number that multiplies or divides the difference; -1: none
    OpId scaled_by = OpId::Multiply;
    bool operator==(const Shift&) const = default;
  };
  // A factor of a row: the row value itself (Multiply, Divide), the exponential of its negative
  // (Exp, Exp2), zero where it is false (Where), or true if inverted, or where it is 0 or not
  // finite (Isfinite). LogicalOr: zero in a row all of which a mask hides, as it hides what is
  // false, or true if inverted.
  struct Factor {
    OpId fn = OpId::Multiply;
    std::int32_t row = -1;
    bool inverted = false;
    bool operator==(const Factor&) const = default;
  };
  // How a block value depends on row values: what rescales it, and what is deferred, in order.
  struct Scaling {
    std::vector<int> shifts;
    std::vector<Factor> deferred;
    bool operator==(const Scaling&) const = default;
  };
  struct Fold {
    std::int32_t node = -1;
    bool first = false;  // a shift needs it: it is folded before anything is weighed
    Scaling scaling;     // of its operand
  };

  // The second MatMul and the first; others of the second's shape by the same weights.
  std::int32_t product = -1, scores = -1;
  std::vector<std::int32_t> products;  // with the second, which is the first of these
  int side = 0;     // which operand of the products the weights are: their rows are its lines
  int queries = 0;  // which operand of the scores has their rows
  // What is computed between them, from the scores, or a view of them, to the weights. It may have
  // axes in another order than the second product, or several for one: which it has of each.
  std::int32_t scored = -1, weights = -1;
  MergedAxes axes;
  int axis = -1;            // its keys
  std::vector<Fold> folds;  // in the order of their nodes
  std::vector<Shift> shifts;
  Scaling scaling;            // of the weights
  std::vector<Factor> masks;  // those of LogicalOr
  // Whether the deferred factors of the weights have a sum, which is NaN where a maximum is
  // infinite.
  bool divided = false;
  // Block values that are their operand of that number, but for a deferred factor, and what is
  // subtracted from block values: the shift in it.
  std::map<std::int32_t, int> undivided, shifted_by;
  std::set<std::int32_t> rows;  // the row values: folds and what is computed from them
  // Scalars whose bits are relied on: zero where a mask says so, an infinity that is looked for.
  std::vector<std::pair<std::int32_t, std::int64_t>> numbers;
  // Whether the largest weight of a row is 1: the exponential of the difference from the maximum.
  bool peaks_at_one = false;
  // Where this mask is false, or true if inverted, all of a block, each row of the weights and of
  // what is folded is one number there. -1: no such mask.
  std::int32_t mask = -1;
  bool inverted = false;
  // What takes the place of the scores when the first folds have read it: the scores are of no use
  // to the rest. -1: nothing does.
  std::int32_t replacement = -1;
  ProductBlocks blocks;              // of the target
  std::vector<std::int32_t> inside;  // what is computed in blocks: no node of it can be in memory,
                                     // but row values

  int fold(std::int32_t node) const;  // which it is; -1: none
  bool multiplies(std::int32_t node) const;
  std::int32_t keys(const PlanGraph& g) const { return g[scores].in[1 - queries]; }
  std::int32_t values(const PlanGraph& g, std::int32_t of) const { return g[of].in[1 - side]; }
  std::int32_t weighing(const PlanGraph& g) const { return g[product].in[side]; }
  // Whether what is between the products has other axes than they.
  bool moves_axes(const PlanGraph& g) const;
  // Axes of the products: their rows, which are the rows of the weights, and their columns.
  int row_axis(const PlanGraph& g) const { return g[product].node->extents.size() - 2 + side; }
  int column_axis(const PlanGraph& g) const { return g[product].node->extents.size() - 1 - side; }
};

// Sets `axes`, `axis` and `queries`, by the products and what is between them; false where they
// have no such axes, or few keys (attention_axes.cpp).
bool find_axes(const PlanGraph& g, Attention& a);
std::optional<Attention> find_attention(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                        std::int32_t product, const Target& target);

}  // namespace plait::fusion
