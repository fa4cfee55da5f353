// What sequential kernels alone have: conditions, loops that repeat, breaks, operations on scalars.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <limits>

#include "emitter.hpp"
#include "ir/checks.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

// Whether the bound that power_of() relies on is that of this libm.
#ifdef __GLIBC__
constexpr bool kPowIsNear = true;
#else
constexpr bool kPowIsNear = false;
#endif

}  // namespace

void Emitter::emit_control(ir::Val v) {
  const ir::Inst& i = k_.insts[v];
  if (i.op == ir::Op::Break) return emit_break(i);
  if (i.op == ir::Op::External) {
    vals_[v] = uniform_value(call_external(i));
    return;
  }
  const auto id = i.fn == OpId::Add        ? Intrinsic::sadd_with_overflow
                  : i.fn == OpId::Subtract ? Intrinsic::ssub_with_overflow
                                           : Intrinsic::smul_with_overflow;
  llvm::Value* both =
      b_.CreateBinaryIntrinsic(id, vals_[i.operands[0]].regs[0], vals_[i.operands[1]].regs[0]);
  vals_[v] = uniform_value(b_.CreateExtractValue(both, 1));
}

void Emitter::emit_if(std::int32_t loop) {
  const ir::Loop& l = k_.loops[loop];
  if (l.condition == ir::kNone) return emit_insts(l.body);
  Body otherwise;
  if (!l.otherwise.empty())
    otherwise = [&] {
      rare_ += l.rare;
      emit_insts(l.otherwise);
      rare_ -= l.rare;
    };
  if (!otherwise && rare_ == 0)
    if (const auto c = ir::index_check(k_, l.condition); c && stands_before(c->index, loop))
      return emit_index_check(*c, l.body);
  when(
      vals_[l.condition].regs[0], [&] { emit_insts(l.body); }, otherwise,
      ir::leaves_kernel(k_, l.body) ? Odds::Unlikely
      : l.rare                      ? Odds::Likely
                                    : Odds::Even);
}

bool Emitter::stands_before(ir::Val v, std::int32_t loop) const {
  const ir::Loop& around = k_.loops[analysis_.parent[loop]];
  const auto has = [&](const std::vector<ir::Val>& block) {
    const auto at = std::find(block.begin(), block.end(), v);
    return std::any_of(at, block.end(), [&](ir::Val f) {
      return k_.insts[f].op == ir::Op::For && k_.insts[f].index == loop;
    });
  };
  return has(around.body) || has(around.otherwise);
}

// Negative indices are a way of their own, which is seldom taken: what an index is loaded for does
// not wait for a comparison and a sum. What follows finds the index where both ways meet.
void Emitter::emit_index_check(const ir::IndexCheck& c, const std::vector<ir::Val>& fails) {
  llvm::Value *i = vals_[c.i].regs[0], *n = vals_[c.extent].regs[0];
  BasicBlock *beyond = block("beyond"), *fail = block("fail"), *join = block("inside");
  const auto rarely = [&](unsigned yes, unsigned no) {
    return MDBuilder(ctx_).createBranchWeights(yes, no);
  };
  BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpULT(i, n), join, beyond, rarely(2000, 1));
  b_.SetInsertPoint(beyond);
  // Below the extent only if it has wrapped.
  llvm::Value* from_end = b_.CreateAdd(i, n);
  b_.CreateCondBr(b_.CreateICmpULT(from_end, n), join, fail, rarely(2000, 1));
  b_.SetInsertPoint(fail);
  emit_insts(fails);
  BasicBlock* failed = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 3);
  index->addIncoming(i, before);
  index->addIncoming(from_end, beyond);
  index->addIncoming(from_end, failed);  // where the block does not leave
  vals_[c.index] = uniform_value(index);
}

// Two loops, as in_blocks() has them: the inner one runs a block of iterations, the outer one looks
// whether to stop. One that is soon over does not look.
void Emitter::emit_repeat(std::int32_t loop) {
  const ir::Loop& l = k_.loops[loop];
  const bool looks = look_of(loop) != Look::Never;
  BasicBlock *outer = block("repeat"), *head = block("again"), *next = block("next"),
             *exit = block("until");
  b_.CreateBr(outer);
  b_.SetInsertPoint(outer);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode* count = nullptr;
  if (looks) {
    count = b_.CreatePHI(b_.getInt64Ty(), 2);
    count->addIncoming(i64(1), outer);
  }
  emit_insts(l.body);
  if (l.condition == ir::kNone)
    b_.CreateBr(next);
  else
    b_.CreateCondBr(vals_[l.condition].regs[0], next, exit);
  b_.SetInsertPoint(next);
  if (looks) {
    const std::int64_t steps = weight(loop) == 0 ? 1 : block_of(loop, 1);
    BasicBlock* look = block("look");
    count->addIncoming(b_.CreateNUWAdd(count, i64(1)), next);
    back_edge(b_.CreateCondBr(b_.CreateICmpNE(count, i64(steps)), head, look,
                              MDBuilder(ctx_).createBranchWeights(2000, 1)));
    b_.SetInsertPoint(look);
    leave_if_stopped();
    back_edge(b_.CreateBr(outer));
  } else {
    back_edge(b_.CreateBr(head));
  }
  b_.SetInsertPoint(exit);
}

