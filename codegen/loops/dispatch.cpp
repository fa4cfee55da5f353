// From the tier argument to the tier's namespace.
#include "core/replaceable.hpp"
#include "tier.hpp"

namespace plait::loops {

PLAIT_REPLACEABLE LoopFn elementwise(OpId op, DType in, CpuTier tier) {
  PLAIT_AT_TIER(tier, elementwise(op, in));
}
PLAIT_REPLACEABLE LoopFn join(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, join(kind, t));
}
PLAIT_REPLACEABLE LoopFn cast(DType from, DType to, CpuTier tier) {
  PLAIT_AT_TIER(tier, cast(from, to));
}
PLAIT_REPLACEABLE VectorFn vector_function(OpId op, DType in, CpuTier tier) {
  PLAIT_AT_TIER(tier, vector_function(op, in));
}
PLAIT_REPLACEABLE ReduceFn reduce(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, reduce(kind, t));
}
PLAIT_REPLACEABLE ArgReduceFn arg_reduce(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, arg_reduce(kind, t));
}
PLAIT_REPLACEABLE ArgColumnsFn arg_columns(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, arg_columns(kind, t));
}
PLAIT_REPLACEABLE const Product* product(DType a, DType b, CpuTier tier) {
  PLAIT_AT_TIER(tier, product(a, b));
}
}  // namespace plait::loops
