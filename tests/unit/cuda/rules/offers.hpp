// What the rules offer for a kernel of the tests.
#pragma once
#include <catch2/catch.hpp>

#include "../kernels.hpp"
#include "fusion/mapping/mapping.hpp"

namespace plait::test {
using mapping::CostedMapping;
using mapping::Mapping;

inline std::vector<CostedMapping> offers(const ir::Kernel& k,
                                         const std::vector<std::int64_t>& params, std::int64_t rows,
                                         const GpuMachine& gpu = {}) {
  return mapping::mappings(k, mapping::analyse_nest(k), gpu, {params.data(), rows});
}
inline std::vector<CostedMapping> offers(const RandomKernel& r, const GpuMachine& gpu = {}) {
  return offers(r.kernel, r.params, r.grid, gpu);
}
inline int count(const std::vector<CostedMapping>& all, bool (*of)(const Mapping&)) {
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const CostedMapping& o) { return of(o.mapping); }));
}
inline bool is_plain(const Mapping& m) {
  return m.team == 1 && m.pack == 1 && !m.transposed && !m.whole_tiles && !m.row_tiles;
}

}  // namespace plait::test
