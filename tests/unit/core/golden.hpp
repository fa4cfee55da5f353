// NumPy's answers, generated; see scripts/generate_promotion_golden.py for the layout.
#pragma once
#include <string_view>

#include "core/op_table.hpp"

namespace plait::golden {

struct GoldenOp {
  OpId id;
  std::string_view strong, weak;
};
#include "golden_promotion.inc"

constexpr DType dtype(int i) { return static_cast<DType>(i); }

}  // namespace plait::golden
