// Operations that are one or a few instructions. Each says what the functor of the same name in
// codegen/loops says, to the bit, the sign of zero and the flags included.
#include <cmath>

#include "emitter.hpp"
#include "processor.hpp"

namespace plait::jit {
using namespace llvm;

// Equality and the NaN tests are quiet anyway.
llvm::Value* Emitter::compare(CmpInst::Predicate p, llvm::Value* a, llvm::Value* b) {
  switch (p) {
    case CmpInst::FCMP_OEQ:
    case CmpInst::FCMP_UNE:
    case CmpInst::FCMP_UNO:
    case CmpInst::FCMP_ORD:
      return b_.CreateFCmp(p, a, b);
    default:
      // Nobody reads the flags that a sequential kernel raises, and the loop vectoriser knows plain
      // comparisons alone.
      if (k_.sequential) return b_.CreateFCmp(p, a, b);
      return quiet_order(b_, p, a, b);
  }
}

llvm::Value* Emitter::extremum(OpId fn, DType t, llvm::Value* a, llvm::Value* b) {
  bool max = fn == OpId::Maximum || fn == OpId::Fmax;
  if (is_float(t)) {
    // The first operand wins ties (of zeros); NaN wins, or for fmax and fmin loses.
    llvm::Value* nan = is_nan(fn == OpId::Fmax || fn == OpId::Fmin ? b : a);
    llvm::Value* wins = compare(max ? CmpInst::FCMP_OGE : CmpInst::FCMP_OLE, a, b);
    return b_.CreateSelect(b_.CreateOr(wins, nan), a, b);
  }
  bool is_signed = kind(t) == Kind::Signed;
  auto id = is_signed ? (max ? Intrinsic::smax : Intrinsic::smin)
                      : (max ? Intrinsic::umax : Intrinsic::umin);
  return b_.CreateBinaryIntrinsic(id, a, b);
}

llvm::Value* Emitter::primitive(OpId fn, DType in, Operands o) {
  if (fn == OpId::Where) return select(in, o[0], o[1], o[2]);
  if (is_complex(in)) return complex_primitive(fn, in, o);
  if (fn == OpId::Positive || fn == OpId::Conjugate) return o[0];
  if (in == DType::Bool) return bool_primitive(fn, o);
  if (is_integer(in)) return integer_primitive(fn, in, o);
  return in == DType::Float16 ? half_primitive(fn, o) : float_primitive(fn, in, o);
}

llvm::Value* Emitter::float_primitive(OpId fn, DType in, Operands o) {
  llvm::Value *a = o[0], *b = o.size() > 1 ? o[1] : nullptr;
  Type* t = a->getType();
  auto number = [&](double v) { return ConstantFP::get(t, in == DType::Float32 ? float(v) : v); };
  // NumPy divides in the operand's type.
  auto quotient = [&](double p, double q) {
    return in == DType::Float32 ? double(float(p) / float(q)) : p / q;
  };
  auto truth = [&](llvm::Value* v) { return b_.CreateFCmpUNE(v, number(0)); };
  double largest = in == DType::Float32 ? double(std::numeric_limits<float>::max())
                                        : std::numeric_limits<double>::max();
  switch (fn) {
    case OpId::Add:
      return b_.CreateFAdd(a, b);
    case OpId::Subtract:
      return b_.CreateFSub(a, b);
    case OpId::Multiply:
      return b_.CreateFMul(a, b);
    case OpId::Fma:
      return intrinsic(Intrinsic::fma, {a, b, o[2]});
    case OpId::Divide:
      return b_.CreateFDiv(a, b);
    case OpId::Negative:
      return b_.CreateFNeg(a);
    case OpId::Absolute:
    case OpId::Fabs:
      return intrinsic(Intrinsic::fabs, {a});
    case OpId::Sqrt:
      return intrinsic(Intrinsic::sqrt, {a});
    case OpId::Square:
      return b_.CreateFMul(a, a);
    case OpId::Reciprocal:
      return b_.CreateFDiv(number(1), a);
    case OpId::Degrees:
    case OpId::Rad2deg:
      return b_.CreateFMul(a, number(quotient(180, M_PI)));
    case OpId::Radians:
    case OpId::Deg2rad:
      return b_.CreateFMul(a, number(quotient(M_PI, 180)));
    case OpId::Floor:
      return intrinsic(Intrinsic::floor, {a});
    case OpId::Ceil:
      return intrinsic(Intrinsic::ceil, {a});
    case OpId::Trunc:
      return intrinsic(Intrinsic::trunc, {a});
    case OpId::Rint:
      return intrinsic(Intrinsic::nearbyint, {a});
    case OpId::Copysign:
      return intrinsic(Intrinsic::copysign, {a, b});
    case OpId::Equal:
      return compare(CmpInst::FCMP_OEQ, a, b);
    case OpId::NotEqual:
      return compare(CmpInst::FCMP_UNE, a, b);
    case OpId::Less:
      return compare(CmpInst::FCMP_OLT, a, b);
    case OpId::LessEqual:
      return compare(CmpInst::FCMP_OLE, a, b);
    case OpId::Greater:
      return compare(CmpInst::FCMP_OGT, a, b);
    case OpId::GreaterEqual:
      return compare(CmpInst::FCMP_OGE, a, b);
    case OpId::LogicalAnd:
      return b_.CreateAnd(truth(a), truth(b));
    case OpId::LogicalOr:
      return b_.CreateOr(truth(a), truth(b));
    case OpId::LogicalXor:
      return b_.CreateXor(truth(a), truth(b));
    case OpId::LogicalNot:
      return b_.CreateFCmpOEQ(a, number(0));
    case OpId::Isnan:
      return is_nan(a);
    case OpId::Isfinite:
      return compare(CmpInst::FCMP_OLE, intrinsic(Intrinsic::fabs, {a}), number(largest));
    case OpId::Isinf:
      return compare(CmpInst::FCMP_OGT, intrinsic(Intrinsic::fabs, {a}), number(largest));
    case OpId::Signbit: {
      Type* bits = t->getWithNewType(b_.getIntNTy(in == DType::Float32 ? 32 : 64));
      return b_.CreateICmpSLT(b_.CreateBitCast(a, bits), Constant::getNullValue(bits));
    }
    case OpId::Maximum:
    case OpId::Minimum:
    case OpId::Fmax:
    case OpId::Fmin:
      return extremum(fn, in, a, b);
    case OpId::Clip:
      return extremum(OpId::Minimum, in, extremum(OpId::Maximum, in, a, b), o[2]);
    case OpId::Sign:
    case OpId::Heaviside: {
      llvm::Value* zero = fn == OpId::Sign ? number(0) : b;
      llvm::Value* r = b_.CreateSelect(b_.CreateFCmpOEQ(a, number(0)), zero, a);
      r = b_.CreateSelect(compare(CmpInst::FCMP_OLT, a, number(0)),
                          number(fn == OpId::Sign ? -1 : 0), r);
      return b_.CreateSelect(compare(CmpInst::FCMP_OGT, a, number(0)), number(1), r);
    }
    default:
      return nullptr;
  }
}

// Towards minus infinity. Whatever is divided by zero is zero; the smallest number by -1 is itself.
llvm::Value* Emitter::floor_division(bool remainder, bool is_signed, llvm::Value* a,
                                     llvm::Value* b) {
  llvm::Value *zero = Constant::getNullValue(a->getType()),
              *one = ConstantInt::get(a->getType(), 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed) {
    llvm::Value* by = b_.CreateSelect(by_zero, one, b);
    return b_.CreateSelect(by_zero, zero, remainder ? b_.CreateURem(a, by) : b_.CreateUDiv(a, by));
  }
  llvm::Value* by_minus_one = b_.CreateICmpEQ(b, Constant::getAllOnesValue(a->getType()));
  llvm::Value* by = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), one, b);
  llvm::Value* rest = b_.CreateSRem(a, by);
  llvm::Value* beyond =
      b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, by), zero));
  if (remainder) return b_.CreateAdd(rest, b_.CreateSelect(beyond, by, zero));
  llvm::Value* q = b_.CreateSub(b_.CreateSDiv(a, by), b_.CreateZExt(beyond, a->getType()));
  return b_.CreateSelect(by_zero, zero, b_.CreateSelect(by_minus_one, b_.CreateNeg(a), q));
}

