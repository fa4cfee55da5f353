// Narrow dtypes (core/narrow.hpp) in registers: they travel as their bits, and are computed with
// in float32 or in 8 bits. The same steps as the precompiled casts, an instruction each.
#include "core/narrow.hpp"

#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;

namespace {
Type* shaped_like(llvm::Value* v, Type* scalar) { return v->getType()->getWithNewType(scalar); }
}  // namespace

llvm::Value* Emitter::from_narrow(llvm::Value* v, DType t) {
  if (!is_float(t)) {
    const auto up = static_cast<std::uint64_t>(8 - narrow_bits(t));
    llvm::Value* raised = b_.CreateShl(v, up);
    return kind(t) == Kind::Signed ? b_.CreateAShr(raised, up) : b_.CreateLShr(raised, up);
  }
  if (const auto made = narrowed_.find(v); made != narrowed_.end() && made->second.to == t)
    return made->second.rounded ? made->second.rounded : rounded(made->second.from, t);
  const NarrowFormat f = narrow_format(t);
  Type* word = shaped_like(v, b_.getInt32Ty());
  Type* single = shaped_like(v, b_.getFloatTy());
  const auto c = [&](std::uint32_t x) { return ConstantInt::get(word, x); };
  llvm::Value* bits = b_.CreateZExt(v, word);
  const auto shift = static_cast<std::uint64_t>(f.shift());
  if (f.is_prefix()) return b_.CreateBitCast(b_.CreateShl(bits, shift), single);
  llvm::Value* code = b_.CreateAnd(bits, c(f.sign() - 1));
  llvm::Value* sign = b_.CreateShl(b_.CreateAnd(bits, c(f.sign())),
                                   static_cast<std::uint64_t>(31 - f.sign_shift()));
  llvm::Value* normal = b_.CreateAdd(b_.CreateShl(code, shift), c(f.rebias()));
  llvm::Value* above = b_.CreateBitCast(b_.CreateAdd(normal, c(1u << 23)), single);
  llvm::Value* subnormal = b_.CreateFSub(above, b_.CreateBitCast(c(f.smallest_normal()), single));
  llvm::Value* value = b_.CreateSelect(b_.CreateICmpULT(code, c(1u << f.mantissa)),
                                       b_.CreateBitCast(subnormal, word), normal);
  const auto becomes = [&](llvm::Value* where, std::uint32_t x) {
    value = b_.CreateSelect(where, c(x), value);
  };
  switch (f.specials) {
    case Specials::Ieee:
      becomes(b_.CreateICmpUGE(code, c(f.first_special())), 0x7fc00000u);
      becomes(b_.CreateICmpEQ(code, c(f.first_special())), 0x7f800000u);
      break;
    case Specials::Fn:
      becomes(b_.CreateICmpEQ(code, c(f.first_special())), 0x7fc00000u);
      break;
    case Specials::Fnuz:
      becomes(b_.CreateICmpEQ(bits, c(f.sign())), 0x7fc00000u);
      break;
    case Specials::Finite:
      break;
  }
  return b_.CreateBitCast(b_.CreateOr(value, sign), single);
}

