#include "machine.hpp"

#include <unistd.h>

#include <array>
#include <limits>

#include "config.hpp"

namespace plait {

namespace {

Machine read_host(CpuTier tier) {
  Machine m = kMachine;
  const auto slower = [](ProductCosts& c, double times) { c = {c.half * times, c.single * times}; };
  const auto slower_tiles = [&](double times) {
    for (ProductCosts* const c : {&m.tile_product, &m.axes_product, &m.attention_product})
      slower(*c, times);
  };
  if (info(tier).vector_bytes == 32) {
    slower_tiles(2);
    slower(m.blas_product, 2);
    m.tile_lanes /= 2;
  } else if (info(tier).vector_bytes == 16) {
    // A BLAS looks at the processor itself.
    slower_tiles(info(tier).fused ? 4 : 8);
    m.tile_lanes /= 4;
  }
  // What fits a cache is planned otherwise.
  if (config().deterministic) return m;
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
  if (config().machine) return *config().machine;
  static const auto tiers = [] {
    std::array<Machine, kTiers.size()> all;
    for (const CpuTier tier : kTiers) all[static_cast<std::size_t>(tier)] = read_host(tier);
    return all;
  }();
  return tiers[static_cast<std::size_t>(config().tier)];
}

Machine device_machine(const GpuMachine& g) {
  constexpr double kLanes = 128;      // of a multiprocessor: Float32, an operation a cycle each
  constexpr double kCacheRate = 1.6;  // times that of memory
  constexpr double kSector = 32;      // bytes that one element by itself moves
  constexpr double kLaunch = 3e-6;
  const double byte = 1 / (g.memory_rate * g.copied), cached = byte / kCacheRate;
  const double all = g.multiprocessors;
  Machine m;
  m.memory[0] = m.memory[1] = {g.cache_bytes, cached};
  m.memory[2] = {INT64_MAX, byte};
  m.cycle = 1 / (all * kLanes * g.clock);
  m.interpreted = 1;
  m.store = m.load = sizeof(float) * byte / m.cycle;
  // A multiplication and addition is one operation.
  const auto of = [&](const ProductCosts& rate) {
    return ProductCosts{m.cycle / rate.half, m.cycle / rate.single};
  };
  m.tile_product = of(g.products.tiles);
  m.rows_product = of(g.products.rows);
  m.axes_product = of(g.products.axes);
  m.attention_product = of(g.products.attention);
  m.blas_product = of(g.products.library);
  m.most_stored = g.most_stored;
  m.loop_product = 8 * m.cycle;
  m.tile_lanes = 1;
  m.ordered = m.side_by_side = g.element / (all * g.busy);
  m.block = g.element / all;
  m.near_element = kSector * cached;
  m.far_element = kSector * byte;
  m.near_write = 2 * m.near_element;
  m.far_write = 2 * m.far_element;
  m.operation = kLaunch;
  m.ask_awake = m.ask_asleep = m.join = m.wake = 0;
  m.least_shared = std::numeric_limits<double>::infinity();
  return m;
}

}  // namespace plait
