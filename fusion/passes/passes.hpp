// What happens to a kernel between lowering and code generation, in this order. Every pass keeps
// the scalar meaning of the nest, bit for bit; what it makes useless stays until compact(). The
// nest is verified after each in checking builds, and the outcome always.
#pragma once
#include "fusion/lower/lower.hpp"
#include "ir/analysis.hpp"
#include "ir/edit.hpp"

namespace plait::fusion {

// Two nested loops over memory that is contiguous across them become one: (N, M) elementwise is one
// loop of N * M.
void collapse(const LoweringInput& in, LoweredKernel& k);
// Reductions side by side over the same range share one loop: the three components of a force, min
// and max of one array.
void fuse_siblings(LoweredKernel& k);
// Equal pure instructions in one scope are one.
void eliminate_common(ir::Kernel& k);
// Chooses along which loops lanes run, by a cost model over every path of the nest, and how far to
// unroll.
void vectorize(const LoweringInput& in, LoweredKernel& k);
// Chooses along which loops the interpreter takes tiles, by what its calls cost: lanes cannot pay
// for a few elements a row, where a call for each element costs tens of them.
void tile(const LoweringInput& in, LoweredKernel& k);
// Strided loads that an outer loop repeats are copied once into a local, lane by lane (points of
// k-means).
void pack_loads(const LoweringInput& in, LoweredKernel& k);
// Drops what nothing uses and numbers the rest in order, so that equal kernels are equal byte
// strings.
void compact(ir::Kernel& k);

// `vectorize`, `tile` and `pack_loads` are for targets with lanes.
void run_passes(const LoweringInput& in, LoweredKernel& k);

}  // namespace plait::fusion
