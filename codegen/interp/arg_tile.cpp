#include "plait/error.hpp"
#include "primitives.hpp"

namespace plait::interp {

namespace baseline {
ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots);
}
namespace avx2 {
ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots);
}
namespace avx512 {
ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots);
}

ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots, CpuTier tier) {
  ArgTileFn fn = tier == CpuTier::Avx512 ? avx512::arg_tile(kind, t, roots)
                 : tier == CpuTier::Avx2 ? avx2::arg_tile(kind, t, roots)
                                         : baseline::arg_tile(kind, t, roots);
  if (!fn) throw InternalError("interpreter: no arg-reduction of " + std::string(name(t)));
  return fn;
}

}  // namespace plait::interp