llvm::Value* Emitter::integer_primitive(OpId fn, DType in, Operands o) {
  llvm::Value *a = o[0], *b = o.size() > 1 ? o[1] : nullptr;
  Type* t = a->getType();
  bool is_signed = kind(in) == Kind::Signed;
  auto bits = static_cast<std::uint64_t>(itemsize(in)) * 8;
  auto number = [&](std::uint64_t v) { return ConstantInt::get(t, v, true); };
  llvm::Value* zero = Constant::getNullValue(t);
  auto truth = [&](llvm::Value* v) { return b_.CreateICmpNE(v, zero); };
  auto always = [&](bool v) -> llvm::Value* {
    return ConstantInt::get(t->getWithNewType(b_.getInt1Ty()), v);
  };
  auto relation = [&](CmpInst::Predicate s, CmpInst::Predicate u) {
    return b_.CreateICmp(is_signed ? s : u, a, b);
  };
  // Other kernels raise NumPy's flags here, in precompiled loops.
  if (k_.sequential && (fn == OpId::FloorDivide || fn == OpId::Remainder))
    return floor_division(fn == OpId::Remainder, is_signed, a, b);
  switch (fn) {
    case OpId::Add:
      return b_.CreateAdd(a, b);
    case OpId::Subtract:
      return b_.CreateSub(a, b);
    case OpId::Multiply:
      return b_.CreateMul(a, b);
    case OpId::Square:
      return b_.CreateMul(a, a);
    case OpId::Negative:
      return b_.CreateNeg(a);
    case OpId::Divide:
      return b_.CreateFDiv(cast_primitive(a, in, DType::Float64),
                           cast_primitive(b, in, DType::Float64));
    case OpId::Absolute:
      return is_signed ? b_.CreateBinaryIntrinsic(Intrinsic::abs, a, b_.getFalse()) : a;
    case OpId::Sign:
      if (!is_signed) return b_.CreateZExt(truth(a), t);
      return b_.CreateSub(b_.CreateZExt(b_.CreateICmpSGT(a, zero), t),
                          b_.CreateZExt(b_.CreateICmpSLT(a, zero), t));
    case OpId::Floor:
    case OpId::Ceil:
    case OpId::Trunc:
      return a;
    case OpId::FloorDivide:
    case OpId::Remainder:
      // Lanes are divided by the precompiled loops, which need no division for each.
      return k_.sequential ? integer_division(fn == OpId::Remainder, is_signed, a, b) : nullptr;
    case OpId::BitwiseAnd:
      return b_.CreateAnd(a, b);
    case OpId::BitwiseOr:
      return b_.CreateOr(a, b);
    case OpId::BitwiseXor:
      return b_.CreateXor(a, b);
    case OpId::Invert:
      return b_.CreateNot(a);
    // A shift by the width or more, negative counts included, shifts everything out.
    case OpId::LeftShift: {
      llvm::Value* r = b_.CreateShl(a, b_.CreateAnd(b, number(bits - 1)));
      return b_.CreateSelect(b_.CreateICmpULT(b, number(bits)), r, zero);
    }
    case OpId::RightShift: {
      if (is_signed) {
        llvm::Value* n = b_.CreateBinaryIntrinsic(Intrinsic::umin, b, number(bits - 1));
        return b_.CreateAShr(a, n);
      }
      llvm::Value* r = b_.CreateLShr(a, b_.CreateAnd(b, number(bits - 1)));
      return b_.CreateSelect(b_.CreateICmpULT(b, number(bits)), r, zero);
    }
    case OpId::BitwiseCount: {
      llvm::Value* m = is_signed ? b_.CreateBinaryIntrinsic(Intrinsic::abs, a, b_.getFalse()) : a;
      return b_.CreateTrunc(b_.CreateUnaryIntrinsic(Intrinsic::ctpop, m),
                            t->getWithNewType(b_.getInt8Ty()));
    }
    case OpId::Equal:
      return b_.CreateICmpEQ(a, b);
    case OpId::NotEqual:
      return b_.CreateICmpNE(a, b);
    case OpId::Less:
      return relation(CmpInst::ICMP_SLT, CmpInst::ICMP_ULT);
    case OpId::LessEqual:
      return relation(CmpInst::ICMP_SLE, CmpInst::ICMP_ULE);
    case OpId::Greater:
      return relation(CmpInst::ICMP_SGT, CmpInst::ICMP_UGT);
    case OpId::GreaterEqual:
      return relation(CmpInst::ICMP_SGE, CmpInst::ICMP_UGE);
    case OpId::LogicalAnd:
      return b_.CreateAnd(truth(a), truth(b));
    case OpId::LogicalOr:
      return b_.CreateOr(truth(a), truth(b));
    case OpId::LogicalXor:
      return b_.CreateXor(truth(a), truth(b));
    case OpId::LogicalNot:
      return b_.CreateICmpEQ(a, zero);
    case OpId::Isfinite:
      return always(true);
    case OpId::Isinf:
    case OpId::Isnan:
      return always(false);
    case OpId::Maximum:
    case OpId::Minimum:
    case OpId::Fmax:
    case OpId::Fmin:
      return extremum(fn, in, a, b);
    case OpId::Clip:
      return extremum(OpId::Minimum, in, extremum(OpId::Maximum, in, a, b), o[2]);
    default:
      return nullptr;
  }
}

