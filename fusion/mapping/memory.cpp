#include <algorithm>

#include "barriers.hpp"
#include "mapping.hpp"

namespace plait::mapping {

ir::Space space_of(const ir::Kernel& k, std::size_t local, const NestFacts& n, const Mapping& m) {
  const ir::Local& l = k.locals[local];
  if (m.team > 1 && !n.in_thread[l.home]) {
    const bool scratch = local >= 64 ? n.multiplies : m.in_scratch >> local & 1;
    return m.rows_shared && !scratch ? ir::Space::Shared : ir::Space::Global;
  }
  const bool few = l.count.param == kNoParam && l.count.value <= GpuMachine{}.local_elements;
  return few ? ir::Space::Register : ir::Space::Cache;
}

namespace {

// Threads of a team take the loops that they share, in a loop that warps take those of the warp.
void share_loops(ir::Kernel& k, const NestFacts& n) {
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    if (n.shared[l] || n.over_warps[l]) k.loops[l].scope = ir::Scope::Block;
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    if (n.over_warps[l])
      ir::for_each_inst(k, static_cast<std::int32_t>(l), [&](Val v, std::int32_t) {
        if (opens_loop(k.insts[v]) && n.shared[k.insts[v].index])
          k.loops[k.insts[v].index].scope = ir::Scope::Warp;
      });
}

}  // namespace

void apply(ir::Kernel& k, NestFacts& n, const Mapping& m) {
  if (m.keeps_rows) {
    for (const ir::Row& row : n.kept) ir::stage(k, row);
    n = analyse_nest(k);
  }
  for (std::size_t l = 0; l < k.loops.size(); ++l) {
    ir::Loop& loop = k.loops[l];
    if (loop.lanes()) loop.scope = l == 0 ? ir::Scope::Grid : ir::Scope::Serial;
  }
  for (std::size_t l = 0; l < k.locals.size(); ++l) k.locals[l].space = space_of(k, l, n, m);
  if (m.team == 1) return;
  share_loops(k, n);
  place_barriers(k);
}

std::int64_t row_bytes(const ir::Local& l, const std::int64_t* params) {
  const auto item = static_cast<std::int64_t>(itemsize(l.dtype));
  return (std::max<std::int64_t>(1, ir::local_count(l, params)) * item + 15) / 16 * 16;
}
std::int64_t team_bytes(const ir::Kernel& k, const NestFacts& n, const Mapping& m,
                        const std::int64_t* params) {
  std::int64_t total = 0;
  for (std::size_t l = 0; l < k.locals.size(); ++l)
    if (space_of(k, l, n, m) == ir::Space::Shared) total += row_bytes(k.locals[l], params);
  if (m.keeps_rows)
    for (const ir::Row& r : n.kept)
      if (r.local < 0) total += row_bytes({k.insts[r.readers[0].load].type, r.count, 0}, params);
  return total;
}

void keep_within(const ir::Kernel& k, const NestFacts& n, Mapping& m, std::int64_t bytes,
                 const std::int64_t* params) {
  m.rows_shared = true;
  while (team_bytes(k, n, m, params) > bytes) {
    std::size_t largest = 0;
    std::int64_t most = -1;
    for (std::size_t l = 0; l < k.locals.size(); ++l)
      if (space_of(k, l, n, m) == ir::Space::Shared && row_bytes(k.locals[l], params) > most) {
        largest = l;
        most = row_bytes(k.locals[l], params);
      }
    m.in_scratch |= std::uint64_t{1} << largest;
  }
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
