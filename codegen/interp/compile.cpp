#include "compiler.hpp"
#include "core/replaceable.hpp"
#include "ir/edit.hpp"
#include "ir/one_thread.hpp"
#include "sequential.hpp"

namespace plait::interp {

loops::LoopFn elementwise_loop(OpId op, DType t, CpuTier tier) {
  loops::LoopFn fn = loops::elementwise(op, t, tier);
  if (!fn)
    throw InternalError("interpreter: no loop for " + std::string(op_info(op).name) + " of " +
                        std::string(name(t)));
  return fn;
}

loops::LoopFn join_loop(ReduceKind kind, DType t, CpuTier tier) {
  loops::LoopFn fn = loops::join(kind, t, tier);
  if (!fn) throw InternalError("interpreter: nothing joins folds of " + std::string(name(t)));
  return fn;
}

loops::LoopFn cast_loop(DType from, DType to, CpuTier tier) {
  loops::LoopFn fn = loops::cast(from, to, tier);
  if (!fn)
    throw InternalError("interpreter: no cast from " + std::string(name(from)) + " to " +
                        std::string(name(to)));
  return fn;
}

// NumPy sums and multiplies float16 in float32; comparing it there changes nothing.
DType accumulator_type(ReduceKind k, DType t) {
  const bool wide = reduce_info(k).has(kOrderShows) || is_arg(k);
  return t == DType::Float16 && wide ? DType::Float32 : t;
}

namespace {

bool inexact(DType t) { return is_float(t) || is_complex(t); }
bool is_tree(const ir::Kernel& k, const ir::Reduction& r) {
  return r.order == ir::Order::Pairwise && inexact(k.insts[r.value].type);
}

// Here tiles are the lanes.
ir::Kernel lanes_along_tiles(ir::Kernel k) {
  if (std::any_of(k.loops.begin(), k.loops.end(), [](const ir::Loop& l) { return l.tile; }))
    for (std::size_t l = 0; l < k.loops.size(); ++l)
      ir::set_lanes(k, static_cast<std::int32_t>(l), k.loops[l].tile);
  return k;
}

// The tiles of a vector loop can follow one tree only. Real and complex sums have different ones;
// a loop with both runs an iteration at a time.
ir::Kernel one_tree_a_loop(ir::Kernel k) {
  for (std::size_t n = 0; n < k.loops.size(); ++n) {
    ir::Loop& l = k.loops[n];
    bool real = false, complex = false;
    for (const ir::Reduction& r : l.reductions)
      if (is_tree(k, r)) (is_complex(k.insts[r.value].type) ? complex : real) = true;
    if (real && complex) ir::set_lanes(k, static_cast<std::int32_t>(n), false);
  }
  return k;
}

}  // namespace

FoldKind fold_kind(const ir::Kernel& k, std::int32_t loop, std::size_t n) {
  const ir::Reduction& r = k.loops[static_cast<std::size_t>(loop)].reductions[n];
  return ir::running(k, loop, n) != kNone ? FoldKind::Running
         : is_arg(r.kind)                 ? FoldKind::Arg
         : is_tree(k, r)                  ? FoldKind::Tree
         : r.kind == ReduceKind::Last     ? FoldKind::Last
                                          : FoldKind::Combine;
}

void join_values(Fold& f, ReduceKind kind, DType t, CpuTier tier) {
  // 1 * (inf + 0j) is not inf, and the identity of fmin is no value that every other replaces.
  f.starts_with_value = !(kind == ReduceKind::Prod && is_complex(t)) && kind != ReduceKind::FMin &&
                        kind != ReduceKind::FMax;
  f.identity = fold_identity(kind, t);
  f.combine = join_loop(kind, t, tier);
}

Compiler::Compiler(const ir::Kernel& k, CpuTier tier, const std::vector<SharedTiles>& shared)
    : k_(one_tree_a_loop(k)), a_(analyse(k_, shared)), live_(k_, a_), tier_(tier) {
  p_.shared = shared;
}

Program Compiler::run() {
  p_.regs.resize(k_.insts.size());
  p_.loops.resize(k_.loops.size());
  for (const ir::Local& l : k_.locals) p_.locals.push_back({l.count, 0});
  block(0, {});
  for (const SharedTiles& s : p_.shared) p_.loops[s.outer].row = s.row;
  finish();
  return std::move(p_);
}

// Registers of a loop's accumulators. They live from here to the last use of the result, so their
// tiles are taken before the body's.
std::vector<Fold> Compiler::accumulators(Block& b, std::int32_t position, Val reduce) {
  const ir::Loop& loop = k_.loops[k_.insts[reduce].index];
  std::vector<std::int32_t> last(loop.reductions.size(), position);
  for (Val u = 0; u < k_.insts.size(); ++u) {
    const ir::Inst& use = k_.insts[u];
    if (use.op != Op::Result || use.operands[0] != reduce) continue;
    auto end = static_cast<std::int32_t>(b.expire.size()) - 1;
    last[use.index] = std::max(last[use.index], a_.block[u] == b.loop ? live_.last_use(u) : end);
  }
  std::vector<Fold> folds;
  for (std::size_t n = 0; n < loop.reductions.size(); ++n) {
    const ir::Reduction& r = loop.reductions[n];
    DType t = accumulator_type(r.kind, k_.insts[r.value].type);
    Fold f{.kind = fold_kind(k_, k_.insts[reduce].index, n)};
    f.tile = a_.folds_apart(k_.insts[reduce].index, r) && !loop.lanes();
    if (r.init != kNone) f.init = reg(r.init);
    f.itemsize = static_cast<std::uint8_t>(itemsize(t));
    f.shape.complex = is_complex(t);
    f.acc = new_reg(slot(f.tile, t));
    if (f.kind == FoldKind::Arg) {
      expire(b, position, f.acc);
      f.index = new_reg(slot(f.tile, DType::Int64));
    }
    if (f.kind == FoldKind::Tree) {
      f.tree = p_.trees++;
      for (int way = 1; way < f.shape.accumulators() && !loop.lanes(); ++way)
        expire(b, position, new_reg(slot(f.tile, t)));  // consecutive with acc
      for (int open = 0; open < TreeWalk::kMaxSums; ++open) {
        RegId sum = new_reg(f.tile ? cold_tile(t) : scalar());
        if (open == 0) f.sums = sum;
      }
    }
    expire(b, last[n], f.kind == FoldKind::Arg ? f.index : f.acc);
    folds.push_back(f);
  }
  return folds;
}

// A value that an operation of this body computes can be computed in an accumulator's place.
void Compiler::find_own_place(const Block& b, Fold& f, const std::vector<Fold>& before) {
  if (k_.loops[b.loop].lanes()) return;
  bool computed = std::any_of(b.code.begin(), b.code.end(), [&](const Instr& i) {
    return i.code == Code::Call && i.access < 0 && i.out == f.value;
  });
  bool taken = std::any_of(before.begin(), before.end(),
                           [&](const Fold& o) { return &o < &f && o.value == f.value; });
  if (computed && !taken) f.own = new_reg(RegCode(p_.regs[f.value]));
}

// At the end of a loop's body: what the reduction compares or adds, and how.
void Compiler::complete(Block& b, Fold& f, const ir::Reduction& r) {
  DType t = k_.insts[r.value].type;
  bool varies = a_.varies[r.value] != 0, vector = k_.loops[b.loop].lanes();
  f.value = reg(r.value);
  if (f.kind == FoldKind::Last) return;
  if (f.kind == FoldKind::Running) {
    f.identity = fold_identity(r.kind, t);
    return;
  }
  auto convert = [&](loops::LoopFn fn, DType to) {
    Instr c{.code = Code::Call, .tile = varies, .inputs = 1, .in = {f.value, kNoReg, kNoReg}};
    c.fn = fn;
    c.out = f.value = new_reg(slot(varies, to));
    expire(b, static_cast<std::int32_t>(b.expire.size()) - 1, c.out);
    b.code.push_back(c);
    t = to;
  };
  // Lanes that each keep their own best compare values, and roots on near ties only.
  bool by_value = !vector && t != DType::Float16;
  if (r.guarded_sqrt && !by_value) convert(elementwise(OpId::Sqrt, t), t);
  if (DType wide = accumulator_type(r.kind, t); wide != t) convert(cast(t, wide), wide);

  f.starts_with_value = true;
  if (f.kind == FoldKind::Arg) {
    f.arg_step = arg_tile(r.kind, t, r.guarded_sqrt && by_value, tier_);
    if (vector) f.arg_reduce = loops::arg_reduce(r.kind, t, tier_);
    if (vector && !f.arg_reduce) throw InternalError("interpreter: no arg-reduction");
    return;
  }
  join_values(f, r.kind, t, tier_);
  if (!vector) return;
  const bool sequential =
      f.kind == FoldKind::Combine && inexact(t) && reduce_info(r.kind).has(kOrderShows);
  f.reduce = sequential ? sequential_fold(r.kind, t) : loops::reduce(r.kind, t, tier_);
  if (!f.reduce) throw InternalError("interpreter: no reduction");
}

// A serial loop's fold is the value itself: nothing of an iteration outlives it.
void Compiler::running(Block& b, std::int32_t position, Val v) {
  const ir::Reduction& r = k_.loops[b.loop].reductions[k_.insts[v].index];
  const Fold& f = (*b.folds)[k_.insts[v].index];
  const DType t = k_.insts[v].type;
  if (k_.loops[b.loop].lanes()) {
    p_.regs[v] = tile(t);
    expire(b, std::max(position, live_.last_use(v)), reg(v));
    b.code.push_back({.code = Code::Scan,
                      .tile = true,
                      .inputs = 2,
                      .in = {reg(r.value), f.acc, kNoReg},
                      .out = reg(v),
                      .scan = running_fold(r.kind, t)});
    return;
  }
  p_.regs[v] = p_.regs[f.acc];
  Instr c{.code = Code::Call, .tile = f.tile, .inputs = 2, .in = {f.acc, reg(r.value), kNoReg}};
  // An extremum gives its first operand where they are equal.
  if (reduce_info(r.kind).has(kSelects)) std::swap(c.in[0], c.in[1]);
  c.fn = join(r.kind, t);
  c.out = f.acc;
  b.code.push_back(c);
}

void Compiler::result(Block& b, std::int32_t position, Val v) {
  const ir::Inst& i = k_.insts[v];
  const LoopCode& l = p_.loops[k_.insts[i.operands[0]].index];
  const Fold& f = p_.folds[l.first_fold + i.index];
  const RegCode& from = p_.regs[f.kind == FoldKind::Arg ? f.index : f.acc];
  if (i.type != DType::Float16 || f.itemsize == itemsize(i.type)) {
    p_.regs[v] = from;
    return;
  }
  p_.regs[v] = slot(a_.varies[v], i.type);
  expire(b, std::max(position, live_.last_use(v)), reg(v));
  b.code.push_back({.code = Code::Call,
                    .tile = a_.varies[v] != 0,
                    .inputs = 1,
                    .in = {f.acc, kNoReg, kNoReg},
                    .out = reg(v),
                    .fn = cast(DType::Float32, DType::Float16)});
}

void Compiler::item(Block& b, std::int32_t position, Val v) {
  const ir::Inst& i = k_.insts[v];
  auto keep = [&](RegCode r) {
    p_.regs[v] = r;
    expire(b, std::max(position, live_.last_use(v)), reg(v));
  };
  switch (i.op) {
    case Op::Const:
      p_.consts.push_back(i.imm);
      p_.regs[v] = {Home::Const, static_cast<std::int32_t>(p_.consts.size() - 1), 0};
      return;
    case Op::Param:
      p_.regs[v] = {Home::Param, i.index, 0};
      return;
    case Op::Arg:
      p_.regs[v] = {Home::Arg, i.index, 0};
      return;
    case Op::Var:
      return;
    case Op::Apply:
    case Op::Cast: {
      Instr c = call(v);
      release_dying(b, position, c, i.type);
      keep(slot(c.tile, i.type));
      b.code.push_back(c);
      return;
    }
    case Op::Load:
    case Op::LoadLocal:
      return load(b, position, v);
    case Op::Gather:
      return gather(b, position, v);
    case Op::Store:
    case Op::StoreLocal:
      return store(b, v);
    case Op::Scatter:
      return scatter(b, i);
    case Op::For:
    case Op::Reduce: {
      std::vector<Fold> folds;
      if (i.op == Op::Reduce) folds = accumulators(b, position, v);
      block(i.index, std::move(folds));
      b.code.push_back({.code = Code::Loop, .loop = i.index});
      return;
    }
    case Op::Result:
      return result(b, position, v);
    case Op::Fragment:
      return fragment(b, i);
    case Op::Running:
      return running(b, position, v);
    case Op::Carried:
      p_.regs[v] = p_.regs[(*b.folds)[i.index].acc];
      return;
    case Op::Barrier:
    case Op::AsyncCopy:
      return;  // not of one thread
    case Op::Break:
    case Op::Overflows:
    case Op::External:
      return;  // of sequential kernels alone
  }
}

// A result may take the tile of an operand that dies with it, when their elements lie exactly on
// each other.
void Compiler::release_dying(Block& b, std::int32_t position, const Instr& c, DType t) {
  if (!c.tile) return;
  auto& dying = b.expire[position];
  for (int k = 0; k < c.inputs; ++k) {
    auto at = std::find(dying.begin(), dying.end(), c.in[k]);
    if (at == dying.end() || p_.regs[*at].stride != static_cast<std::int64_t>(itemsize(t)))
      continue;
    release(*at);
    dying.erase(at);
  }
}

void Compiler::block(std::int32_t index, std::vector<Fold> folds) {
  const ir::Loop& loop = k_.loops[index];
  const auto& items = live_.items(index);
  // One position past the items: the reductions.
  Block b{index,
          {},
          std::vector<std::vector<RegId>>(items.size() + 1),
          a_.vector_loop[index] >= 0,
          &folds};
  LoopCode l;
  l.vector = loop.lanes();
  l.stops_at = ir::deciding_value(k_, index);
  if (loop.begin != kNone) l.begin = reg(loop.begin);
  if (loop.end != kNone) l.end = reg(loop.end);
  p_.regs[loop.var] = scalar();
  l.var = reg(loop.var);
  if (loop.lanes()) {
    l.var = new_reg(p_.regs[loop.var]);
    if (live_.used_as_value(loop.var)) {
      p_.regs[loop.var] = tile(DType::Int64);
      expire(b, live_.last_use(loop.var), reg(loop.var));
      b.code.push_back({.code = Code::Iota,
                        .tile = true,
                        .inputs = 1,
                        .in = {l.var, kNoReg, kNoReg},
                        .out = reg(loop.var)});
    }
  }
  p_.loops[index] = l;
  for (std::size_t n = 0; n <= items.size(); ++n) {
    if (n < items.size())
      item(b, static_cast<std::int32_t>(n), items[n]);
    else
      for (std::size_t r = 0; r < folds.size(); ++r) {
        complete(b, folds[r], loop.reductions[r]);
        if (folds[r].kind != FoldKind::Running && folds[r].kind != FoldKind::Last)
          find_own_place(b, folds[r], folds);
      }
    for (RegId r : b.expire[n]) release(r);
  }
  for (const Fold& f : folds)
    if (loop.lanes() && f.kind == FoldKind::Tree) {
      l.by_tree = true;
      l.shape = f.shape;
    }
  l.first = static_cast<std::int32_t>(p_.code.size());
  p_.code.insert(p_.code.end(), b.code.begin(), b.code.end());
  l.last = static_cast<std::int32_t>(p_.code.size());
  l.first_fold = static_cast<std::int32_t>(p_.folds.size());
  p_.folds.insert(p_.folds.end(), folds.begin(), folds.end());
  l.last_fold = static_cast<std::int32_t>(p_.folds.size());
  p_.loops[index] = l;
}

void Compiler::finish() {
  // Half of a common L1; whole leaves of a summation tree have to fit (128).
  constexpr std::size_t kBudget = 24 << 10, kMost = 512, kLeast = 128;
  std::size_t fit = kBudget / (widest_ * std::max(1, p_.tiles));
  p_.lanes = static_cast<int>(std::clamp(fit / 64 * 64, kLeast, kMost));
  // The odd cache line keeps tiles from sharing cache sets.
  p_.tile_bytes = p_.lanes * widest_ + 64;
  for (std::size_t l = 0; l < k_.locals.size(); ++l)
    p_.locals[l].bytes = static_cast<std::int64_t>(itemsize(k_.locals[l].dtype)) *
                         (a_.per_lane(k_.locals[l]) ? p_.lanes : 1);
  std::size_t at = 0;
  auto part = [&](std::size_t bytes) {
    std::size_t begin = at;
    at += (bytes + 63) / 64 * 64;
    return begin;
  };
  part(p_.regs.size() * sizeof(Reg));
  p_.layout.addresses = part(p_.accesses.size() * sizeof(Address));
  p_.layout.terms = part(p_.terms.size() * sizeof(Term));
  p_.layout.trees = part(p_.trees * sizeof(Tree));
  p_.layout.scalars = part(p_.scalars * sizeof(Scalar::bytes));
  p_.layout.tiles = part(p_.tiles * p_.tile_bytes);
  p_.layout.cold = part(p_.cold_tiles * p_.tile_bytes);
  p_.layout.locals = at;
}

Program compile(const ir::Kernel& k, CpuTier tier, const std::vector<SharedTiles>& shared) {
  return Compiler(k, tier, shared).run();
}

PLAIT_REPLACEABLE std::shared_ptr<const Program> prepare(const ir::Kernel& kernel, CpuTier tier) {
  if (kernel.sequential) {
#ifdef PLAIT_CHECKS
    ir::verify(kernel);
#endif
    Program p;
    p.sequential = std::make_shared<const Sequential>(compile_sequential(kernel, tier));
    return std::make_shared<const Program>(std::move(p));
  }
  const ir::Kernel k = lanes_along_tiles(ir::on_one_thread(kernel));
#ifdef PLAIT_CHECKS
  ir::verify(k);
#endif
  Program p = compile(k, tier);
  std::vector<ir::Local> rows;
  ir::Kernel kept = keep_rows(k, rows);
  if (!rows.empty()) {
#ifdef PLAIT_CHECKS
    ir::verify(kept);
#endif
    auto q = std::make_shared<const Program>(compile(kept, tier));
    for (const ir::Local& l : rows)
      p.rows.push_back({l.count, static_cast<std::int64_t>(itemsize(l.dtype)) * q->lanes});
    p.with_rows = std::move(q);
  }
  std::vector<SharedTiles> shared;
  if (ir::Kernel joined = share_tiles(k, shared); !shared.empty())
    p.with_shared_tiles = std::make_shared<const Program>(compile(joined, tier, shared));
  return std::make_shared<const Program>(std::move(p));
}

}  // namespace plait::interp
