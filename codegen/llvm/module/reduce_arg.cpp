// Arg-reductions: best value and its index in every lane. The first extreme wins, the first NaN
// wins over all.
#include "reduce.hpp"

namespace plait::jit {
using namespace llvm;

// Starting from +inf at the first index is exact: an element that is no better than +inf leaves the
// first index, which is the answer when nothing is better.
llvm::Value* ReduceEmitter::better(const Acc& a, llvm::Value* x, llvm::Value* best) {
  bool min = a.r->kind == ReduceKind::ArgMin;
  if (is_float(a.type)) {
    auto wins = min ? CmpInst::FCMP_ULT : CmpInst::FCMP_UGT;
    return b_.CreateAnd(e_.compare(wins, x, best), e_.compare(CmpInst::FCMP_ORD, best, best));
  }
  if (kind(a.type) == Kind::Signed)
    return b_.CreateICmp(min ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGT, x, best);
  return b_.CreateICmp(min ? CmpInst::ICMP_ULT : CmpInst::ICMP_UGT, x, best);
}

void ReduceEmitter::take(const Acc& a, int r, llvm::Value* x, llvm::Value* mask) {
  const Value& var = e_.vals_[l_.var];
  llvm::Value* i = a.varying ? e_.reg(var, r) : var.regs[0];
  b_.CreateStore(b_.CreateSelect(mask, x, get(a.best[r])), a.best[r]);
  b_.CreateStore(b_.CreateSelect(mask, i, get(a.index[r])), a.index[r]);
}

void ReduceEmitter::fold_arg(const Acc& a) {
  int regs = vector_ ? e_.lanes_.regs : a.regs;
  for (int r = 0; r < regs; ++r) {
    llvm::Value* x = value(a, r);
    take(a, r, x, better(a, x, get(a.best[r])));
  }
}

// The squares decide when they differ by more than rounding the roots could hide; otherwise, and
// for NaN, some lane takes the branch that compares exact roots.
void ReduceEmitter::fold_guarded(const Acc& a) {
  bool min = a.r->kind == ReduceKind::ArgMin;
  double eps = a.type == DType::Float32 ? 0x1p-23 : 0x1p-52;
  int regs = vector_ ? e_.lanes_.regs : a.regs;
  std::vector<AllocaInst*> wins;
  SmallVector<llvm::Value*, 4> xs;
  llvm::Value* doubtful = nullptr;
  for (int r = 0; r < regs; ++r) {
    llvm::Value *x = value(a, r), *best = get(a.best[r]);
    llvm::Constant* margin = ConstantFP::get(x->getType(), min ? 1 + 4 * eps : 1 - 4 * eps);
    llvm::Value* clear =
        e_.compare(min ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGT, b_.CreateFMul(x, margin), best);
    llvm::Value* may = e_.compare(min ? CmpInst::FCMP_ULT : CmpInst::FCMP_UGT, x, best);
    llvm::Value* near = b_.CreateXor(may, clear);  // clear implies may
    doubtful = doubtful ? b_.CreateOr(doubtful, near) : near;
    wins.push_back(e_.stack(clear->getType()));
    b_.CreateStore(clear, wins.back());
    xs.push_back(x);
  }
  if (auto* v = dyn_cast<FixedVectorType>(doubtful->getType())) {
    Type* bits = b_.getIntNTy(v->getNumElements());
    doubtful = b_.CreateICmpNE(b_.CreateBitCast(doubtful, bits), ConstantInt::get(bits, 0));
  }
  auto exact = [&] {
    for (int r = 0; r < regs; ++r)
      b_.CreateStore(better(a, e_.intrinsic(Intrinsic::sqrt, {xs[r]}),
                            e_.intrinsic(Intrinsic::sqrt, {get(a.best[r])})),
                     wins[r]);
  };
  e_.when(doubtful, exact, nullptr, Odds::Unlikely);
  for (int r = 0; r < regs; ++r) take(a, r, xs[r], get(wins[r]));
}

// Halves against halves: the better value, between equals the smaller index.
llvm::Value* ReduceEmitter::across_arg(const Acc& a) {
  struct Best {
    llvm::Value *value, *index;
  };
  auto rooted = [&](llvm::Value* v) {
    return a.r->guarded_sqrt ? e_.intrinsic(Intrinsic::sqrt, {v}) : v;
  };
  auto join = [&](Best x, Best y) {
    llvm::Value* wins = better(a, y.value, x.value);
    llvm::Value* loses = better(a, x.value, y.value);
    llvm::Value* first = b_.CreateICmpSLT(y.index, x.index);
    llvm::Value* take_y = b_.CreateOr(wins, b_.CreateAnd(b_.CreateNot(loses), first));
    return Best{b_.CreateSelect(take_y, y.value, x.value),
                b_.CreateSelect(take_y, y.index, x.index)};
  };
  Best best{rooted(get(a.best[0])), get(a.index[0])};
  for (int r = 1; r < a.regs; ++r) best = join(best, {rooted(get(a.best[r])), get(a.index[r])});
  auto width = cast<FixedVectorType>(a.slot)->getNumElements();
  auto lane = [&](std::uint64_t l) {
    return Best{b_.CreateExtractElement(best.value, l), b_.CreateExtractElement(best.index, l)};
  };
  while (width > 2) {
    width /= 2;
    SmallVector<int, 64> low, high;
    for (unsigned l = 0; l < width; ++l) {
      low.push_back(static_cast<int>(l));
      high.push_back(static_cast<int>(l + width));
    }
    best =
        join({b_.CreateShuffleVector(best.value, low), b_.CreateShuffleVector(best.index, low)},
             {b_.CreateShuffleVector(best.value, high), b_.CreateShuffleVector(best.index, high)});
  }
  return join(lane(0), lane(1)).index;
}

}  // namespace plait::jit
