#include "../transposed.hpp"

#include <algorithm>

#include "../rule.hpp"

namespace plait::mapping {

std::int64_t transposed_count(const ir::Kernel& k, const NestFacts& n, const Extents& e) {
  std::int64_t count = 1;
  for (std::int32_t l : n.chain) {
    const std::int64_t extent = trips(k, l, e);
    count *= l == n.chain.back() || l == n.transposed_loop ? (extent + kTileSide - 1) / kTileSide
                                                           : extent;
  }
  return count;
}

std::int64_t transposed_bytes(const ir::Kernel& k, const NestFacts& n) {
  std::int64_t bytes = 0;
  for (std::size_t v = 0; v < k.insts.size(); ++v)
    if (n.transposed[v])
      bytes += static_cast<std::int64_t>(itemsize(k.insts[v].type)) * kTileSide * (kTileSide + 1);
  return bytes;
}

namespace {

// Marks loads that are worth it; sets NestFacts::transposed_loop, the other loop of the tiles.
void find_transposed(const ir::Kernel& k, NestFacts& n) {
  constexpr std::int64_t kMostBytes = 32 * 1024;
  const std::int32_t last = n.chain.back();
  if (n.chain.size() < 2) return;
  for (const ir::Local& l : k.locals)
    if (l.home == last) return;
  std::vector<char> transposed(k.insts.size());
  std::int32_t other = -1;
  for (Val v : k.loops[last].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) return;
    if (i.op != Op::Load || k.buffers[i.index].written) continue;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    bool across = false, simple = true;
    std::int32_t along = -1;
    for (const ir::Term& t : k.accesses[i.access].terms) {
      const Inst& var = k.insts[t.var];
      const bool next = t.stride.param == kNoParam && t.stride.value == item;
      if (t.var == k.loops[last].var)
        across = !next && (t.stride.param != kNoParam || t.stride.value != 0);
      else if (var.op == Op::Var && next)
        along = var.index;
      else
        simple &= var.op == Op::Var || var.op == Op::Param || var.op == Op::Const;
    }
    if (!across || !simple || along < 0 || (other >= 0 && along != other)) continue;
    other = along;
    transposed[v] = 1;
  }
  if (other < 0) return;
  n.transposed = std::move(transposed);
  if (transposed_bytes(k, n) <= kMostBytes) n.transposed_loop = other;
}

void offer_transposed(const MappingQuery& l, std::vector<CostedMapping>& offers) {
  constexpr double threads = 256;
  if (l.nest.transposed_loop < 0 || l.trips(l.nest.chain.back()) < kTileSide ||
      l.trips(l.nest.transposed_loop) < kTileSide)
    return;
  Mapping m = l.plain.mapping;
  m.transposed = true;
  // Elements of a thread, with those of the tiles beyond the ends.
  constexpr double each = kTileSide * kTileSide / threads;
  const double all =
      static_cast<double>(transposed_count(l.kernel, l.nest, l.extents)) * kTileSide * kTileSide;
  const double waves = l.waves * all / static_cast<double>(std::max<std::int64_t>(1, l.rows));
  offers.push_back({m, std::max(each, waves) * l.gpu.copy});
}

}  // namespace

const MappingRule transpose_tiles{find_transposed, offer_transposed};

}  // namespace plait::mapping