// from_narrow(to_narrow(v)) without the bits between, which most of a chain never stores.
llvm::Value* Emitter::rounded(llvm::Value* v, DType t) {
  const NarrowFormat f = narrow_format(t);
  Type* word = shaped_like(v, b_.getInt32Ty());
  Type* single = v->getType();
  const auto c = [&](std::uint32_t x) { return ConstantInt::get(word, x); };
  const std::uint32_t last = 1u << f.shift();
  llvm::Value* bits = b_.CreateBitCast(v, word);
  const auto to_even = [&](llvm::Value* x) {
    llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(x, static_cast<std::uint64_t>(f.shift())), c(1));
    return b_.CreateAnd(b_.CreateAdd(b_.CreateAdd(x, c(last / 2 - 1)), odd), c(~(last - 1)));
  };
  if (f.is_prefix()) {  // the sign is none of the bits that change, and infinity comes by itself
    llvm::Value* nan = b_.CreateOr(b_.CreateAnd(bits, c(0x80000000u)), c(0x7fc00000u));
    return b_.CreateBitCast(b_.CreateSelect(is_nan(v), nan, to_even(bits)), single);
  }
  llvm::Value* magnitude = b_.CreateAnd(bits, c(0x7fffffffu));
  llvm::Value* is_small = b_.CreateICmpULT(magnitude, c(f.smallest_normal()));
  llvm::Value* small =
      b_.CreateBitCast(b_.CreateSelect(is_small, magnitude, c(f.smallest_normal())), single);
  llvm::Value* magic = b_.CreateBitCast(c(f.magic()), single);
  llvm::Value* subnormal =
      b_.CreateBitCast(b_.CreateFSub(b_.CreateFAdd(small, magic), magic), word);
  llvm::Value* value = b_.CreateSelect(is_small, subnormal, to_even(magnitude));
  value = b_.CreateSelect(b_.CreateICmpUGE(value, c(f.wide(f.first_special()))),
                          c(f.wide_overflow()), value);
  value = b_.CreateSelect(b_.CreateICmpUGT(magnitude, c(0x7f800000u)), c(f.wide_nan()), value);
  llvm::Value* sign = b_.CreateAnd(bits, c(0x80000000u));
  if (f.specials == Specials::Fnuz)
    value = b_.CreateSelect(b_.CreateICmpEQ(value, c(0)), value, b_.CreateOr(value, sign));
  else
    value = b_.CreateXor(value, sign);
  return b_.CreateBitCast(value, single);
}

llvm::Value* Emitter::to_narrow(llvm::Value* v, DType t) {
  if (!is_float(t))
    return b_.CreateAnd(v, ConstantInt::get(v->getType(), (1u << narrow_bits(t)) - 1));
  const NarrowFormat f = narrow_format(t);
  Type* word = shaped_like(v, b_.getInt32Ty());
  Type* single = v->getType();
  const auto c = [&](std::uint32_t x) { return ConstantInt::get(word, x); };
  const auto shift = static_cast<std::uint64_t>(f.shift());
  const auto as_narrow = [&](llvm::Value* code, llvm::Value* rounded) {
    llvm::Value* made = b_.CreateTrunc(code, shaped_like(v, scalar_type(t)));
    if (isa<Instruction>(made)) narrowed_[made] = {v, rounded, t};  // constants are anybody's
    return made;
  };
  if (f.is_prefix()) {
    llvm::Value* wide = rounded(v, t);
    return as_narrow(b_.CreateLShr(b_.CreateBitCast(wide, word), shift), wide);
  }
  llvm::Value* bits = b_.CreateBitCast(v, word);
  llvm::Value* magnitude = b_.CreateAnd(bits, c(0x7fffffffu));
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, shift), c(1));
  llvm::Value* rounded = b_.CreateAdd(b_.CreateAdd(magnitude, c((1u << (f.shift() - 1)) - 1)), odd);
  llvm::Value* code = b_.CreateSub(b_.CreateLShr(rounded, shift), c(f.rebias() >> f.shift()));
  llvm::Value* is_small = b_.CreateICmpULT(magnitude, c(f.smallest_normal()));
  llvm::Value* small =
      b_.CreateBitCast(b_.CreateSelect(is_small, magnitude, c(f.smallest_normal())), single);
  llvm::Value* sum = b_.CreateFAdd(small, b_.CreateBitCast(c(f.magic()), single));
  code = b_.CreateSelect(is_small, b_.CreateSub(b_.CreateBitCast(sum, word), c(f.magic())), code);
  code = b_.CreateSelect(b_.CreateICmpSGE(code, c(f.first_special())), c(f.overflow()), code);
  code = b_.CreateSelect(b_.CreateICmpUGT(magnitude, c(0x7f800000u)), c(f.nan()), code);
  llvm::Value* sign =
      b_.CreateShl(b_.CreateLShr(bits, 31), static_cast<std::uint64_t>(f.sign_shift()));
  llvm::Value* all = b_.CreateXor(code, sign);
  if (f.specials == Specials::Fnuz)
    all = b_.CreateSelect(b_.CreateICmpEQ(code, c(0)), code, b_.CreateOr(code, sign));
  return as_narrow(all, nullptr);
}

}  // namespace plait::jit
