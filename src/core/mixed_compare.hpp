// How to compare an int64 with a uint64 exactly: the sign decides, else both compare as uint64.
//   result = combine(sign_test(s < 0), compare(uint64(s), u))
// where the operands keep their order in `compare`.
#pragma once
#include "op_table.hpp"

namespace plait {

inline bool is_mixed_compare(const LoopTypes& t) {
  return (t.in[0] == DType::Int64 && t.in[1] == DType::UInt64) ||
         (t.in[0] == DType::UInt64 && t.in[1] == DType::Int64);
}

struct MixedCompare {
  OpId sign_test;  // Less or GreaterEqual, applied to (signed operand, int64 0)
  OpId combine;    // LogicalOr (a negative operand makes it true) or LogicalAnd (makes it false)
};
// `signed_first`: the signed operand is the left one.
inline MixedCompare compare_signs(OpId comparison, bool signed_first) {
  bool negative_gives = false;
  switch (comparison) {
    case OpId::NotEqual:
      negative_gives = true;
      break;
    case OpId::Less:
    case OpId::LessEqual:
      negative_gives = signed_first;
      break;
    case OpId::Greater:
    case OpId::GreaterEqual:
      negative_gives = !signed_first;
      break;
    default:
      break;
  }
  return negative_gives ? MixedCompare{OpId::Less, OpId::LogicalOr}
                        : MixedCompare{OpId::GreaterEqual, OpId::LogicalAnd};
}

}  // namespace plait
