// NumPy's summation tree, bit for bit: eight accumulators over leaves of up to 128 elements, halves
// above; of complex numbers, which are two elements to NumPy, half as many of each. Trip counts are
// uniform, so the tree is ordinary control flow around either as many lanes (the loop is the vector
// loop) or as many accumulators (every lane has its own sum). Leaves come in the order of the
// elements, so other reductions of the loop fold along the way.
#include "reduce.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr std::int64_t kLeaf = 16;  // times the accumulators
constexpr std::int64_t kDepth = 64;
// Bodies beyond this many instructions are not repeated for each of the accumulators.
constexpr int kLargeBody = 24;

int weight(const ir::Kernel& k, std::int32_t loop) {
  int n = 0;
  for (ir::Val v : k.loops[loop].body) {
    ++n;
    if (opens_loop(k.insts[v])) n += 10 + 4 * weight(k, k.insts[v].index);
  }
  return n;
}

}  // namespace

llvm::Value* ReduceEmitter::slot(AllocaInst* a, const Acc& acc, llvm::Value* n, int r) {
  llvm::Value* i = b_.CreateAdd(b_.CreateMul(n, e_.i64(acc.regs)), e_.i64(r));
  return b_.CreateGEP(acc.slot, a, i);
}

void ReduceEmitter::emit_tree() {
  for (Acc& a : accs_)
    if (a.pairwise()) {
      // In a vector loop the lanes are the accumulators and a leaf's sum is one scalar.
      if (vector_) {
        a.leaf = a.best[0];
        a.regs = 1;
        a.varying = false;
        a.slot = e_.scalar_type(a.type);
        a.best = {e_.stack(a.slot)};
      } else {
        a.leaf = e_.stack(a.slot, std::int64_t{2} * lanes() * a.regs);
      }
    }
  llvm::Value* n = e_.at_least_zero(b_.CreateSub(end_, begin_));
  if (auto* c = dyn_cast<ConstantInt>(n); c && c->getSExtValue() <= kLeaf * lanes())
    return leaf(begin_, n);

  for (Acc& a : accs_)
    if (a.pairwise()) a.left = e_.stack(a.slot, kDepth * a.regs);
  Type* word = b_.getInt64Ty();
  AllocaInst *at = e_.stack(word), *count = e_.stack(word), *depth = e_.stack(word);
  // A right half waits as (where, how many); once its left is in `left` and it runs, as (.., 0).
  AllocaInst *where = e_.stack(word, kDepth), *many = e_.stack(word, kDepth);
  auto entry = [&](AllocaInst* a, llvm::Value* d) { return b_.CreateGEP(word, a, d); };
  b_.CreateStore(begin_, at);
  b_.CreateStore(n, count);
  b_.CreateStore(e_.i64(0), depth);
  BasicBlock *split = e_.block("split"), *halve = e_.block("halve"), *sum = e_.block("leaf"),
             *rise = e_.block("rise"), *top = e_.block("top"), *right = e_.block("right"),
             *join = e_.block("join"), *done = e_.block("sum");
  b_.CreateBr(split);

  b_.SetInsertPoint(split);
  b_.CreateCondBr(b_.CreateICmpSGT(get(count), e_.i64(kLeaf * lanes())), halve, sum);
  b_.SetInsertPoint(halve);
  {
    llvm::Value *c = get(count), *d = get(depth);
    llvm::Value* half = b_.CreateAnd(b_.CreateLShr(c, e_.i64(1)), e_.i64(-lanes()));
    b_.CreateStore(b_.CreateAdd(get(at), half), entry(where, d));
    b_.CreateStore(b_.CreateSub(c, half), entry(many, d));
    b_.CreateStore(b_.CreateAdd(d, e_.i64(1)), depth);
    b_.CreateStore(half, count);
    b_.CreateBr(split);
  }
  b_.SetInsertPoint(sum);
  leaf(get(at), get(count));
  e_.leave_if_stopped();
  b_.CreateBr(rise);

  b_.SetInsertPoint(rise);
  b_.CreateCondBr(b_.CreateICmpEQ(get(depth), e_.i64(0)), done, top);
  b_.SetInsertPoint(top);
  llvm::Value* d = b_.CreateSub(get(depth), e_.i64(1));
  llvm::Value* waiting = b_.CreateLoad(word, entry(many, d));
  b_.CreateCondBr(b_.CreateICmpEQ(waiting, e_.i64(0)), join, right);
  b_.SetInsertPoint(right);
  for (const Acc& a : accs_)
    if (a.pairwise())
      for (int r = 0; r < a.regs; ++r) b_.CreateStore(get(a.best[r]), slot(a.left, a, d, r));
  b_.CreateStore(b_.CreateLoad(word, entry(where, d)), at);
  b_.CreateStore(waiting, count);
  b_.CreateStore(e_.i64(0), entry(many, d));
  b_.CreateBr(split);
  b_.SetInsertPoint(join);
  for (const Acc& a : accs_)
    if (a.pairwise())
      for (int r = 0; r < a.regs; ++r) {
        llvm::Value* left = b_.CreateLoad(a.slot, slot(a.left, a, d, r));
        b_.CreateStore(b_.CreateFAdd(left, get(a.best[r])), a.best[r]);
      }
  b_.CreateStore(d, depth);
  b_.CreateBr(rise);
  b_.SetInsertPoint(done);
}

