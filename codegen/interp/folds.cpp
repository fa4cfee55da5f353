#include "folds.hpp"

#include <cstring>

namespace plait::interp {
namespace {

// out = a + b (or what the fold combines with), over registers.
void combine(const Frame& f, const Fold& r, RegId a, RegId b, RegId out, std::int64_t n) {
  void* args[3] = {f.regs[a].ptr, f.regs[b].ptr, f.regs[out].ptr};
  std::int64_t strides[3] = {f.regs[a].stride, f.regs[b].stride, f.regs[out].stride};
  r.combine(args, strides, n);
}

void move(const Frame& f, const Fold& r, RegId from, RegId to, std::int64_t n) {
  copy(f.regs[to].ptr, f.regs[to].stride, f.regs[from].ptr, f.regs[from].stride, n, r.itemsize);
}

// The accumulator that the next value starts; kNoReg when it is combined with one.
RegId started(const Frame& f, const Fold& r, bool is_first) {
  if (r.kind != FoldKind::Tree) return is_first && r.starts_with_value ? r.acc : kNoReg;
  const Tree& t = f.trees[r.tree];
  const int ways = r.shape.accumulators();
  if (t.walk.leaf() < ways) return t.position == 0 ? r.acc : kNoReg;
  return t.position < ways ? static_cast<RegId>(r.acc + t.position) : kNoReg;
}

void start(const Frame& f, const Fold& r, RegId acc, std::int64_t n) {
  if (r.own == kNoReg) move(f, r, r.value, acc, n);
}

void fill(const Frame& f, const Fold& r, std::int64_t n) {
  copy(f.regs[r.acc].ptr, f.regs[r.acc].stride, reinterpret_cast<const char*>(r.identity.bytes), 0,
       n, r.itemsize);
}

void start_running(const Frame& f, const Fold& r, std::int64_t n) {
  if (r.init == kNoReg)
    fill(f, r, n);
  else
    move(f, r, r.init, r.acc, n);
}

void add(const Frame& f, const Fold& r, RegId acc, std::int64_t n) {
  combine(f, r, acc, r.value, acc, n);
}

// ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), into r0.
void join_accumulators(const Frame& f, const Fold& r, std::int64_t n) {
  for (int step = 1; step < r.shape.accumulators(); step *= 2)
    for (int i = 0; i < r.shape.accumulators(); i += 2 * step)
      combine(f, r, r.acc + i, r.acc + i + step, r.acc + i, n);
}

void tree_step(const Frame& f, const Fold& r, std::int64_t n) {
  Tree& t = f.trees[r.tree];
  const int ways = r.shape.accumulators();
  const std::int64_t leaf = t.walk.leaf(), main = leaf < ways ? 0 : leaf - leaf % ways;
  RegId first = started(f, r, false);
  std::int64_t at = t.position++;
  if (first != kNoReg)
    start(f, r, first, n);
  else
    add(f, r, at < main ? static_cast<RegId>(r.acc + at % ways) : r.acc, n);
  if (at + 1 == main) join_accumulators(f, r, n);
  if (t.position < leaf) return;
  for (int joins = t.walk.joins(); joins > 0; --joins)
    combine(f, r, r.sums + --t.open, r.acc, r.acc, n);
  t.position = 0;
  RegId open = r.sums + t.open;
  if (t.walk.next()) {
    move(f, r, r.acc, open, n);
    ++t.open;
  }
}

}  // namespace

void fold_start(const Frame& f, const Fold& r, std::int64_t begin, std::int64_t trips,
                std::int64_t n) {
  switch (r.kind) {
    case FoldKind::Combine:
      if (trips <= 0 || !r.starts_with_value) fill(f, r, n);
      return;
    case FoldKind::Tree:
      if (trips <= 0) return fill(f, r, n);
      f.trees[r.tree].walk.start(r.shape, trips, r.shape.leaf_limit());
      f.trees[r.tree].position = 0;
      f.trees[r.tree].open = 0;
      return;
    case FoldKind::Arg:
      copy(f.regs[r.index].ptr, f.regs[r.index].stride, reinterpret_cast<const char*>(&begin), 0, n,
           sizeof begin);
      return;
    case FoldKind::Running:
    case FoldKind::Last:
      return start_running(f, r, n);
  }
}

void fold_prepare(const Frame& f, const Fold& r, bool is_first) {
  if (r.own == kNoReg) return;
  RegId acc = started(f, r, is_first);
  f.regs[r.value].ptr = f.regs[acc == kNoReg ? r.own : acc].ptr;
}

void fold_step(const Frame& f, const Fold& r, std::int64_t i, std::int64_t begin, std::int64_t n) {
  switch (r.kind) {
    case FoldKind::Combine:
      if (started(f, r, i == begin) != kNoReg) return start(f, r, r.acc, n);
      return add(f, r, r.acc, n);
    case FoldKind::Tree:
      return tree_step(f, r, n);
    case FoldKind::Arg:
      if (i == begin) return start(f, r, r.acc, n);
      return r.arg_step(f.regs[r.acc].ptr, reinterpret_cast<std::int64_t*>(f.regs[r.index].ptr),
                        f.regs[r.value].ptr, f.regs[r.value].stride, i, n);
    case FoldKind::Last:
      return move(f, r, r.value, r.acc, n);
    case FoldKind::Running:
      return;
  }
}

void tile_start(const Frame& f, const Fold& r, std::int64_t begin) {
  if (r.kind == FoldKind::Arg)
    std::memcpy(f.regs[r.index].ptr, &begin, sizeof begin);
  else
    start_running(f, r, 1);
  if (r.kind == FoldKind::Tree) f.trees[r.tree].open = 0;
}

void tile_step(const Frame& f, const Fold& r, std::int64_t first, bool is_first, std::int64_t n,
               int joins, bool more) {
  const Reg& v = f.regs[r.value];
  char* acc = f.regs[r.acc].ptr;
  switch (r.kind) {
    case FoldKind::Combine:
      return r.reduce(acc, v.ptr, v.stride, n);
    case FoldKind::Tree: {
      Tree& t = f.trees[r.tree];
      fill(f, r, 1);
      r.reduce(acc, v.ptr, v.stride, n);
      for (; joins > 0; --joins) combine(f, r, r.sums + --t.open, r.acc, r.acc, 1);
      if (more) move(f, r, r.acc, r.sums + t.open++, 1);
      return;
    }
    case FoldKind::Arg:
      if (is_first) std::memcpy(acc, v.ptr, r.itemsize);
      return r.arg_reduce(acc, reinterpret_cast<std::int64_t*>(f.regs[r.index].ptr), v.ptr,
                          v.stride, n, first);
    case FoldKind::Running:
    case FoldKind::Last:
      return;
  }
}

}  // namespace plait::interp
