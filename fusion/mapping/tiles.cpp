#include "tiles.hpp"

#include <algorithm>

namespace plait::mapping {

namespace {

// The stride of an access along the flattened loop; null when it does not move with it.
const ir::Coeff* row_stride(const ir::Kernel& k, const ir::Access& a) {
  for (const ir::Term& t : a.terms)
    if (t.var == k.loops[0].var) return &t.stride;
  return nullptr;
}

// Whether the loop starts at 0 and its end is known, as all threads of a block have to know it.
bool plain(const ir::Kernel& k, std::int32_t loop) {
  return k.loops[loop].begin == kNone && known(k, k.loops[loop].end);
}

const ir::Coeff* stride_along(const ir::Kernel& k, const ir::Access& a, std::int32_t loop) {
  for (const ir::Term& t : a.terms)
    if (t.var == k.loops[loop].var) return &t.stride;
  return nullptr;
}

// The first load of a buffer that moves with the loop; kNone when none does.
Val load_along(const ir::Kernel& k, std::int32_t loop, std::size_t buffer) {
  for (Val v : loads_of(k, buffer))
    if (stride_along(k, k.accesses[k.insts[v].access], loop)) return v;
  return kNone;
}

// Whether an access moves with a loop under `loop`, one of those that loops_under() gave for it.
bool moves_under(const ir::Kernel& k, const ir::Access& a, std::int32_t loop,
                 const std::vector<char>& under) {
  return std::any_of(a.terms.begin(), a.terms.end(), [&](const ir::Term& t) {
    const Inst& v = k.insts[t.var];
    return v.op == Op::Var && v.index != loop && under[v.index];
  });
}

// Whether every tile that moves with the loop may come in pieces along it, and there is one.
bool can_stream(const ir::Kernel& k, const NestFacts& n, std::int32_t loop) {
  const std::vector<char> under = loops_under(k, loop);
  bool any = false;
  for (std::size_t b = 0; b < k.buffers.size(); ++b) {
    if (n.tiles[b] == Tile::None || load_along(k, loop, b) == kNone) continue;
    any = true;
    const std::vector<Val> loads = loads_of(k, b);
    const ir::Coeff* stride =
        stride_along(k, k.accesses[k.insts[load_along(k, loop, b)].access], loop);
    for (Val load : loads) {
      bool within = false;
      for (std::size_t l = 0; l < k.loops.size(); ++l)
        if (under[l]) {
          const auto& body = k.loops[l].body;
          within |= std::find(body.begin(), body.end(), load) != body.end();
        }
      const ir::Access& a = k.accesses[k.insts[load].access];
      const ir::Coeff* own = stride_along(k, a, loop);
      if (!within || !own || !same(*own, *stride)) return false;
      // Several loads take an element each of an iteration, and so does a thread of its row.
      if ((loads.size() > 1 || n.tiles[b] == Tile::Rows) && moves_under(k, a, loop, under))
        return false;
    }
    // A thread's row comes as elements that lie side by side.
    if (n.tiles[b] == Tile::Rows &&
        (loads.size() > 1 ||
         !same(*stride, {static_cast<std::int64_t>(itemsize(k.buffers[b].dtype))})))
      return false;
  }
  return any;
}

void add_streams(const ir::Kernel& k, const NestFacts& n, std::int32_t loop,
                 std::vector<std::int32_t>& found) {
  for (Val v : k.loops[loop].body) {
    if (!opens_loop(k.insts[v])) continue;
    const std::int32_t l = k.insts[v].index;
    if (!plain(k, l)) continue;
    if (can_stream(k, n, l)) found.push_back(l);
    add_streams(k, n, l, found);
  }
}

}  // namespace

std::vector<char> loops_under(const ir::Kernel& k, std::int32_t l) {
  std::vector<char> under(k.loops.size());
  std::vector<std::int32_t> stack{l};
  while (!stack.empty()) {
    const std::int32_t at = stack.back();
    stack.pop_back();
    under[at] = 1;
    for (Val v : k.loops[at].body)
      if (opens_loop(k.insts[v])) stack.push_back(k.insts[v].index);
  }
  return under;
}

std::vector<Val> loads_of(const ir::Kernel& k, std::size_t buffer) {
  std::vector<Val> loads;
  for (std::size_t v = 0; v < k.insts.size(); ++v)
    if (k.insts[v].op == Op::Load && static_cast<std::size_t>(k.insts[v].index) == buffer)
      loads.push_back(static_cast<Val>(v));
  return loads;
}

std::vector<std::int32_t> find_streams(const ir::Kernel& k, const NestFacts& n) {
  std::vector<std::int32_t> found;
  if (std::any_of(n.tiles.begin(), n.tiles.end(), [](Tile t) { return t != Tile::None; }))
    add_streams(k, n, n.chain.back(), found);
  return found;
}

Val piece_load(const ir::Kernel& k, const NestFacts& n, const Mapping& m, std::size_t buffer) {
  return m.streamed < 0 || n.tiles[buffer] == Tile::None ? kNone
                                                         : load_along(k, m.streamed, buffer);
}

std::int32_t piece_rows(const ir::Kernel& k, const Mapping& m, Val load) {
  const ir::Access& a = k.accesses[k.insts[load].access];
  if (!same(*stride_along(k, a, m.streamed),
            {static_cast<std::int64_t>(itemsize(k.insts[load].type))}))
    return -1;
  const std::vector<char> under = loops_under(k, m.streamed);
  std::int32_t across = -1;
  for (const ir::Term& t : a.terms)
    if (const Inst& v = k.insts[t.var];
        v.op == Op::Var && v.index != m.streamed && under[v.index]) {
      if (across >= 0) return -1;
      across = v.index;
    }
  return across;
}

std::vector<Tile> find_tiles(const ir::Kernel& k, const NestFacts& n) {
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

namespace {

// What the loads of a buffer reach, within a row of it or in all. Of pieces: what the loops under
// the streamed one do.
TileShape shape_of(const ir::Kernel& k, const NestFacts& n, const Mapping& m, std::size_t buffer,
                   const std::int64_t* params) {
  const auto item = static_cast<std::int64_t>(itemsize(k.buffers[buffer].dtype));
  const Val piece = piece_load(k, n, m, buffer);
  const bool rows = n.tiles[buffer] == Tile::Rows;
  const std::vector<char> under = loops_under(k, piece == kNone ? 0 : m.streamed);
  std::int64_t low = INT64_MAX, high = INT64_MIN, along = 0;
  TileShape shape;
  for (const Inst& i : k.insts) {
    if (i.op != Op::Load || static_cast<std::size_t>(i.index) != buffer) continue;
    const ir::Access& a = k.accesses[i.access];
    std::int64_t first = number(a.offset, params), last = first;
    for (const ir::Term& t : a.terms) {
      const std::int64_t stride = number(t.stride, params);
      const Inst& v = k.insts[t.var];
      if (t.var == k.loops[0].var) {
        shape.stride = stride;
      } else if (known(k, t.var)) {
        first += value_of(k, t.var, params) * stride;
        last += value_of(k, t.var, params) * stride;
      } else if (piece != kNone && v.index == m.streamed) {
        along = stride;
      } else if (under[v.index]) {
        const std::int64_t count = value_of(k, k.loops[v.index].end, params);
        if (count <= 0 || stride < 0 || stride % item != 0) return {};
        last += (count - 1) * stride;
      }
    }
    low = std::min(low, first);
    high = std::max(high, last + item);
  }
  shape.low = low;
  shape.bytes = high - low;
  if (piece != kNone) {
    if (rows) return shape.stride < item ? TileShape{} : shape;
    if (const auto loads = static_cast<std::int64_t>(loads_of(k, buffer).size()); loads > 1)
      return {low, loads * item, 0, along};
    if (const std::int32_t across = piece_rows(k, m, piece); across >= 0) {
      const ir::Access& a = k.accesses[k.insts[piece].access];
      shape.bytes = value_of(k, k.loops[across].end, params) * item;
      shape.stride = number(*stride_along(k, a, across), params);
      return shape;
    }
    shape.stride = along;
    shape.pitch = shape.bytes;
    return along < shape.bytes ? TileShape{} : shape;
  }
  shape.pitch = shape.bytes + (shape.bytes / item % 2 == 0 ? item : 0);
  // Rows that overlap or lie far apart are no block's to copy.
  if (rows && (shape.stride < shape.bytes || shape.stride > 2 * shape.bytes)) return {};
  return shape;
}

std::int64_t padded(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

// The fewest iterations that are worth a piece: a sum in NumPy's order has leaves.
std::int64_t least_piece(const ir::Kernel& k, std::int32_t loop) {
  if (!is_light_sum(k, loop)) return 8;
  for (const ir::Reduction& r : k.loops[loop].reductions)
    if (is_tree(k, r) && is_complex(k.insts[r.value].type)) return 64;
  return 128;
}

}  // namespace

Tiles lay_out_tiles(const ir::Kernel& k, const NestFacts& n, const Mapping& m,
                    const GpuMachine& gpu, const std::int64_t* params, std::int64_t threads) {
  Tiles all;
  all.shapes.resize(k.buffers.size());
  all.at.resize(k.buffers.size());
  const std::int64_t most = shared_bytes(gpu, 2);
  std::int64_t whole = 0, an_iteration = 0;
  const auto each = [&](auto f) {
    for (std::size_t b = 0; b < k.buffers.size(); ++b) {
      const bool rows = n.tiles[b] == Tile::Rows;
      if (n.tiles[b] != Tile::None && (rows ? m.row_tiles : m.whole_tiles))
        f(b, all.shapes[b], rows, piece_load(k, n, m, b) != kNone,
          static_cast<std::int64_t>(itemsize(k.buffers[b].dtype)));
    }
  };
  bool suits = true;
  each([&](std::size_t b, TileShape& s, bool rows, bool piece, std::int64_t item) {
    s = shape_of(k, n, m, b, params);
    suits &= s.bytes > 0;
    if (!piece) {
      whole += padded(rows ? s.pitch * threads : s.bytes);
    } else {
      an_iteration += rows ? item * threads : s.bytes;
      whole += 16 + (rows ? item * threads : 0);  // what padding may take
    }
  });
  if (!suits) return all;
  if (m.streamed >= 0) {
    const std::int64_t trips = value_of(k, k.loops[m.streamed].end, params);
    if (an_iteration == 0 || trips <= 0 || whole >= most) return all;
    all.piece = std::min(trips, (most - whole) / an_iteration);
    if (all.piece < std::min(trips, least_piece(k, m.streamed))) return all;
  }
  each([&](std::size_t b, TileShape& s, bool rows, bool piece, std::int64_t item) {
    const std::int64_t total = piece ? s.bytes * all.piece : s.bytes;
    if (piece && rows) {
      s.bytes = all.piece * item;
      s.pitch = s.bytes + (all.piece % 2 == 0 ? item : 0);
    } else if (piece && s.pitch == 0) {  // a part of each row
      s.pitch = all.piece * item;
    }
    all.at[b] = all.bytes;
    all.bytes += padded(rows ? s.pitch * threads : total);
  });
  return all;
}

}  // namespace plait::mapping