// What follows a break that is always taken is emitted, and reached by nothing.
void Emitter::emit_break(const ir::Inst& i) {
  BasicBlock*& exit = left_[static_cast<std::size_t>(i.index)];
  if (!exit) exit = block("left");
  BasicBlock* stay = block("stay");
  if (i.operands[0] == ir::kNone)
    b_.CreateBr(exit);
  else
    b_.CreateCondBr(vals_[i.operands[0]].regs[0], exit, stay);
  b_.SetInsertPoint(stay);
}

void Emitter::land_breaks(std::int32_t loop) {
  BasicBlock* exit = left_[static_cast<std::size_t>(loop)];
  if (!exit) return;
  b_.CreateBr(exit);
  b_.SetInsertPoint(exit);
}

// NumPy's floor_divide and remainder: by zero both are zero; the least integer divided by -1 is
// itself. Divisors that are known leave few of these instructions.
llvm::Value* Emitter::integer_division(bool remainder, bool is_signed, llvm::Value* a,
                                       llvm::Value* b) {
  llvm::Value *zero = Constant::getNullValue(a->getType()),
              *one = ConstantInt::get(a->getType(), 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed) {
    llvm::Value* by = b_.CreateSelect(by_zero, one, b);
    return b_.CreateSelect(by_zero, zero, remainder ? b_.CreateURem(a, by) : b_.CreateUDiv(a, by));
  }
  llvm::Value* negates = b_.CreateICmpEQ(b, Constant::getAllOnesValue(a->getType()));
  llvm::Value* by = b_.CreateSelect(b_.CreateOr(by_zero, negates), one, b);
  llvm::Value *quotient = b_.CreateSDiv(a, by), *rest = b_.CreateSRem(a, by);
  // Towards minus infinity.
  llvm::Value* below =
      b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, by), zero));
  if (remainder) return b_.CreateAdd(rest, b_.CreateSelect(below, by, zero));
  quotient = b_.CreateSub(quotient, b_.CreateZExt(below, a->getType()));
  quotient = b_.CreateSelect(negates, b_.CreateNeg(a), quotient);
  return b_.CreateSelect(by_zero, zero, quotient);
}

llvm::Value* Emitter::quickly(llvm::Value* condition, llvm::Value* quick, const Slow& slow) {
  AllocaInst* result = stack(quick->getType());
  b_.CreateStore(quick, result);
  when(b_.CreateNot(condition), [&] { b_.CreateStore(slow(), result); }, nullptr, Odds::Unlikely);
  return b_.CreateLoad(quick->getType(), result);
}

bool Emitter::computes_in_line(const ir::Inst& i, DType in) const {
  const bool divides = i.fn == OpId::FloorDivide || i.fn == OpId::Remainder || i.fn == OpId::Fmod;
  return k_.sequential && in == DType::Float64 && divides && info(target_.tier).fused;
}

// NumPy's npy_divmod of two numbers, where the quotient is small enough for one fma to give the
// rest, which is exact: it is less than b, and a multiple of the last place of a or b. Nobody reads
// the flags of a sequential kernel.
llvm::Value* Emitter::float_division(OpId fn, llvm::Value* a, llvm::Value* b, const Slow& slow) {
  auto number = [&](double v) { return ConstantFP::get(a->getType(), v); };
  llvm::Value *x = intrinsic(Intrinsic::fabs, {a}), *y = intrinsic(Intrinsic::fabs, {b});
  llvm::Value* q = b_.CreateFDiv(x, y);
  // Not true of NaN, of a division by zero, and of infinities.
  llvm::Value* near = b_.CreateAnd(b_.CreateFCmpOLT(q, number(0x1p49)),
                                   b_.CreateFCmpOLE(y, number(std::numeric_limits<double>::max())));
  llvm::Value* n = intrinsic(Intrinsic::nearbyint, {q});
  llvm::Value* rest = intrinsic(Intrinsic::fma, {b_.CreateFNeg(n), y, x});
  rest = b_.CreateSelect(b_.CreateFCmpOLT(rest, number(0)), b_.CreateFAdd(rest, y), rest);
  rest = intrinsic(Intrinsic::copysign, {rest, a});
  if (fn == OpId::Fmod) return quickly(near, rest, slow);
  return quickly(near, towards_minus_infinity(fn == OpId::Remainder, a, b, rest), slow);
}