void ReduceEmitter::leaf(llvm::Value* begin, llvm::Value* n) {
  if (vector_)
    vector_leaf(begin, n);
  else if (!unrolled() && weight(e_.k_, loop_) > kLargeBody)
    compact_leaf(begin, n);
  else
    serial_leaf(begin, n);
}

void ReduceEmitter::vector_leaf(llvm::Value* begin, llvm::Value* n) {
  llvm::Value* middle = b_.CreateAdd(begin, b_.CreateAnd(n, e_.i64(-lanes())));
  llvm::Value* end = b_.CreateAdd(begin, n);
  for (const Acc& a : accs_)
    if (a.pairwise())
      b_.CreateStore(ConstantFP::getNegativeZero(a.leaf->getAllocatedType()), a.leaf);
  auto groups = [&](llvm::Value* from, llvm::Value* to, int regs) {
    e_.counted(from, to, e_.i64(lanes() * regs), [&](llvm::Value* i) {
      e_.bind_lanes(loop_, lanes(), regs, i, nullptr);
      body();
      for (const Acc& a : accs_)
        if (a.pairwise())
          for (int r = 0; r < regs; ++r)
            b_.CreateStore(b_.CreateFAdd(get(a.leaf), value(a, r)), a.leaf);
      e_.lanes_ = {};
    });
  };
  const int regs = e_.regs_of(loop_);
  llvm::Value* wide = b_.CreateAdd(begin, b_.CreateAnd(n, e_.i64(-lanes() * regs)));
  groups(begin, wide, regs);
  if (regs > 1) groups(wide, middle, 1);
  for (const Acc& a : accs_)
    if (a.pairwise()) {
      // Neighbours join: ((r0+r1)+(r2+r3)) + ((r4+r5)+(r6+r7)).
      llvm::Value* x = get(a.leaf);
      for (int n = lanes(); n > 1; n /= 2) {
        llvm::Value *even = e_.every_second(a.type, x, 0), *odd = e_.every_second(a.type, x, 1);
        x = b_.CreateFAdd(even, odd);
      }
      b_.CreateStore(x, a.best[0]);
    }
  // The rest one by one; -0.0 in place of what is not there changes nothing and raises nothing.
  e_.when(b_.CreateICmpSLT(middle, end), [&] {
    e_.bind_lanes(loop_, lanes(), 1, middle, b_.CreateSub(end, middle));
    body();
    for (const Acc& a : accs_)
      if (a.pairwise()) {
        llvm::Value* v = value(a, 0);
        v = e_.select(a.type, e_.lanes_.mask, v, ConstantFP::getNegativeZero(v->getType()));
        llvm::Value* x = get(a.best[0]);
        for (int l = 0; l < lanes() - 1; ++l) x = b_.CreateFAdd(x, e_.lane(a.type, v, l));
        b_.CreateStore(x, a.best[0]);
      }
    e_.lanes_ = {};
  });
}

