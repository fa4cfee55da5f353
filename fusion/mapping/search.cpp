#include <algorithm>
#include <bit>

#include "rule.hpp"

namespace plait::mapping {

namespace {

const MappingRule* const kRules[] = {&pack_neighbours, &transpose_tiles, &stage_tiles, &share_rows};

// The same, where a loop goes on to a number of iterations or to an end before that; else -1.
std::int64_t most_trips(const ir::Kernel& k, std::int32_t loop) {
  const ir::Loop& l = k.loops[loop];
  const Inst& end = k.insts[l.end];
  if (end.op != Op::Apply || end.fn != OpId::Minimum) return -1;
  const Inst& to = k.insts[end.operands[0]];
  return to.op == Op::Apply && to.fn == OpId::Add && to.operands[0] == l.begin &&
                 k.insts[to.operands[1]].op == Op::Const
             ? value_of(k, to.operands[1], nullptr)
             : -1;
}

// Iterations of the longest loop that a team shares.
std::int64_t shared_length(const ir::Kernel& k, const NestFacts& n, const Extents& e) {
  std::int64_t length = 1;
  for (std::size_t l = 1; n.shareable && l < k.loops.size(); ++l) {
    if (!n.shared[l]) continue;
    std::int64_t count = trips(k, static_cast<std::int32_t>(l), e);
    if (count < 0) count = most_trips(k, static_cast<std::int32_t>(l));
    // Only a chunk's bounds are known on the device alone.
    if (count < 0) count = e.split > 0 ? e.split / std::max<std::int64_t>(1, e.grid) : 64;
    length = std::max(length, count);
  }
  return length;
}

}  // namespace

void mark_all(const ir::Kernel& k, NestFacts& n) {
  for (const MappingRule* r : kRules) r->mark(k, n);
}

std::vector<CostedMapping> mappings(const ir::Kernel& k, const NestFacts& n, const GpuMachine& gpu,
                                    const Extents& e) {
  MappingQuery l{k, n, gpu, e, iterations(k, n, e), shared_length(k, n, e), 0, false, false, {}};
  l.waves = static_cast<double>(l.rows) / (gpu.busy * static_cast<double>(gpu.multiprocessors));
  l.across = n.along_inner <= n.along_chain;
  l.plain.mapping.wide = needs_wide(k, n, e);
  // What rows have in common, or loops inside read again, is one access for the threads of a warp.
  l.walks = n.shareable && n.own_rows && !n.nested_below && !l.across;
  const double element = n.transposed_loop >= 0 ? gpu.apart : l.walks ? gpu.own_row : gpu.element;
  l.plain.seconds = static_cast<double>(l.length) * std::max(gpu.element, l.waves * element);
  std::vector<CostedMapping> offers{l.plain};
  if (n.multiplies) {
    // Threads by themselves have no fragments.
    Mapping& m = offers.front().mapping;
    m.team = kBlockThreads;
    keep_within(k, n, m, shared_bytes(gpu, 1) - exchange_bytes(k, m), e.params);
    m.tile = largest_tile(k, e);
    // One copies while the other multiplies.
    if (team_bytes(k, n, m, e.params) <= shared_bytes(gpu, 2) - exchange_bytes(k, m))
      m.resident = 2;
    return offers;
  }
  for (const MappingRule* r : kRules) r->offer(l, offers);
  if (n.grouped) {
    std::erase_if(offers, [](const CostedMapping& o) { return o.mapping.team < 32; });
    if (offers.empty()) {
      offers.push_back(l.plain);
      offers.front().mapping.team = 32;
      keep_within(k, n, offers.front().mapping, shared_bytes(gpu, 1) / (256 / 32), e.params);
    }
  }
  const auto best = std::min_element(
      offers.begin(), offers.end(),
      [](const CostedMapping& a, const CostedMapping& b) { return a.seconds < b.seconds; });
  std::rotate(offers.begin(), best, best + 1);
  return offers;
}

Mapping choose(const ir::Kernel& k, const NestFacts& n, const GpuMachine& gpu, const Extents& e) {
  return mappings(k, n, gpu, e).front().mapping;
}

std::string to_string(const Mapping& m) {
  std::string s = m.team == 1   ? "a thread an iteration"
                  : m.team > 32 ? "a block of " + std::to_string(m.team) + " threads an iteration"
                                : std::to_string(m.team) + " lanes an iteration";
  if (m.pack > 1) s += ", " + std::to_string(m.pack) + " elements an access";
  if (m.transposed) s += ", transposed in shared memory";
  if (m.whole_tiles) s += ", what all read in shared memory";
  if (m.row_tiles) s += ", rows of " + std::to_string(m.row_threads) + " threads in shared memory";
  if (m.streamed >= 0) s += ", in pieces along loop " + std::to_string(m.streamed);
  if (m.rows_shared) s += ", locals in shared memory";
  if (const int count = std::popcount(m.in_scratch); count > 0)
    s += " but for " + std::to_string(count);
  if (m.keeps_rows) s += ", rows kept";
  if (m.resident > 1) s += ", " + std::to_string(m.resident) + " blocks a multiprocessor";
  if (m.wide) s += ", 64-bit indices";
  return s;
}

}  // namespace plait::mapping
