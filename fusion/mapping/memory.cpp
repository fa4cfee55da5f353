#include <algorithm>

#include "mapping.hpp"

namespace plait::mapping {

Home home_of(const ir::Local& l, const Nest& n, const Mapping& m) {
  if (m.team > 1 && !n.in_thread[l.home]) return Home::Team;
  return l.count.param == kNoParam && l.count.value <= GpuMachine{}.local_elements ? Home::Registers
                                                                                   : Home::Thread;
}

std::int64_t row_bytes(const ir::Local& l, const std::int64_t* params) {
  const auto item = static_cast<std::int64_t>(itemsize(l.dtype));
  return (std::max<std::int64_t>(1, ir::local_count(l, params)) * item + 15) / 16 * 16;
}
std::int64_t team_bytes(const ir::Kernel& k, const Nest& n, const Mapping& m,
                        const std::int64_t* params) {
  std::int64_t total = 0;
  for (const ir::Local& l : k.locals)
    if (home_of(l, n, m) == Home::Team) total += row_bytes(l, params);
  if (m.keeps_rows)
    for (const ir::Row& r : n.kept)
      if (r.local < 0) total += row_bytes({k.insts[r.readers[0].load].type, r.count, 0}, params);
  return total;
}

int exchange_bytes(const ir::Kernel& k, const Mapping& m) {
  if (m.team == 1) return 0;
  // Slots for the leaves of a sum: 1024 elements at least for 8 lanes, 32768 for a block.
  const int slots = m.team <= 8 ? 16 : m.team <= 32 ? 32 : 512;
  int most = 16;
  for (const ir::Loop& l : k.loops) {
    int trees = 0, widest = 0;
    for (const ir::Reduction& r : l.reductions) {
      const int bytes =
          std::max(4, static_cast<int>(itemsize(kept_type(r, k.insts[r.value].type))));
      // In a structure each part takes as much as the widest.
      if (is_tree(k, r)) ++trees, widest = std::max(widest, bytes);
      if (m.team > 32)
        most = std::max(most, m.team / 32 * (is_arg(r.kind) ? 8 + std::max(8, bytes) : bytes));
    }
    most = std::max(most, slots * trees * widest);
  }
  return (most + 15) / 16 * 16;
}

}  // namespace plait::mapping
