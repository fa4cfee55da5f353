// NumPy's unsafe casts, with the answers of loops' convert.hpp where C has none.
#include <cmath>

#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;

llvm::Value* Emitter::cast_primitive(llvm::Value* v, DType from, DType to) {
  if (from == to) return v;
  if (is_narrow(from)) return from_narrow(v, from);
  if (is_narrow(to)) return to_narrow(v, to);
  if (is_complex(from) || is_complex(to)) return complex_cast(v, from, to);
  if (from == DType::Float16 || to == DType::Float16) {
    if (!computes_half()) return nullptr;
    if (from == DType::Float16 && to == DType::Float32) return from_half(v);
    if (from == DType::Float32 && to == DType::Float16) return to_half(v);
    return nullptr;  // by way of float32 some would be rounded twice
  }
  Type* t = scalar_type(to);
  auto shaped = [&](Type* s) -> Type* {
    auto* vt = dyn_cast<FixedVectorType>(v->getType());
    return vt ? FixedVectorType::get(s, vt->getNumElements()) : s;
  };
  Type *target = shaped(t), *word = shaped(b_.getInt64Ty()), *half = shaped(b_.getInt32Ty());
  llvm::Value* zero = Constant::getNullValue(v->getType());
  // What an integer does not hold is poison to LLVM. A sequential kernel asks in front of a loop
  // for what comes to pass in it, and branches on the answer.
  const auto whole = [&](llvm::Value* x, Type* to_type) {
    llvm::Value* made = b_.CreateFPToSI(x, to_type);
    // The comparisons may signal NaN: so does the conversion.
    if (!kConvertsToSmallest) {
      const unsigned bits = to_type->getScalarSizeInBits();
      const auto number = [&](double n) { return ConstantFP::get(x->getType(), n); };
      const double top = std::ldexp(1.0, static_cast<int>(bits) - 1);  // exact, in float32 too
      llvm::Value* fits =
          b_.CreateAnd(b_.CreateFCmpOGE(x, number(-top)), b_.CreateFCmpOLT(x, number(top)));
      made = b_.CreateSelect(fits, made, ConstantInt::get(to_type, APInt::getSignedMinValue(bits)));
    }
    return k_.sequential ? b_.CreateFreeze(made) : made;
  };
  if (is_float(from)) {
    if (is_float(to)) return b_.CreateFPCast(v, target);
    switch (to) {
      case DType::Bool:
        return b_.CreateFCmpUNE(v, zero);
      case DType::Int64:
      case DType::Int32:
        return whole(v, target);
      case DType::UInt32:
        return b_.CreateTrunc(whole(v, word), target);
      case DType::UInt64: {
        llvm::Value* limit = ConstantFP::get(v->getType(), 0x1p63);
        llvm::Value* high = compare(CmpInst::FCMP_OGE, v, limit);
        // Where it is not high, 0 is subtracted: no flag comes from the side not taken.
        llvm::Value* low = b_.CreateFSub(v, b_.CreateSelect(high, limit, zero));
        llvm::Value* top = b_.CreateShl(b_.CreateZExt(high, word), 63);
        return b_.CreateXor(whole(low, word), top);
      }
      default:
        return b_.CreateTrunc(whole(v, half), target);
    }
  }
  bool is_signed = kind(from) == Kind::Signed;
  if (is_float(to)) return is_signed ? b_.CreateSIToFP(v, target) : b_.CreateUIToFP(v, target);
  if (to == DType::Bool) return b_.CreateICmpNE(v, zero);
  return b_.CreateIntCast(v, target, is_signed);
}

}  // namespace plait::jit