void ReduceEmitter::join_leaf(const Acc& a) {
  for (int r = 0; r < a.regs; ++r) {
    SmallVector<llvm::Value*, 8> sums;
    for (int n = 0; n < lanes(); ++n)
      sums.push_back(b_.CreateLoad(a.slot, slot(a.leaf, a, e_.i64(n), r)));
    for (std::size_t n = sums.size() / 2; n > 0; n /= 2)
      for (std::size_t i = 0; i < n; ++i) sums[i] = b_.CreateFAdd(sums[2 * i], sums[2 * i + 1]);
    b_.CreateStore(sums[0], a.best[r]);
  }
}

void ReduceEmitter::serial_leaf(llvm::Value* begin, llvm::Value* n) {
  llvm::Value* middle = b_.CreateAdd(begin, b_.CreateAnd(n, e_.i64(-lanes())));
  llvm::Value* end = b_.CreateAdd(begin, n);
  for (const Acc& a : accs_)
    if (a.pairwise())
      for (int j = 0; j < lanes(); ++j)
        for (int r = 0; r < a.regs; ++r)
          b_.CreateStore(ConstantFP::getNegativeZero(a.slot), slot(a.leaf, a, e_.i64(j), r));
  auto add = [&](llvm::Value* i, auto&& target) {
    e_.bind_serial(loop_, i);
    body();
    for (const Acc& a : accs_)
      if (a.pairwise())
        for (int r = 0; r < a.regs; ++r) {
          llvm::Value* p = target(a, r);
          b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(a.slot, p), value(a, r)), p);
        }
  };
  auto group = [&](llvm::Value* i) {
    for (int j = 0; j < lanes(); ++j)
      add(b_.CreateAdd(i, e_.i64(j)),
          [&](const Acc& a, int r) { return slot(a.leaf, a, e_.i64(j), r); });
  };
  auto single = [&](llvm::Value* i) { add(i, [&](const Acc& a, int r) { return a.best[r]; }); };
  auto each = [&](llvm::Value* from, llvm::Value* to, std::int64_t step, auto&& f) {
    if (!unrolled()) return e_.counted(from, to, e_.i64(step), f);
    std::int64_t stop = cast<ConstantInt>(to)->getSExtValue();
    for (std::int64_t i = cast<ConstantInt>(from)->getSExtValue(); i < stop; i += step)
      f(e_.i64(i));
  };
  each(begin, middle, lanes(), group);
  for (const Acc& a : accs_)
    if (a.pairwise()) join_leaf(a);
  each(middle, end, 1, single);
}

// One copy of the body: the accumulators are memory, indexed by the element's place; what comes
// after the last whole group waits in as many more.
void ReduceEmitter::compact_leaf(llvm::Value* begin, llvm::Value* n) {
  llvm::Value* whole = b_.CreateAnd(n, e_.i64(-lanes()));
  for (const Acc& a : accs_)
    if (a.pairwise())
      for (int j = 0; j < 2 * lanes(); ++j)
        for (int r = 0; r < a.regs; ++r)
          b_.CreateStore(ConstantFP::getNegativeZero(a.slot), slot(a.leaf, a, e_.i64(j), r));
  e_.counted(e_.i64(0), n, e_.i64(1), [&](llvm::Value* i) {
    e_.bind_serial(loop_, b_.CreateAdd(begin, i));
    body();
    llvm::Value* place = b_.CreateAnd(i, e_.i64(lanes() - 1));
    place =
        b_.CreateSelect(b_.CreateICmpSLT(i, whole), place, b_.CreateAdd(place, e_.i64(lanes())));
    for (const Acc& a : accs_)
      if (a.pairwise())
        for (int r = 0; r < a.regs; ++r) {
          llvm::Value* p = slot(a.leaf, a, place, r);
          b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(a.slot, p), value(a, r)), p);
        }
  });
  for (const Acc& a : accs_)
    if (a.pairwise()) {
      join_leaf(a);
      for (int r = 0; r < a.regs; ++r) {
        llvm::Value* x = get(a.best[r]);
        for (int j = lanes(); j < 2 * lanes() - 1; ++j)
          x = b_.CreateFAdd(x, b_.CreateLoad(a.slot, slot(a.leaf, a, e_.i64(j), r)));
        b_.CreateStore(x, a.best[r]);
      }
    }
}

}  // namespace plait::jit
