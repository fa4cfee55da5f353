#include "passes.hpp"

#include <algorithm>

#include "plait/error.hpp"

namespace plait::fusion {

namespace {

// After every step in checking builds. What a pass leaves unused is no part of the contract.
void check([[maybe_unused]] const LoweredKernel& k, [[maybe_unused]] const char* after) {
#ifdef PLAIT_CHECKS
  ir::Kernel used = k.kernel;
  compact(used);
  try {
    ir::verify(used);
  } catch (const InternalError& e) {
    throw InternalError(std::string("after ") + after + ": " + e.what());
  }
#endif
}

}  // namespace

void run_passes(const LoweringInput& in, LoweredKernel& k) {
  in.budget.check(in.exprs.size());
  check(k, "lowering");
  eliminate_common(k.kernel);
  check(k, "eliminate_common");
  // The loops of a product are of one block, and what they do to its scratch is in order.
  if (!ir::multiplies(k.kernel, 0)) {
    collapse(in, k);
    check(k, "collapse");
    fuse_siblings(k);
    check(k, "fuse_siblings");
    eliminate_common(k.kernel);
    check(k, "the second eliminate_common");
  }
  if (in.target.lanes) {
    vectorize(in, k);
    check(k, "vectorize");
    tile(in, k);
    pack_loads(in, k);
    check(k, "pack_loads");
  }
  compact(k.kernel);
  // Of the loops that there are now.
  k.extents.assign(k.kernel.loops.size(), in.exprs.zero());
  for (std::size_t l = 1; l < k.kernel.loops.size(); ++l) {
    const ir::Inst& end = k.kernel.insts[k.kernel.loops[l].end];
    if (end.op == ir::Op::Const) k.extents[l] = in.exprs.constant(end.imm.as<std::int64_t>());
    if (end.op == ir::Op::Param) k.extents[l] = k.params[static_cast<std::size_t>(end.index)];
  }
  k.planned_grid = std::max<std::int64_t>(1, concrete(in, k.grid_extent));
  ir::verify(k.kernel);
}

}  // namespace plait::fusion
