#include "machine.hpp"

#include <unistd.h>

#include <array>

#include "config.hpp"

namespace plait {

namespace {

Machine read_host(CpuTier tier) {
  Machine m = kMachine;
  if (tier == CpuTier::Avx2) {
    m.tile_product *= 2;
    m.blas_product *= 2;
    m.tile_lanes /= 2;
  } else if (tier == CpuTier::Baseline) {
    // A BLAS looks at the processor itself.
    m.tile_product *= 8;
    m.tile_lanes /= 4;
  }
  // 0 or less where the system does not say.
  const auto read = [](MemoryLevel& level, int name) {
    if (const long bytes = ::sysconf(name); bytes > 0) level.bytes = bytes;
  };
#ifdef _SC_LEVEL2_CACHE_SIZE
  read(m.memory[0], _SC_LEVEL2_CACHE_SIZE);
  read(m.memory[1], _SC_LEVEL3_CACHE_SIZE);
#endif
  return m;
}

}  // namespace

const Machine& host_machine() {
  static const std::array<Machine, 3> tiers{read_host(CpuTier::Baseline), read_host(CpuTier::Avx2),
                                            read_host(CpuTier::Avx512)};
  return tiers[static_cast<std::size_t>(config().tier)];
}

}  // namespace plait
