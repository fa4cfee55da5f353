#include <algorithm>
#include <new>

#include "codegen/loops/gather.hpp"
#include "core/replaceable.hpp"
#include "sequential.hpp"

namespace plait::interp {
namespace {

void run_loop(const Frame& f, const LoopCode& l, std::int64_t begin, std::int64_t end,
              std::int64_t lanes);

// Whether all lanes lie equally far apart, those of several rows as those of one.
bool is_regular(const Frame& f, const Address& a) {
  return f.row == 0 || a.row_stride == f.row * a.lane_stride;
}

// visit(address, first lane, lanes) for the lanes of a tile, or for each row of them where the rows
// do not follow each other in memory.
template <class Visit>
void by_rows(const Frame& f, std::int32_t access, std::int64_t n, Visit visit) {
  const Address& a = f.addresses[access];
  char* at = f.address(access);
  if (is_regular(f, a)) return visit(at, 0, n);
  for (std::int64_t first = 0; first < n; first += f.row, at += a.row_stride)
    visit(at, first, f.row);
}

void call(const Frame& f, const Instr& i, std::int64_t n) {
  void* args[4];
  std::int64_t strides[4];
  for (int k = 0; k < i.inputs; ++k) {
    args[k] = f.regs[i.in[k]].ptr;
    strides[k] = f.regs[i.in[k]].stride;
  }
  if (i.access < 0) {
    args[i.inputs] = f.regs[i.out].ptr;
    strides[i.inputs] = f.regs[i.out].stride;
    return i.fn(args, strides, n);
  }
  strides[i.inputs] = f.addresses[i.access].lane_stride;
  by_rows(f, i.access, n, [&](char* at, std::int64_t first, std::int64_t count) {
    args[i.inputs] = at;
    if (first > 0)
      for (int k = 0; k < i.inputs; ++k) args[k] = static_cast<char*>(args[k]) + count * strides[k];
    i.fn(args, strides, count);
  });
}

void load(const Frame& f, const Instr& i, std::int64_t n) {
  const Address& a = f.addresses[i.access];
  std::int64_t stride = i.tile ? a.lane_stride : 0;
  Reg& out = f.regs[i.out];
  bool aliases =
      i.copy == CopyRule::Never || (i.copy == CopyRule::WhenStrided &&
                                    (stride == i.itemsize || stride == 0) && is_regular(f, a));
  if (aliases) {
    out = {f.address(i.access), stride};
    return;
  }
  // in[0] is the load's own slot; `out` may still point to memory from an earlier tile.
  out = f.regs[i.in[0]];
  if (n == 1 || is_regular(f, a))
    copy(out.ptr, out.stride, f.address(i.access), stride, n, i.itemsize);
  else
    copy_rows(out.ptr, f.address(i.access), a.row_stride, stride, n / f.row, f.row, i.itemsize);
}

void gather(const Frame& f, const Instr& i, std::int64_t n) {
  const Reg &index = f.regs[i.in[0]], &out = f.regs[i.out];
  by_rows(f, i.access, n, [&](char* at, std::int64_t first, std::int64_t count) {
    loops::gather(out.ptr + first * out.stride, out.stride,
                  {.base = at,
                   .lane_stride = f.addresses[i.access].lane_stride,
                   .stride = f.integer(i.in[1]),
                   .index = index.ptr + first * index.stride,
                   .index_stride = index.stride},
                  count, i.itemsize);
  });
}

void scatter(const Frame& f, const Instr& i, std::int64_t n) {
  const Reg &index = f.regs[i.in[0]], &value = f.regs[i.in[2]];
  by_rows(f, i.access, n, [&](char* at, std::int64_t first, std::int64_t count) {
    i.scatter({.out = at,
               .out_stride = f.addresses[i.access].lane_stride,
               .step = f.integer(i.in[1]),
               .index = index.ptr + first * index.stride,
               .index_stride = index.stride},
              value.ptr + first * value.stride, value.stride, count);
  });
}

void store(const Frame& f, const Instr& i, std::int64_t n) {
  const Reg& in = f.regs[i.in[0]];
  by_rows(f, i.access, n, [&](char* at, std::int64_t first, std::int64_t count) {
    copy(at, f.addresses[i.access].lane_stride, in.ptr + first * in.stride, in.stride, count,
         i.itemsize);
  });
}

void multiply(const Frame& f, const FragmentCode& p) {
  const loops::Fragment fragment{f.address(p.a),     f.address(p.b),        f.address(p.c),
                                 f.integer(p.m),     f.integer(p.n),        f.integer(p.k),
                                 p.a_width,          f.integer(p.a_stride), f.integer(p.a_step),
                                 p.b_width,          f.integer(p.b_stride), f.integer(p.b_step),
                                 f.integer(p.c_row), f.integer(p.block)};
  p.fn(&fragment);
}

void execute(const Frame& f, std::int32_t first, std::int32_t last, std::int64_t lanes) {
  for (const Instr *i = f.p.code.data() + first, *end = f.p.code.data() + last; i != end; ++i) {
    std::int64_t n = i->tile ? lanes : 1;
    switch (i->code) {
      case Code::Call:
        call(f, *i, n);
        break;
      case Code::Load:
        load(f, *i, n);
        break;
      case Code::Gather:
        gather(f, *i, n);
        break;
      case Code::Store:
        store(f, *i, n);
        break;
      case Code::Scatter:
        scatter(f, *i, n);
        break;
      case Code::Iota:
        iota(reinterpret_cast<std::int64_t*>(f.regs[i->out].ptr), f.integer(i->in[0]), n);
        break;
      case Code::Fragment:
        multiply(f, f.p.fragments[i->fragment]);
        break;
      case Code::Scan: {
        const Reg &in = f.regs[i->in[0]], &out = f.regs[i->out];
        i->scan(f.regs[i->in[1]].ptr, in.ptr, in.stride, out.ptr, out.stride, n);
        break;
      }
      case Code::Loop: {
        const LoopCode& l = f.p.loops[i->loop];
        run_loop(f, l, l.begin == kNoReg ? 0 : f.integer(l.begin), f.integer(l.end), lanes);
        if (f.stopped()) return;
        break;
      }
    }
  }
}

void set_var(const Frame& f, const LoopCode& l, std::int64_t i) {
  *reinterpret_cast<std::int64_t*>(f.regs[l.var].ptr) = i;
}

void run_serial(const Frame& f, const LoopCode& l, std::int64_t begin, std::int64_t end,
                std::int64_t lanes) {
  const Fold* folds = f.p.folds.data();
  for (std::int32_t r = l.first_fold; r < l.last_fold; ++r)
    fold_start(f, folds[r], begin, end - begin, folds[r].tile ? lanes : 1);
  for (std::int64_t i = begin; i < end; ++i) {
    set_var(f, l, i);
    for (std::int32_t r = l.first_fold; r < l.last_fold; ++r) fold_prepare(f, folds[r], i == begin);
    execute(f, l.first, l.last, lanes);
    for (std::int32_t r = l.first_fold; r < l.last_fold; ++r)
      fold_step(f, folds[r], i, begin, folds[r].tile ? lanes : 1);
    if (f.stopped()) return;  // as the loops around this one do
  }
}

void run_tiles(const Frame& f, const LoopCode& l, std::int64_t begin, std::int64_t end) {
  const Fold* folds = f.p.folds.data();
  for (std::int32_t r = l.first_fold; r < l.last_fold; ++r) tile_start(f, folds[r], begin);
  if (begin >= end) return;
  TreeWalk walk;
  if (l.by_tree) walk.start(l.shape, end - begin, f.p.lanes);
  for (std::int64_t i = begin; i < end;) {
    std::int64_t n = l.by_tree ? walk.leaf() : std::min<std::int64_t>(f.p.lanes, end - i);
    set_var(f, l, i);
    execute(f, l.first, l.last, n);
    int joins = l.by_tree ? walk.joins() : 0;
    bool more = l.by_tree && walk.next();
    for (std::int32_t r = l.first_fold; r < l.last_fold; ++r)
      tile_step(f, folds[r], i, i == begin, n, joins, more);
    if (f.stopped()) return;
    if (l.stops_at && (*f.regs[folds[l.first_fold].acc].ptr != 0) == *l.stops_at) return;
    i += n;
  }
}

// As many rows a tile as fit, and about as many in each.
void run_rows(const Frame& f, const LoopCode& l, std::int64_t begin, std::int64_t end) {
  const LoopCode& row = f.p.loops[l.row];
  Frame rows = f;
  rows.row = f.integer(row.end);
  if (begin >= end || rows.row <= 0) return;
  const std::int64_t most = std::max<std::int64_t>(1, f.p.lanes / rows.row);
  const std::int64_t tiles = (end - begin + most - 1) / most;
  const std::int64_t step = (end - begin + tiles - 1) / tiles;
  set_var(f, row, 0);
  for (std::int64_t i = begin; i < end; i += step) {
    set_var(f, l, i);
    execute(rows, row.first, row.last, std::min(step, end - i) * rows.row);
    if (f.stopped()) return;
  }
}

void run_loop(const Frame& f, const LoopCode& l, std::int64_t begin, std::int64_t end,
              std::int64_t lanes) {
  if (l.row >= 0 && f.integer(f.p.loops[l.row].end) <= f.p.lanes / 2)
    run_rows(f, l, begin, end);
  else if (l.vector)
    run_tiles(f, l, begin, end);
  else
    run_serial(f, l, begin, end, lanes);
}

std::int64_t resolve(const ir::Coeff& c, const std::int64_t* params) {
  return c.param == ir::kNoParam ? c.value : params[c.param];
}

std::size_t align(std::size_t n) { return (n + 63) / 64 * 64; }

std::size_t local_bytes(const LocalCode& l, const std::int64_t* params) {
  return align(static_cast<std::size_t>(std::max<std::int64_t>(0, resolve(l.count, params))) *
               l.bytes);
}

char* home(const Program& p, const RegCode& r, const ir::CallArgs& args, char* scratch) {
  switch (r.home) {
    case Home::Scalar:
      return scratch + p.layout.scalars + sizeof(Scalar::bytes) * r.index;
    case Home::Tile:
      return scratch + p.layout.tiles + p.tile_bytes * r.index;
    case Home::ColdTile:
      return scratch + p.layout.cold + p.tile_bytes * r.index;
    // Loops take inputs as void*; nothing writes through these.
    case Home::Param:
      return reinterpret_cast<char*>(const_cast<std::int64_t*>(args.params + r.index));
    case Home::Arg:
      return reinterpret_cast<char*>(const_cast<unsigned char*>(args.scalars[r.index].bytes));
    case Home::Const:
      return reinterpret_cast<char*>(const_cast<unsigned char*>(p.consts[r.index].bytes));
    case Home::None:
      break;
  }
  return nullptr;
}

// Kept rows pay while they stay in L2, shared tiles where a row fills less than half of one.
const Program& choose(const Program& p, const ir::CallArgs& args) {
  constexpr std::size_t kMost = 384 << 10;
  if (const Program* s = p.with_shared_tiles.get())
    for (const SharedTiles& pair : s->shared)
      if (resolve(pair.count, args.params) <= s->lanes / 2) return *s;
  if (!p.with_rows) return p;
  std::size_t bytes = 0;
  for (const LocalCode& l : p.rows) {
    std::int64_t count = resolve(l.count, args.params);
    if (count > static_cast<std::int64_t>(kMost)) return p;
    bytes += local_bytes(l, args.params);
  }
  return bytes <= kMost ? *p.with_rows : p;
}

}  // namespace

PLAIT_REPLACEABLE std::size_t scratch_bytes(const Program& prepared, const ir::CallArgs& args) {
  if (prepared.sequential) return scratch_bytes(*prepared.sequential, args);
  const Program& p = choose(prepared, args);
  std::size_t n = p.layout.locals;
  for (const LocalCode& l : p.locals) n += local_bytes(l, args.params);
  return n;
}

PLAIT_REPLACEABLE void run(const Program& prepared, const ir::CallArgs& args, std::int64_t begin,
                           std::int64_t end, void* memory) {
  if (prepared.sequential) return run(*prepared.sequential, args, memory);
  const Program& p = choose(prepared, args);
  char* scratch = static_cast<char*>(memory);
  Frame f{p, reinterpret_cast<Reg*>(scratch),
          reinterpret_cast<Address*>(scratch + p.layout.addresses),
          reinterpret_cast<Tree*>(scratch + p.layout.trees), *args.stop};
  for (std::size_t r = 0; r < p.regs.size(); ++r)
    f.regs[r] = {home(p, p.regs[r], args, scratch), p.regs[r].stride};

  auto* terms = reinterpret_cast<Term*>(scratch + p.layout.terms);
  for (std::size_t a = 0; a < p.accesses.size(); ++a) {
    const AccessCode& c = p.accesses[a];
    std::int64_t unit = c.local ? p.locals[c.index].bytes : 1;
    char* base;
    if (c.local) {
      base = scratch + p.layout.locals;
      for (std::int32_t l = 0; l < c.index; ++l) base += local_bytes(p.locals[l], args.params);
    } else {
      base = static_cast<char*>(args.buffers[c.index]);
    }
    std::int64_t lane_stride = c.per_lane ? c.itemsize : 0, row_stride = 0;
    for (std::int32_t t = c.first_term; t < c.last_term; ++t) {
      std::int64_t stride = resolve(p.terms[t].stride, args.params) * unit;
      terms[t] = {p.terms[t].value, stride};
      if (p.terms[t].lane) lane_stride += stride;
      if (p.terms[t].row) row_stride += stride;
    }
    f.addresses[a] = {base + resolve(c.offset, args.params) * unit, lane_stride, row_stride,
                      terms + c.first_term, terms + c.last_term};
  }
  for (std::size_t t = 0; t < static_cast<std::size_t>(p.trees); ++t) new (&f.trees[t]) Tree;
  run_loop(f, p.loops[0], begin, end, 1);
}

}  // namespace plait::interp
