#include "tiles.hpp"

#include <algorithm>

namespace plait::cuda {

namespace {

// The stride of an access along the flattened loop; null when it does not move with it.
const ir::Coeff* row_stride(const ir::Kernel& k, const ir::Access& a) {
  for (const ir::Term& t : a.terms)
    if (t.var == k.loops[0].var) return &t.stride;
  return nullptr;
}

}  // namespace

std::vector<Tile> find_tiles(const ir::Kernel& k, const Nest& n) {
  std::vector<Tile> tiles(k.buffers.size(), Tile::None);
  // Something has to be read more than once.
  if (n.chain.size() != 1 || k.loops.size() == 1) return tiles;
  std::vector<const ir::Coeff*> strides(k.buffers.size());
  std::vector<char> seen(k.buffers.size()), unfit(k.buffers.size()), looped(k.buffers.size());
  for (const Inst& i : k.insts) {
    if (i.op != Op::Load) continue;
    const auto b = static_cast<std::size_t>(i.index);
    const ir::Access& a = k.accesses[i.access];
    const ir::Coeff* stride = row_stride(k, a);
    if (!seen[b]) strides[b] = stride;
    if (seen[b] && (!stride != !strides[b] || (stride && !same(*stride, *strides[b]))))
      unfit[b] = 1;
    seen[b] = 1;
    for (const ir::Term& t : a.terms) {
      const Inst& v = k.insts[t.var];
      if (known(k, t.var) || t.var == k.loops[0].var) continue;
      looped[b] = 1;
      const ir::Loop& l = k.loops[v.index];
      if (v.op != Op::Var || l.begin != kNone || !known(k, l.end)) unfit[b] = 1;
    }
  }
  std::size_t found = 0;
  for (std::size_t b = 0; b < tiles.size(); ++b)
    if (seen[b] && looped[b] && !unfit[b] && !k.buffers[b].written && found++ < kMostTiles)
      tiles[b] = strides[b] ? Tile::Rows : Tile::Whole;
  return tiles;
}

TileShape shape_of(const ir::Kernel& k, const Nest& n, std::size_t buffer,
                   const std::int64_t* params) {
  const auto item = static_cast<std::int64_t>(itemsize(k.buffers[buffer].dtype));
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  TileShape shape;
  for (const Inst& i : k.insts) {
    if (i.op != Op::Load || static_cast<std::size_t>(i.index) != buffer) continue;
    const ir::Access& a = k.accesses[i.access];
    std::int64_t first = number(a.offset, params), last = first;
    for (const ir::Term& t : a.terms) {
      const std::int64_t stride = number(t.stride, params);
      if (t.var == k.loops[0].var) {
        shape.stride = stride;
      } else if (known(k, t.var)) {
        first += value_of(k, t.var, params) * stride;
        last += value_of(k, t.var, params) * stride;
      } else {
        const std::int64_t count = value_of(k, k.loops[k.insts[t.var].index].end, params);
        if (count <= 0 || stride < 0 || stride % item != 0) return {};
        last += (count - 1) * stride;
      }
    }
    low = std::min(low, first);
    high = std::max(high, last + item);
  }
  shape.low = low;
  shape.bytes = high - low;
  shape.pitch = shape.bytes + (shape.bytes / item % 2 == 0 ? item : 0);
  // Rows that overlap or lie far apart are no block's to copy.
  if (n.tiles[buffer] == Tile::Rows &&
      (shape.stride < shape.bytes || shape.stride > 2 * shape.bytes))
    return {};
  return shape;
}

std::int64_t tile_bytes(const ir::Kernel& k, const Nest& n, const Mapping& m,
                        const std::int64_t* params, std::int64_t threads) {
  std::int64_t total = 0;
  for (std::size_t b = 0; b < k.buffers.size(); ++b) {
    const bool rows = n.tiles[b] == Tile::Rows;
    if (n.tiles[b] == Tile::None || (rows ? !m.row_tiles : !m.whole_tiles)) continue;
    const TileShape shape = shape_of(k, n, b, params);
    if (shape.bytes == 0) return 0;
    total += ((rows ? shape.pitch * threads : shape.bytes) + 15) / 16 * 16;
  }
  return total;
}

}  // namespace plait::cuda
