// Which bytes the loads and stores of a kernel reach as its loops run, as expressions.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "lower.hpp"

namespace plait::fusion {

// Addresses of one access: offset + the sum of stride * [0, extent).
struct Reach {
  struct Axis {
    ExprId stride, extent;
  };
  ExprId offset;
  std::vector<Axis> axes;
  std::int64_t item;

  // The first byte and one past the last. What signs strides have is relied on.
  std::pair<ExprId, ExprId> span(Exprs& exprs, Facts& facts) const;
};

// nullopt: its address depends on more than loops from zero to a number.
std::optional<Reach> reach(Exprs& exprs, const LoweredKernel& k, const ir::Inst& i);
ExprId expr_of(Exprs& exprs, const LoweredKernel& k, const ir::Coeff& c);
ExprId minus(Exprs& exprs, ExprId a, ExprId b);
// |e|, whose sign is relied on.
ExprId magnitude(Exprs& exprs, Facts& facts, ExprId e);

// Whether no byte belongs to both. Yes is relied on.
bool apart(Exprs& exprs, Facts& facts, const Reach& a, const Reach& b);
// Whether each combination of the loops' iterations has bytes of its own. Yes is relied on.
bool injective(Exprs& exprs, Facts& facts, const Reach& r);

}  // namespace plait::fusion
