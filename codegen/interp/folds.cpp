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

void fill(const Frame& f, const Fold& r, std::int64_t n) {
  copy(f.regs[r.acc].ptr, f.regs[r.acc].stride, reinterpret_cast<const char*>(r.identity.bytes), 0,
       n, r.itemsize);
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
  std::int64_t leaf = t.walk.leaf(), at = t.position++;
  if (leaf < ways) {
    if (at == 0)
      move(f, r, r.value, r.acc, n);  // what -0.0 + value is
    else
      combine(f, r, r.acc, r.value, r.acc, n);
  } else {
    std::int64_t main = leaf - leaf % ways;
    if (at < ways) {
      move(f, r, r.value, static_cast<RegId>(r.acc + at), n);
    } else if (at < main) {
      auto way = static_cast<RegId>(r.acc + at % ways);
      combine(f, r, way, r.value, way, n);
    } else {
      combine(f, r, r.acc, r.value, r.acc, n);
    }
    if (at + 1 == main) join_accumulators(f, r, n);
  }
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
      return fill(f, r, n);
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
  }
}

void fold_step(const Frame& f, const Fold& r, std::int64_t i, std::int64_t begin, std::int64_t n) {
  switch (r.kind) {
    case FoldKind::Combine:
      return combine(f, r, r.acc, r.value, r.acc, n);
    case FoldKind::Tree:
      return tree_step(f, r, n);
    case FoldKind::Arg:
      if (i == begin) return move(f, r, r.value, r.acc, n);
      return r.arg_step(f.regs[r.acc].ptr, reinterpret_cast<std::int64_t*>(f.regs[r.index].ptr),
                        f.regs[r.value].ptr, f.regs[r.value].stride, i, n);
  }
}

void tile_start(const Frame& f, const Fold& r, std::int64_t begin) {
  if (r.kind == FoldKind::Arg)
    std::memcpy(f.regs[r.index].ptr, &begin, sizeof begin);
  else
    fill(f, r, 1);
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
  }
}

}  // namespace plait::interp
