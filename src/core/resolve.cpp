// NumPy 2's ufunc type resolution: detail/loops.hpp finds the loops; NumPy's words for what has
// none are here.
#include "plait/detail/loops.hpp"

#include <string>

#include "op_table.hpp"
#include "plait/error.hpp"
#include "public_dtype.hpp"

namespace plait {
namespace {

using detail::core;
using detail::dtype_set;
using detail::outer;

constexpr detail::narrow_loops narrow_loops(int flags) {
  return flags & kNarrowInts     ? detail::narrow_loops::all
         : flags & kNoNarrowLoop ? detail::narrow_loops::none
                                 : detail::narrow_loops::floats;
}
constexpr detail::function_loops kLoops[kOpCount] = {
#define PLAIT_OP(id, name, arity, loops, out, identity, cost, events, flags)         \
  detail::loops_of(OpId::id, loops, detail::rule::out, ((flags) & kNoBoolLoop) != 0, \
                   narrow_loops(flags)),
#include "ops.def"
#undef PLAIT_OP
};
constexpr const detail::function_loops& loops_of(OpId id) { return kLoops[static_cast<int>(id)]; }

LoopTypes uniform(const OpInfo& op, DType loop) {
  LoopTypes t{};
  for (int i = 0; i < op.arity; ++i) t.in[i] = loop;
  t.out = result_type(op.id, loop);
  return t;
}

[[noreturn]] void throw_no_signature(const OpInfo& op, const DType* types) {
  std::string text =
      "ufunc '" + std::string(op.name) + "' did not contain a loop with signature matching types ";
  if (op.arity == 1) {
    text += dtype_class(types[0]);
  } else {
    text += '(';
    for (int i = 0; i < op.arity; ++i) text += (i ? ", " : "") + dtype_class(types[i]);
    text += ')';
  }
  throw DTypeError(text + " -> None");
}

[[noreturn]] void throw_bool(const OpInfo& op, const DType* types) {
  if (op.id == OpId::Subtract)
    throw DTypeError(
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
        "operator, or the logical_xor function instead.");
  if (op.id == OpId::Negative)
    throw DTypeError(
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or "
        "the logical_not function instead.");
  throw_no_signature(op, types);
}

[[noreturn]] void throw_no_loop(const OpInfo& op, const DType* types) {
  if (op.id == OpId::Gcd || op.id == OpId::Lcm) throw_no_signature(op, types);
  throw DTypeError("ufunc '" + std::string(op.name) +
                   "' not supported for the input types, and the inputs could not be safely "
                   "coerced to any supported types according to the casting rule ''safe''");
}

std::string_view spell(Casting c) {
  switch (c) {
    case Casting::No:
      return "no";
    case Casting::Equiv:
      return "equiv";
    case Casting::Safe:
      return "safe";
    case Casting::SameKind:
      return "same_kind";
    case Casting::Unsafe:
      return "unsafe";
  }
  return "";
}

void require_arity(const OpInfo& op, std::size_t n) {
  if (static_cast<int>(n) != op.arity)
    throw InternalError(std::string(op.name) + " takes " + std::to_string(op.arity) +
                        " operands, got " + std::to_string(n));
}

[[noreturn]] void refuse(const OpInfo& op, const detail::resolution& r) {
  const DType types[] = {core(r.in[0]), core(r.in[1]), core(r.in[2])};
  if (r.why == detail::refusal::no_common_dtype) promote(types[0], types[1]);
  if (r.why == detail::refusal::bools) throw_bool(op, types);
  throw_no_loop(op, types);
}

}  // namespace

DType result_type(OpId fn, DType in) { return core(detail::output(loops_of(fn), outer(in))); }

LoopTypes resolve(OpId id, std::span<const OperandType> operands) {
  const OpInfo& op = op_info(id);
  require_arity(op, operands.size());
  detail::operand_type types[3] = {};
  for (int i = 0; i < op.arity; ++i) types[i] = {outer(operands[i].dtype), outer(operands[i].weak)};
  const detail::resolution r = detail::resolve(loops_of(id), types, op.arity);
  if (!r.found()) refuse(op, r);
  return {{core(r.in[0]), core(r.in[1]), core(r.in[2])}, core(r.result)};
}

LoopTypes resolve_with_dtype(OpId id, std::span<const OperandType> operands, DType dtype,
                             Casting casting) {
  const OpInfo& op = op_info(id);
  require_arity(op, operands.size());
  const auto no_match = [&]() -> DTypeError {
    return DTypeError("No loop matching the specified signature and casting was found for ufunc " +
                      std::string(op.name));
  };
  if (op.out == OutRule::Bool || op.out == OutRule::UInt8) {
    if (dtype != (op.out == OutRule::Bool ? DType::Bool : DType::UInt8)) throw no_match();
    return resolve(id, operands);
  }
  DType types[3];
  for (int i = 0; i < op.arity; ++i)
    types[i] = operands[i].weak == Weak::None ? operands[i].dtype : default_dtype(operands[i].weak);
  if ((op.flags & kNoBoolLoop) && dtype == DType::Bool) throw_bool(op, types);

  // Candidates: the loops whose result is `dtype`, NumPy's order. Only Real rows have two (absolute
  // of floats and of complex numbers).
  dtype_set candidates = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType loop = static_cast<DType>(i);
    if (!(loops_of(id).loops & detail::set_of(outer(loop)))) continue;
    if (id == OpId::Divide && is_integer(loop)) continue;
    if (result_type(id, loop) == dtype) candidates |= detail::set_of(outer(loop));
  }
  if (!candidates) throw no_match();
  dtype_set safe = candidates;
  plait::dtype own[3] = {};
  for (int i = 0; i < op.arity; ++i) {
    own[i] = outer(types[i]);
    safe &= detail::safe_targets(own[i]);
  }
  safe = detail::preferred(safe, own, op.arity);
  const DType loop = core(detail::first_of(safe ? safe : candidates));
  for (int i = 0; i < op.arity; ++i) {
    // A Python scalar adapts within and above its kind.
    const bool adapts =
        operands[i].weak != Weak::None && promote_weak(loop, operands[i].weak) == loop;
    if (adapts || can_cast(types[i], loop, casting)) continue;
    std::string text = "Cannot cast ufunc '" + std::string(op.name) + "' input ";
    if (op.arity > 1) text += std::to_string(i) + ' ';
    throw DTypeError(text + "from dtype('" + std::string(name(types[i])) + "') to dtype('" +
                     std::string(name(loop)) + "') with casting rule '" +
                     std::string(spell(casting)) + "'");
  }
  return uniform(op, loop);
}

}  // namespace plait