// The remainder, or the quotient, of what fmod gives.
llvm::Value* Emitter::towards_minus_infinity(bool remainder, llvm::Value* a, llvm::Value* b,
                                             llvm::Value* rest) {
  Type* t = a->getType();
  auto number = [&](double v) { return ConstantFP::get(t, v); };
  auto bits = [&](llvm::Value* v) { return b_.CreateBitCast(v, b_.getInt64Ty()); };
  llvm::Value* none = b_.CreateFCmpOEQ(rest, number(0));
  llvm::Value* signs = b_.CreateXor(bits(a), bits(b));
  llvm::Value* apart = b_.CreateAnd(b_.CreateICmpSLT(signs, i64(0)), b_.CreateNot(none));
  if (remainder) {
    llvm::Value* mod = b_.CreateSelect(apart, b_.CreateFAdd(rest, b), rest);
    return b_.CreateSelect(none, intrinsic(Intrinsic::copysign, {number(0), b}), mod);
  }
  llvm::Value* q = b_.CreateFDiv(b_.CreateFSub(a, rest), b);
  q = b_.CreateSelect(apart, b_.CreateFSub(q, number(1)), q);
  llvm::Value* floor = intrinsic(Intrinsic::floor, {q});
  llvm::Value* above = b_.CreateFCmpOGT(b_.CreateFSub(q, floor), number(0.5));
  floor = b_.CreateSelect(above, b_.CreateFAdd(floor, number(1)), floor);
  llvm::Value* zero = intrinsic(Intrinsic::copysign, {number(0), b_.CreateBitCast(signs, t)});
  return b_.CreateSelect(b_.CreateFCmpOEQ(q, number(0)), zero, floor);
}

// x ** n as libm's pow() has it, whose result is less than 0.514 units in the last place from the
// power where that lies in [2^-64, 2^64]: the nearest number, unless the power lies almost in the
// middle of two (Ziv's test). The power is a sum of two numbers here, exact to 2^-98.
llvm::Value* Emitter::power_of(llvm::Value* x, int n, const Slow& slow) {
  Type* t = x->getType();
  auto number = [&](double v) { return ConstantFP::get(t, v); };
  auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return intrinsic(Intrinsic::fma, {a, b, c});
  };
  llvm::Value *high = x, *low = nullptr;
  for (int k = 1; k < n; ++k) {
    llvm::Value* product = b_.CreateFMul(high, x);
    llvm::Value* error = fma(high, x, b_.CreateFNeg(product));
    low = low ? fma(low, x, error) : error;
    high = product;
  }
  llvm::Value* result = b_.CreateFAdd(high, low);  // which waits for none of the tests
  llvm::Value* sure = nullptr;
  for (double unit : {0x1p-58, -0x1p-58}) {  // more than 0.0156 units, whatever the number is
    llvm::Value* other = b_.CreateFAdd(high, fma(high, number(unit), low));
    llvm::Value* same = b_.CreateFCmpOEQ(result, other);
    sure = sure ? b_.CreateAnd(sure, same) : same;
  }
  llvm::Value* size = intrinsic(Intrinsic::fabs, {high});
  llvm::Value* inside =
      b_.CreateAnd(b_.CreateFCmpOGT(size, number(0x1p-64)), b_.CreateFCmpOLT(size, number(0x1p64)));
  return quickly(b_.CreateAnd(inside, sure), result, slow);
}

llvm::Value* Emitter::call_external(const ir::Inst& i) {
  SmallVector<llvm::Value*, 3> arguments;
  SmallVector<Type*, 3> types;
  for (ir::Val o : i.operands)
    if (o != ir::kNone) {
      arguments.push_back(vals_[o].regs[0]);
      types.push_back(arguments.back()->getType());
    }
  auto* ft = FunctionType::get(scalar_type(i.type), types, false);
  const ir::ExternalFunction& callee = target_.externals[i.index];
  llvm::Value* pointer = helper({.kind = HelperRef::External, .number = i.index});
  auto call = [&] {
    auto* made = b_.CreateCall(ft, pointer, arguments);
    made->setDoesNotThrow();
    made->addFnAttr(Attribute::WillReturn);
    // Of one with effects LLVM is to think that it reads and writes whatever there is.
    if (!callee.has_effects) made->setDoesNotAccessMemory();
    return made;
  };
  if (callee.name == "pow" && kPowIsNear && info(target_.tier).fused)
    if (auto* n = dyn_cast<ConstantFP>(arguments[1]))
      for (int power : {3, 4, 5})
        if (n->isExactlyValue(power)) return power_of(arguments[0], power, call);
  return call();
}

}  // namespace plait::jit
