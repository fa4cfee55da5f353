// Folds in any order and in sequence.
#include "reduce.hpp"

namespace plait::jit {
using namespace llvm;

ReduceEmitter::ReduceEmitter(Emitter& e, std::int32_t loop)
    : e_(e), b_(e.b_), loop_(loop), l_(e.k_.loops[loop]), vector_(l_.lanes()) {}

std::vector<Value> ReduceEmitter::run() {
  std::tie(begin_, end_) = e_.bounds(loop_);
  e_.folding_[loop_] = this;
  bool tree = false;
  for (const ir::Reduction& r : l_.reductions) {
    accs_.push_back(open(r));
    tree |= accs_.back().pairwise();
  }
  if (tree)
    emit_tree();
  else if (const auto value = ir::deciding_value(e_.k_, loop_); vector_ && value)
    emit_until(*value);
  else if (vector_)
    strip(begin_, end_, e_.look_of(loop_));
  else
    emit_serial();
  std::vector<Value> results;
  for (const Acc& a : accs_) results.push_back(close(a));
  return results;
}

void ReduceEmitter::strip(llvm::Value* begin, llvm::Value* end, Look look) {
  e_.strip(loop_, e_.width_of(loop_), e_.regs_of(loop_), begin, end, [&] { body(); }, look);
}

// Looks at the fold between blocks, and goes past the others once it is decided.
void ReduceEmitter::emit_until(bool value) {
  constexpr std::int64_t kBlock = 1024;
  AllocaInst* decided = e_.stack(b_.getInt1Ty());
  b_.CreateStore(b_.getFalse(), decided);
  auto block = [&](llvm::Value* i) {
    llvm::Value* next = b_.CreateAdd(i, e_.i64(kBlock));
    strip(i, b_.CreateBinaryIntrinsic(Intrinsic::smin, next, end_), Look::Never);
    e_.when(
        b_.CreateICmpSLT(next, end_), [&] { b_.CreateStore(holds(accs_[0], value), decided); },
        nullptr);
  };
  e_.counted(
      begin_, end_, e_.i64(kBlock),
      [&](llvm::Value* i) { e_.when(get(decided), [] {}, [&] { block(i); }); },
      loop_ == 0 ? Look::Never : Look::Steps);
}

llvm::Value* ReduceEmitter::holds(const Acc& a, bool value) {
  llvm::Value* all = get(a.best[0]);
  for (int r = 1; r < a.regs; ++r)
    all = value ? b_.CreateOr(all, get(a.best[r])) : b_.CreateAnd(all, get(a.best[r]));
  return value ? b_.CreateOrReduce(all) : b_.CreateNot(b_.CreateAndReduce(all));
}

bool ReduceEmitter::unrolled() const {
  auto *b = dyn_cast<ConstantInt>(begin_), *e = dyn_cast<ConstantInt>(end_);
  return l_.scope == ir::Scope::Unrolled && b && e && e->getSExtValue() - b->getSExtValue() <= 64;
}

void ReduceEmitter::emit_serial() {
  auto one = [&](llvm::Value* i) {
    e_.bind_serial(loop_, i);
    body();
  };
  if (!unrolled())
    return e_.counted(begin_, end_, e_.i64(1), one, e_.look_of(loop_),
                      e_.block_of(loop_, e_.lanes_.regs));
  std::int64_t end = cast<ConstantInt>(end_)->getSExtValue();
  for (std::int64_t i = cast<ConstantInt>(begin_)->getSExtValue(); i < end; ++i) one(e_.i64(i));
}

void ReduceEmitter::body() {
  e_.emit_block(loop_);
  for (Acc& a : accs_) {
    const DType given = e_.k_.insts[a.r->value].type;
    a.value = e_.vals_[a.r->value];
    if (given != a.type) a.value = e_.emit_cast(a.value, given, a.type);
  }
  for (const Acc& a : accs_)
    if (!a.pairwise() && !a.runs) fold(a);
}

// A vector loop's accumulators have its lanes (ordered ones are scalar); a serial loop's have the
// lanes around it where the value varies along them.
ReduceEmitter::Acc ReduceEmitter::open(const ir::Reduction& r) {
  DType type = e_.k_.insts[r.value].type;
  if (type == DType::Float16 && r.kind != ReduceKind::Last)
    type = DType::Float32;  // rounded once, at the end
  Acc a{.r = &r, .type = type, .slot = nullptr, .regs = 1};
  const auto number = static_cast<std::size_t>(&r - l_.reductions.data());
  a.runs = ir::running(e_.k_, loop_, number) != ir::kNone;
  const bool apart = e_.lanes_.loop >= 0 && e_.analysis_.folds_apart(loop_, r);
  int width = 1;
  if (vector_ && !a.ordered()) {
    width = e_.width_of(loop_);
    a.regs = e_.regs_of(loop_);
  } else if (!vector_ && apart) {
    width = e_.lanes_.width;
    a.regs = e_.lanes_.regs;
  }
  bool lanes = vector_ ? !a.ordered() : apart;
  Type *t = e_.scalar_type(a.type), *it = b_.getInt64Ty();
  if (lanes) {
    t = e_.lanes_type(a.type, width);
    it = FixedVectorType::get(it, static_cast<unsigned>(width));
  }
  a.slot = t;
  a.varying = lanes;
  for (int i = 0; i < a.regs; ++i) {
    a.best.push_back(e_.stack(t));
    b_.CreateStore(start(a, i), a.best.back());
    if (!a.arg()) continue;
    a.index.push_back(e_.stack(it));
    b_.CreateStore(lanes ? b_.CreateVectorSplat(static_cast<unsigned>(width), begin_) : begin_,
                   a.index.back());
  }
  return a;
}

llvm::Constant* ReduceEmitter::identity(const Acc& a) {
  // The root of what is never negative: that of -inf would be NaN, which wins over all.
  if (a.r->kind == ReduceKind::ArgMax && a.r->guarded_sqrt)
    return Constant::getNullValue(e_.scalar_type(a.type));
  // An arg-reduction is one over values: what cannot win against the first element.
  Scalar s;
  e_.target_.identity(reduce_info(a.r->kind).values, a.type, &s);
  return e_.constant(s);
}

llvm::Value* ReduceEmitter::start(const Acc& a, int r) {
  if (a.r->init == ir::kNone) return spread(a, identity(a));
  const Value& v = e_.vals_[a.r->init];
  return a.varying ? e_.reg(v, r) : v.regs[0];
}

llvm::Constant* ReduceEmitter::spread(const Acc& a, llvm::Constant* c) {
  if (!a.varying) return c;
  const auto n = cast<FixedVectorType>(a.slot)->getNumElements();
  SmallVector<llvm::Constant*, 64> all;
  for (unsigned i = 0; i < n; ++i)
    all.push_back(is_complex(a.type) ? c->getAggregateElement(i % 2) : c);
  return ConstantVector::get(all);
}

llvm::Value* ReduceEmitter::combine(const Acc& a, llvm::Value* x, llvm::Value* y) {
  if (a.r->kind == ReduceKind::Last) return y;
  const OpId op = reduce_info(a.r->kind).combine;
  if (op == OpId::Multiply && is_complex(a.type)) return e_.complex_product(x, y);
  llvm::Value* r = e_.primitive(op, a.type, {x, y});
  if (!r) throw CompileError("no primitive joins the partial results of this reduction");
  return r;
}

llvm::Value* ReduceEmitter::value(const Acc& a, int r) {
  return vector_ || a.varying ? e_.reg(a.value, r) : a.value.regs[0];
}

void ReduceEmitter::fold(const Acc& a) {
  if (a.arg()) return a.r->guarded_sqrt ? fold_guarded(a) : fold_arg(a);
  const Lanes& lanes = e_.lanes_;
  if (vector_ && a.ordered()) {
    llvm::Value* x = value(a, 0);
    llvm::Value* acc = get(a.best[0]);
    if (lanes.mask) x = e_.select(a.type, lanes.mask, x, e_.splat(identity(a), lanes.width));
    for (int l = 0; l < lanes.width; ++l) acc = combine(a, acc, e_.lane(a.type, x, l));
    b_.CreateStore(acc, a.best[0]);
    return;
  }
  const bool repeats_show = reduce_info(a.r->kind).has(kRepeatsShow);
  int regs = vector_ ? lanes.regs : a.regs;
  for (int r = 0; r < regs; ++r) {
    llvm::Value* x = value(a, r);
    if (vector_ && lanes.mask && repeats_show)
      x = e_.select(a.type, lanes.mask, x, spread(a, identity(a)));
    b_.CreateStore(combine(a, get(a.best[r]), x), a.best[r]);
  }
}

// The lanes of a vector loop wait for each other; of equal extremes the later one stays.
Value ReduceEmitter::running(std::int32_t fold) {
  Acc& a = accs_[static_cast<std::size_t>(fold)];
  a.value = e_.vals_[a.r->value];
  const bool extreme = reduce_info(a.r->kind).has(kSelects);
  auto next = [&](llvm::Value* acc, llvm::Value* x) {
    return extreme ? combine(a, x, acc) : combine(a, acc, x);
  };
  const Lanes& lanes = e_.lanes_;
  if (vector_) {
    llvm::Value *x = e_.reg(a.value, 0), *acc = get(a.best[0]);
    if (lanes.mask) x = e_.select(a.type, lanes.mask, x, e_.splat(identity(a), lanes.width));
    llvm::Value* all = PoisonValue::get(e_.lanes_type(a.type, lanes.width));
    for (int l = 0; l < lanes.width; ++l) {
      acc = next(acc, e_.lane(a.type, x, l));
      all = e_.with_lane(a.type, all, acc, l);
    }
    b_.CreateStore(acc, a.best[0]);
    return {{all}, true};
  }
  Value v{{}, a.varying};
  for (int r = 0; r < a.regs; ++r) {
    v.regs.push_back(next(get(a.best[r]), value(a, r)));
    b_.CreateStore(v.regs.back(), a.best[r]);
  }
  return v;
}

Value ReduceEmitter::carried(std::int32_t fold) {
  const Acc& a = accs_[static_cast<std::size_t>(fold)];
  Value v{{}, a.varying};
  for (AllocaInst* s : a.best) v.regs.push_back(get(s));
  return v;
}

Value ReduceEmitter::close(const Acc& a) {
  if (a.arg() && vector_) return uniform_value(across_arg(a));
  Value v{{}, !vector_ && a.varying};
  if (vector_)
    v.regs.push_back(across(a));
  else
    for (AllocaInst* s : a.arg() ? a.index : a.best) v.regs.push_back(get(s));
  return a.arg() ? v : e_.emit_cast(v, a.type, e_.k_.insts[a.r->value].type);
}

llvm::Value* ReduceEmitter::across(const Acc& a) {
  llvm::Value* x = get(a.best[0]);
  // A pairwise leaf and an ordered fold are scalar already.
  if (e_.lane_count(a.type, x) == 1) return x;
  for (int r = 1; r < a.regs; ++r) x = combine(a, x, get(a.best[r]));
  for (int half = e_.lane_count(a.type, x) / 2; half > 1; half /= 2)
    x = combine(a, e_.lanes_from(a.type, x, 0, half), e_.lanes_from(a.type, x, half, half));
  return combine(a, e_.lane(a.type, x, 0), e_.lane(a.type, x, 1));
}

}  // namespace plait::jit
