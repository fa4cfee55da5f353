#include "plait/error.hpp"
#include "primitives.hpp"

namespace plait::interp {

#define PLAIT_DECLARE(tier)                                 \
  namespace tier {                                          \
  ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots); \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots, CpuTier tier) {
  const ArgTileFn fn = [&]() -> ArgTileFn { PLAIT_AT_TIER(tier, arg_tile(kind, t, roots)); }();
  if (!fn) throw InternalError("interpreter: no arg-reduction of " + std::string(name(t)));
  return fn;
}

}  // namespace plait::interp
