// Float16 as the precompiled loops compute it: in Float32, rounded after every operation. It
// travels as its bits; the processor only converts.
#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;

llvm::Value* Emitter::from_half(llvm::Value* v) {
  Type* half = v->getType()->getWithNewType(b_.getHalfTy());
  return b_.CreateFPExt(b_.CreateBitCast(v, half), v->getType()->getWithNewType(b_.getFloatTy()));
}

llvm::Value* Emitter::to_half(llvm::Value* v) {
  llvm::Value* half = b_.CreateFPTrunc(v, v->getType()->getWithNewType(b_.getHalfTy()));
  return b_.CreateBitCast(half, v->getType()->getWithNewType(b_.getInt16Ty()));
}

llvm::Value* Emitter::half_primitive(OpId fn, Operands o) {
  // A sign is a bit.
  if (fn == OpId::Absolute || fn == OpId::Fabs)
    return b_.CreateAnd(o[0], ConstantInt::get(o[0]->getType(), 0x7fff));
  if (fn == OpId::Negative) return b_.CreateXor(o[0], ConstantInt::get(o[0]->getType(), 0x8000));
  if (!computes_half()) return nullptr;
  switch (fn) {
    case OpId::Add:
    case OpId::Subtract:
    case OpId::Multiply:
    case OpId::Divide:
    case OpId::Square:
    case OpId::Sqrt:
    case OpId::Maximum:
    case OpId::Minimum:
    case OpId::Fmax:
    case OpId::Fmin:
    case OpId::Equal:
    case OpId::NotEqual:
    case OpId::Less:
    case OpId::LessEqual:
    case OpId::Greater:
    case OpId::GreaterEqual:
    case OpId::Isnan:
      break;
    default:
      return nullptr;
  }
  SmallVector<llvm::Value*, 2> wide;
  for (llvm::Value* v : o) wide.push_back(from_half(v));
  llvm::Value* r = float_primitive(fn, DType::Float32, wide);
  return r->getType()->isIntOrIntVectorTy(1) ? r : to_half(r);
}

}  // namespace plait::jit
