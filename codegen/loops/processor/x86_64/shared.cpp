// Wider vectors than AVX2's are of no use to these.
#include "codegen/loops/tier.hpp"

namespace plait::loops::avx512 {
LoopFn complex_loop(OpId op, DType t) { return avx2::complex_loop(op, t); }
ReduceFn complex_product_fold(DType t) { return avx2::complex_product_fold(t); }
}  // namespace plait::loops::avx512
