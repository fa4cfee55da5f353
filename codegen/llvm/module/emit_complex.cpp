// Complex numbers by NumPy's formulas, as the functors of codegen/loops compute them. What is not
// here (quotients, powers, functions) goes through the precompiled loops.
#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;

llvm::Value* Emitter::part(llvm::Value* v, int which) {
  return every_second(DType::Float64, v, which);
}

llvm::Value* Emitter::complex(llvm::Value* re, llvm::Value* im) {
  auto* t = dyn_cast<FixedVectorType>(re->getType());
  if (!t) {
    llvm::Value* v = PoisonValue::get(FixedVectorType::get(re->getType(), 2));
    v = b_.CreateInsertElement(v, re, std::uint64_t{0});
    return b_.CreateInsertElement(v, im, std::uint64_t{1});
  }
  const int n = static_cast<int>(t->getNumElements());
  SmallVector<int, 64> pick;
  for (int l = 0; l < n; ++l) pick.append({l, n + l});
  return b_.CreateShuffleVector(re, im, pick);
}

// Rounded after each step, as folds have it.
llvm::Value* Emitter::complex_product(llvm::Value* x, llvm::Value* y) {
  auto times = [&](int a, int b) { return b_.CreateFMul(part(x, a), part(y, b)); };
  return complex(b_.CreateFSub(times(0, 0), times(1, 1)), b_.CreateFAdd(times(0, 1), times(1, 0)));
}

llvm::Value* Emitter::complex_primitive(OpId fn, DType in, Operands o) {
  const DType t = part_type(in);
  llvm::Value *a = o[0], *b = o.size() > 1 ? o[1] : nullptr;
  auto re = [&](llvm::Value* v) { return part(v, 0); };
  auto im = [&](llvm::Value* v) { return part(v, 1); };
  auto product = [&](llvm::Value* x, llvm::Value* y) {
    if (!info(target_.tier).fused) return complex_product(x, y);
    llvm::Value* straight = b_.CreateFNeg(b_.CreateFMul(im(x), im(y)));
    llvm::Value* crossed = b_.CreateFMul(im(x), re(y));
    return complex(intrinsic(Intrinsic::fma, {re(x), re(y), straight}),
                   intrinsic(Intrinsic::fma, {re(x), im(y), crossed}));
  };
  auto nonzero = [&](llvm::Value* v) {
    llvm::Value* parts = b_.CreateFCmpUNE(v, Constant::getNullValue(v->getType()));
    return b_.CreateOr(re(parts), im(parts));
  };
  auto nan = [&](llvm::Value* v) { return b_.CreateOr(is_nan(re(v)), is_nan(im(v))); };
  // Lexicographic; a NaN in an imaginary part decides against.
  auto after = [&](llvm::Value* x, llvm::Value* y, CmpInst::Predicate last) {
    llvm::Value* known = compare(CmpInst::FCMP_ORD, im(x), im(y));
    llvm::Value* first = b_.CreateAnd(compare(CmpInst::FCMP_OGT, re(x), re(y)), known);
    llvm::Value* equal = compare(CmpInst::FCMP_OEQ, re(x), re(y));
    return b_.CreateOr(first, b_.CreateAnd(equal, compare(last, im(x), im(y))));
  };
  auto extreme = [&](llvm::Value* loses, llvm::Value* wins) {
    return select(in, b_.CreateOr(nan(loses), wins), a, b);
  };
  constexpr auto kGreater = CmpInst::FCMP_OGT, kNotLess = CmpInst::FCMP_OGE;
  switch (fn) {
    case OpId::Add:
      return b_.CreateFAdd(a, b);
    case OpId::Subtract:
      return b_.CreateFSub(a, b);
    case OpId::Negative:
      return b_.CreateFNeg(a);
    case OpId::Positive:
      return a;
    case OpId::Conjugate:
      return complex(re(a), b_.CreateFNeg(im(a)));
    case OpId::Multiply:
      return product(a, b);
    case OpId::Square:
      return product(a, a);
    case OpId::Rint:
      return intrinsic(Intrinsic::nearbyint, {a});
    case OpId::Real:
      return re(a);
    case OpId::Imag:
      return im(a);
    case OpId::Equal:
      return b_.CreateAnd(compare(CmpInst::FCMP_OEQ, re(a), re(b)),
                          compare(CmpInst::FCMP_OEQ, im(a), im(b)));
    case OpId::NotEqual:
      return b_.CreateOr(compare(CmpInst::FCMP_UNE, re(a), re(b)),
                         compare(CmpInst::FCMP_UNE, im(a), im(b)));
    case OpId::Greater:
      return after(a, b, kGreater);
    case OpId::GreaterEqual:
      return after(a, b, kNotLess);
    case OpId::Less:
      return after(b, a, kGreater);
    case OpId::LessEqual:
      return after(b, a, kNotLess);
    case OpId::LogicalAnd:
      return b_.CreateAnd(nonzero(a), nonzero(b));
    case OpId::LogicalOr:
      return b_.CreateOr(nonzero(a), nonzero(b));
    case OpId::LogicalXor:
      return b_.CreateXor(nonzero(a), nonzero(b));
    case OpId::LogicalNot:
      return b_.CreateNot(nonzero(a));
    case OpId::Isnan:
      return nan(a);
    case OpId::Isinf:
      return b_.CreateOr(float_primitive(fn, t, {re(a)}), float_primitive(fn, t, {im(a)}));
    case OpId::Isfinite:
      return b_.CreateAnd(float_primitive(fn, t, {re(a)}), float_primitive(fn, t, {im(a)}));
    case OpId::Maximum:
      return extreme(a, after(a, b, kNotLess));
    case OpId::Minimum:
      return extreme(a, after(b, a, kNotLess));
    case OpId::Fmax:
      return extreme(b, after(a, b, kNotLess));
    case OpId::Fmin:
      return extreme(b, after(b, a, kNotLess));
    default:
      return nullptr;
  }
}

llvm::Value* Emitter::complex_cast(llvm::Value* v, DType from, DType to) {
  if (!is_complex(to)) {
    if (to == DType::Bool) return complex_primitive(OpId::LogicalOr, from, {v, v});
    return cast_primitive(part(v, 0), part_type(from), to);
  }
  if (is_complex(from)) {
    const int lanes = lane_count(from, v);
    return b_.CreateFPCast(v, lanes == 1 ? scalar_type(to) : lanes_type(to, lanes));
  }
  llvm::Value* re = cast_primitive(v, from, part_type(to));
  return re ? complex(re, Constant::getNullValue(re->getType())) : nullptr;
}

// The precompiled vector function takes the parts.
Value Emitter::complex_absolute(const Value& v, DType part_dtype, int lanes) {
  Value re{{}, v.varying}, im{{}, v.varying};
  for (llvm::Value* x : v.regs) {
    re.regs.push_back(part(x, 0));
    im.regs.push_back(part(x, 1));
  }
  return call_vector_function(OpId::Absolute, part_dtype, lanes, {re, im});
}

}  // namespace plait::jit
