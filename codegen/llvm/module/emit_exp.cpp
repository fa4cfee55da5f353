// The exponential in line: a call spills every vector register around it, which costs loops that
// keep accumulators more than the function itself. The operations are those of Exp in
// codegen/loops/kernels/math_exp.cpp, so the bits are too; registers with an element out of range
// go to that function whole.
#include <array>

#include "codegen/loops/coefficients.hpp"
#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
using namespace loops::coefficients;

namespace {

// The parameters of one precision.
struct Exponent {
  double range, rounder, log2e, ln2[2];
  unsigned mantissa;
  bool pairs;  // the polynomial in pairs of terms
  ArrayRef<double> tail;
};

Exponent parameters(DType t) {
  if (t == DType::Float64)
    return {708.0, 0x1.8p52, kLog2E[0], {kLn2[0], kLn2[1]}, 52, true, kExpTail};
  static const auto tail = [] {
    std::array<double, std::size(kExpTailFloat)> wide{};
    std::copy(std::begin(kExpTailFloat), std::end(kExpTailFloat), wide.begin());
    return wide;
  }();
  return {87.0,  0x1.8p23, static_cast<float>(kLog2E[0]), {kLn2Float[0], kLn2Float[1]}, 23,
          false, tail};
}

}  // namespace

llvm::Value* Emitter::exponential(DType t, llvm::Value* x, const Call& call) {
  const Exponent e = parameters(t);
  Type* type = x->getType();
  auto* integers = VectorType::getInteger(cast<VectorType>(type));
  auto number = [&](double v) { return ConstantFP::get(type, v); };
  auto bits = [&](llvm::Value* v) { return b_.CreateBitCast(v, integers); };
  auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return intrinsic(Intrinsic::fma, {a, b, c});
  };
  // Also true for NaN; no flags.
  llvm::Value* size = b_.CreateAnd(
      bits(x), ConstantInt::get(integers, t == DType::Float64 ? ~0ULL >> 1 : ~0U >> 1));
  llvm::Value* special = b_.CreateICmpSGT(size, bits(number(e.range)));
  llvm::Value* a = b_.CreateSelect(special, number(0), x);
  llvm::Value* shifted = fma(a, number(e.log2e), number(e.rounder));
  llvm::Value* k = b_.CreateFSub(shifted, number(e.rounder));
  llvm::Value* r = fma(k, number(-e.ln2[1]), fma(k, number(-e.ln2[0]), a));
  llvm::Value* r2 = b_.CreateFMul(r, r);
  auto n = static_cast<int>(e.tail.size());
  auto term = [&](int i) { return number(e.tail[static_cast<std::size_t>(i)]); };
  llvm::Value* p = term(n - 1);
  if (e.pairs)
    for (int i = n - 3; i >= 0; i -= 2) p = fma(p, r2, fma(r, term(i + 1), term(i)));
  else
    for (int i = n - 2; i >= 0; --i) p = fma(p, r, term(i));
  llvm::Value* m = b_.CreateFAdd(number(1), fma(r2, p, r));
  llvm::Value* scaled =
      b_.CreateAdd(bits(m), b_.CreateShl(bits(shifted), ConstantInt::get(integers, e.mantissa)));
  AllocaInst* result = stack(type);
  b_.CreateStore(b_.CreateBitCast(scaled, type), result);
  Type* mask = b_.getIntNTy(cast<FixedVectorType>(type)->getNumElements());
  when(
      b_.CreateICmpNE(b_.CreateBitCast(special, mask), ConstantInt::get(mask, 0)),
      [&] { b_.CreateStore(call({x}), result); }, nullptr, Odds::Unlikely);
  return b_.CreateLoad(type, result);
}

}  // namespace plait::jit
