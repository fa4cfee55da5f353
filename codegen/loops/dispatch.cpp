// From the tier argument to the tier's namespace.
#include "core/replaceable.hpp"
#include "tier.hpp"

// Compiled once for both tiers.
namespace plait::loops::avx512 {
LoopFn complex_loop(OpId op, DType t) { return avx2::complex_loop(op, t); }
ReduceFn complex_product_fold(DType t) { return avx2::complex_product_fold(t); }
}  // namespace plait::loops::avx512

namespace plait::loops {
#define PLAIT_AT_TIER(call)  \
  switch (tier) {            \
    case CpuTier::Avx512:    \
      return avx512::call;   \
    case CpuTier::Avx2:      \
      return avx2::call;     \
    default:                 \
      return baseline::call; \
  }

PLAIT_REPLACEABLE LoopFn elementwise(OpId op, DType in, CpuTier tier) {
  PLAIT_AT_TIER(elementwise(op, in));
}
PLAIT_REPLACEABLE LoopFn join(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(join(kind, t));
}
PLAIT_REPLACEABLE LoopFn cast(DType from, DType to, CpuTier tier) { PLAIT_AT_TIER(cast(from, to)); }
PLAIT_REPLACEABLE VectorFn vector_function(OpId op, DType in, CpuTier tier) {
  PLAIT_AT_TIER(vector_function(op, in));
}
PLAIT_REPLACEABLE ReduceFn reduce(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(reduce(kind, t));
}
PLAIT_REPLACEABLE ArgReduceFn arg_reduce(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(arg_reduce(kind, t));
}
PLAIT_REPLACEABLE ArgColumnsFn arg_columns(ReduceKind kind, DType t, CpuTier tier) {
  PLAIT_AT_TIER(arg_columns(kind, t));
}
PLAIT_REPLACEABLE const Product* product(DType a, DType b, CpuTier tier) {
  PLAIT_AT_TIER(product(a, b));
}
#undef PLAIT_AT_TIER

}  // namespace plait::loops
