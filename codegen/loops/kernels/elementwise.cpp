// Finds the loop of an operation among the families of this tier.
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// On Bool some operations are others: + is or, * is and.
OpId on_bool(OpId op) {
  switch (op) {
    case OpId::Add:
      return OpId::BitwiseOr;
    case OpId::Multiply:
      return OpId::BitwiseAnd;
    case OpId::Absolute:
      return OpId::Positive;
    default:
      return op;
  }
}

LoopFn integer(OpId op, DType t) {
  for (auto family : {integer_loop, bits_loop, divide_loop, compare_loop, extrema_loop})
    if (const LoopFn fn = family(op, t)) return fn;
  return nullptr;
}
LoopFn real(OpId op, DType t) {
  for (auto family : {float_loop, math_loop, compare_loop, extrema_loop})
    if (const LoopFn fn = family(op, t)) return fn;
  return nullptr;
}

}  // namespace

LoopFn elementwise(OpId op, DType t) {
  if (op == OpId::Where) return select_loop(op, t);
  if (op_info(op).loops.find(code(t)) == std::string_view::npos) return nullptr;
  switch (kind(t)) {
    case Kind::Bool:
      return integer(on_bool(op), t);
    case Kind::Signed:
    case Kind::Unsigned:
      return integer(op, t);
    case Kind::Float:
      return t == DType::Float16 ? half_loop(op) : real(op, t);
    case Kind::Complex:
      if (op == OpId::Absolute) return modulus(t);
      if (const LoopFn fn = complex_multiply_loop(op, t)) return fn;
      return complex_loop(op, t);
  }
  return nullptr;
}

LoopFn join(ReduceKind kind, DType t) {
  const OpId op = reduce_info(kind).combine;
  return is_complex(t) && op == OpId::Multiply ? complex_loop(op, t) : elementwise(op, t);
}

}  // namespace plait::loops::PLAIT_TIER