llvm::Value* Emitter::bool_primitive(OpId fn, Operands o) {
  llvm::Value *a = o[0], *b = o.size() > 1 ? o[1] : nullptr;
  switch (fn) {
    case OpId::Add:
    case OpId::LogicalOr:
    case OpId::BitwiseOr:
    case OpId::Maximum:
    case OpId::Fmax:
      return b_.CreateOr(a, b);
    case OpId::Multiply:
    case OpId::LogicalAnd:
    case OpId::BitwiseAnd:
    case OpId::Minimum:
    case OpId::Fmin:
      return b_.CreateAnd(a, b);
    case OpId::LogicalXor:
    case OpId::BitwiseXor:
    case OpId::NotEqual:
      return b_.CreateXor(a, b);
    case OpId::Equal:
      return b_.CreateNot(b_.CreateXor(a, b));
    case OpId::Less:
      return b_.CreateAnd(b_.CreateNot(a), b);
    case OpId::LessEqual:
      return b_.CreateOr(b_.CreateNot(a), b);
    case OpId::Greater:
      return b_.CreateAnd(a, b_.CreateNot(b));
    case OpId::GreaterEqual:
      return b_.CreateOr(a, b_.CreateNot(b));
    case OpId::Invert:
    case OpId::LogicalNot:
      return b_.CreateNot(a);
    case OpId::Absolute:
    case OpId::Floor:
    case OpId::Ceil:
    case OpId::Trunc:
      return a;
    case OpId::Isfinite:
      return ConstantInt::getTrue(a->getType());
    case OpId::Isinf:
    case OpId::Isnan:
      return ConstantInt::getFalse(a->getType());
    case OpId::Clip:
      return b_.CreateAnd(b_.CreateOr(a, b), o[2]);
    default:
      return nullptr;
  }
}

}  // namespace plait::jit
