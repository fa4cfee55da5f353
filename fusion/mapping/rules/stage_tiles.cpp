// What threads that each take an iteration read over and over, in shared memory: all of it, or in
// pieces along a loop (tiles.hpp).
#include "../tiles.hpp"

#include <algorithm>

#include "../rule.hpp"

namespace plait::mapping {

namespace {

void find_staged(const ir::Kernel& k, NestFacts& n) {
  n.tiles = find_tiles(k, n);
  n.streams = find_streams(k, n);
}

// What an iteration of the flattened loop does below it, as far as mappings differ in it.
class Reads {
 public:
  explicit Reads(const MappingQuery& l)
      : l_(l), loads_(l.kernel.buffers.size()), visits_(l.kernel.loops.size()) {
    walk(l.nest.chain.back(), 1);
  }
  // Seconds without tiles, and with those of a mapping, whose blocks are so busy.
  double plain() const { return seconds({}, {}); }
  double with(const Mapping& m, const Tiles& t) const {
    const double resident =
        std::min<double>(l_.gpu.threads, m.threads() * static_cast<double>(l_.gpu.shared_bytes) /
                                             static_cast<double>(t.bytes));
    // Shared memory is nearer: half as many threads hide what it takes.
    const double idle = std::max(1.0, l_.gpu.busy / (2 * resident));
    // What a block copies once serves all iterations of its threads.
    const double once =
        m.streamed >= 0 ? 1 : std::min(1.0, l_.gpu.threads / (l_.waves * l_.gpu.busy));
    return idle * seconds(m, t, once / m.threads());
  }

 private:
  void walk(std::int32_t loop, double times) {
    visits_[loop] = times;
    for (Val v : l_.kernel.loops[loop].body) {
      const Inst& i = l_.kernel.insts[v];
      if (i.op == Op::Load) loads_[i.index] += times;
      if (!opens_loop(i)) continue;
      const std::int64_t count = l_.trips(i.index);
      walk(i.index, times * static_cast<double>(count < 0 ? 64 : count));
    }
  }

  double seconds(const Mapping& m, const Tiles& t, double of_block = 0) const {
    const GpuMachine& gpu = l_.gpu;
    double total = 0;
    for (std::size_t b = 0; b < loads_.size(); ++b) {
      const bool rows = l_.nest.tiles[b] == Tile::Rows;
      const auto item = static_cast<double>(itemsize(l_.kernel.buffers[b].dtype));
      if (l_.nest.tiles[b] == Tile::None || !(rows ? m.row_tiles : m.whole_tiles)) {
        total += loads_[b] * (!rows ? gpu.element : stays_near(b) ? gpu.own_row : gpu.apart);
        continue;
      }
      const bool piece = piece_load(l_.kernel, l_.nest, m, b) != kNone;
      double copied = static_cast<double>(t.shapes[b].bytes) / item;
      if (piece) copied = visits_[m.streamed] * (rows ? 1 : copied);
      total += loads_[b] * gpu.shared + gpu.copy * copied * (rows ? 1 : of_block);
    }
    if (m.streamed >= 0)
      total += 2 * gpu.barrier * visits_[m.streamed] / static_cast<double>(t.piece);
    return total;
  }
  // The rows of so many threads as keep a multiprocessor busy; its caches are about as large as its
  // shared memory.
  bool stays_near(std::size_t b) const {
    const Tiles t =
        lay_out_tiles(l_.kernel, l_.nest, {.row_tiles = true}, l_.gpu, l_.extents.params, 1);
    return t.shapes[b].bytes * l_.gpu.busy <= l_.gpu.shared_bytes;
  }

  const MappingQuery& l_;
  std::vector<double> loads_;   // of each buffer
  std::vector<double> visits_;  // of each loop's body
};

void offer_staged(const MappingQuery& l, std::vector<CostedMapping>& offers) {
  constexpr std::int64_t kLeastRow = 64;
  const NestFacts& n = l.nest;
  // Few iterations would copy more than they read again, rows that are read element by element are
  // a team's, and short ones come with the first access.
  if (l.waves < 1 || (l.walks && l.length > l.gpu.teams[0].threads)) return;
  const auto has = [&](Tile t) {
    return std::find(n.tiles.begin(), n.tiles.end(), t) != n.tiles.end();
  };
  const auto lay_out = [&](const Mapping& m) {
    return lay_out_tiles(l.kernel, n, m, l.gpu, l.extents.params, m.threads());
  };
  bool rows = false;
  if (has(Tile::Rows)) {
    const Tiles all = lay_out({.row_tiles = true});
    for (std::size_t b = 0; b < n.tiles.size(); ++b)
      rows |= n.tiles[b] == Tile::Rows && all.shapes[b].bytes >= kLeastRow;
  }
  if (!rows && !has(Tile::Whole)) return;
  const Reads reads(l);
  const double plain = reads.plain();
  const auto add = [&](Mapping m, bool whole, int row_threads) {
    m.whole_tiles = whole;
    m.row_tiles = row_threads > 0;
    if (m.row_tiles) m.row_threads = row_threads;
    const auto add_one = [&](std::int32_t streamed) {
      m.streamed = streamed;
      const Tiles t = lay_out(m);
      if (t.bytes > 0 && t.bytes <= shared_bytes(l.gpu, 2))
        offers.push_back({m, l.plain.seconds * reads.with(m, t) / plain});
    };
    add_one(-1);
    if (whole || !has(Tile::Whole))
      for (const std::int32_t along : n.streams) add_one(along);
  };
  const bool whole = has(Tile::Whole);
  if (rows) {
    add(l.plain.mapping, whole, 128);
    add(l.plain.mapping, whole, 64);
  }
  if (whole) {
    if (rows) add(l.plain.mapping, false, 128);
    add(l.plain.mapping, true, 0);
  }
}

}  // namespace

const MappingRule stage_tiles{find_staged, offer_staged};

}  // namespace plait::mapping
