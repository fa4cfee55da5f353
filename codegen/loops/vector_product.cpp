#include "vector_product.hpp"

#include "core/replaceable.hpp"

namespace plait::loops {

PLAIT_REPLACEABLE VectorProductFn vector_product(DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, vector_product(t));
}

}  // namespace plait::loops
