// Gives memory back on request.
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "codegen/llvm/jit.hpp"
#include "core/buffer.hpp"
#include "engine.hpp"
#include "engine/devices/device.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/run.hpp"
#include "engine/plans/state.hpp"

namespace plait::engine {

PackedOperands& packed_operands() { return state().packed; }

std::size_t trim() {
  const std::size_t on_devices = trim_devices();
  const std::lock_guard held(tracer::lock());
  state().labels = {};
  std::size_t bytes = on_devices + forget_plans();  // before the kernels that they hold
  bytes += trim_kernels();
  bytes += jit::forget_compiled();
  bytes += state().packed.trim();
  bytes += trim_pool();
  bytes += tracer::trim_nodes();
#ifdef __GLIBC__
  malloc_trim(0);  // what was small went to the heap only
#endif
  return bytes;
}

void settings_changed() {
  settle(config());
  packed_operands().set_limit(config().packed_limit);
  bound_plans();
  bound_kernels();
}

Kept kept() {
  const std::lock_guard held(tracer::lock());
  const TableSize plans = plans_kept(), kernels = kernels_kept();
  const PackedOperands::Stats packed = state().packed.stats();
  return {plans.entries,   plans.bytes,  kernels.entries, kernels.bytes,
          packed.operands, packed.bytes, packed.packed,   packed.found};
}

}  // namespace plait::engine
