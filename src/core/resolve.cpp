// NumPy 2's ufunc type resolution. Loops stand in the order of DType, so "the first loop that all
// operands cast to safely" is the lowest bit common to the loops and to what each operand casts to.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "op_table.hpp"
#include "plait/error.hpp"

namespace plait {
namespace {

using Mask = std::uint32_t;
static_assert(kDTypeCount <= 32);
constexpr Mask bit(DType t) { return Mask{1} << static_cast<int>(t); }

constexpr Mask kNarrow = ~Mask{0} << kNumPyDTypes;
constexpr Mask kFloatLoops = bit(DType::Float16) | bit(DType::Float32) | bit(DType::Float64);

// A row with a loop of float16 has one for each narrow float, unless it says otherwise.
constexpr Mask loop_mask(std::string_view loops, int flags) {
  Mask m = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const bool has = !is_narrow(t) ? loops.find(code(t)) != std::string_view::npos
                     : is_float(t)
                         ? loops.find('e') != std::string_view::npos && !(flags & kNoNarrowLoop)
                         : (flags & kNarrowInts) != 0;
    if (has) m |= bit(t);
  }
  return m;
}
constexpr Mask kLoops[kOpCount] = {
#define PLAIT_OP(id, name, arity, loops, out, identity, cost, flags) loop_mask(loops, flags),
#include "ops.def"
#undef PLAIT_OP
};

Mask safe_targets(DType from) {
  static const auto table = [] {
    std::array<Mask, kDTypeCount> t{};
    for (int a = 0; a < kDTypeCount; ++a)
      for (int b = 0; b < kDTypeCount; ++b)
        if (can_cast(static_cast<DType>(a), static_cast<DType>(b), Casting::Safe))
          t[a] |= bit(static_cast<DType>(b));
    return t;
  }();
  return table[static_cast<int>(from)];
}

// NumPy looks for a loop of the operands' own narrow dtypes, from the left, and then at its own
// loops.
Mask preferred(Mask m, const DType* types, int n) {
  for (int i = 0; i < n; ++i)
    if (const Mask own = m & bit(types[i]) & kNarrow) return own;
  return m & ~kNarrow;
}

DType lowest(Mask m) { return static_cast<DType>(std::countr_zero(m)); }

bool is_comparison(OpId id) { return id >= OpId::Equal && id <= OpId::GreaterEqual; }

DType real_part(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}

DType out_dtype(const OpInfo& op, DType loop) {
  switch (op.out) {
    case OutRule::Bool:
      return DType::Bool;
    case OutRule::Real:
      return real_part(loop);
    case OutRule::UInt8:
      return DType::UInt8;
    case OutRule::Same:
    case OutRule::Special:
      break;
  }
  return loop;
}

LoopTypes uniform(const OpInfo& op, DType loop) {
  LoopTypes t{};
  for (int i = 0; i < op.arity; ++i) t.in[i] = loop;
  t.out = out_dtype(op, loop);
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

// NEP 50: weak scalars take the kind of the strong operands; alone, their own default.
void strong_types(std::span<const OperandType> operands, DType* out) {
  const bool numbers = std::any_of(operands.begin(), operands.end(),
                                   [](const OperandType& o) { return o.weak != Weak::None; });
  DType strong = DType::Bool;
  bool any = false;
  for (const OperandType& o : operands)
    if (numbers && o.weak == Weak::None) {  // pairs that have no common dtype may have loops
      strong = any ? promote(strong, o.dtype) : o.dtype;
      any = true;
    }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const OperandType& o = operands[i];
    if (o.weak == Weak::None)
      out[i] = o.dtype;
    else if (any && o.weak != Weak::Bool)
      out[i] = promote_weak(strong, o.weak);
    else
      out[i] = default_dtype(o.weak);
  }
}

// What where() takes a Python number for beside a narrow dtype.
DType chosen_beside(const OperandType& o, DType as, DType other) {
  if (!is_narrow(other)) return as;
  if (o.weak == Weak::Float && is_float(other) && other != DType::Float8E5M2) return DType::Float64;
  return o.weak == Weak::Int && is_integer(other) ? computes_in(other) : as;
}

void require_arity(const OpInfo& op, std::size_t n) {
  if (static_cast<int>(n) != op.arity)
    throw InternalError(std::string(op.name) + " takes " + std::to_string(op.arity) +
                        " operands, got " + std::to_string(n));
}

bool is_mixed_sign(DType a, DType b) { return kind(a) == Kind::Signed && b == DType::UInt64; }

bool all_bool(const DType* t, int n) {
  for (int i = 0; i < n; ++i)
    if (t[i] != DType::Bool) return false;
  return true;
}

}  // namespace

LoopTypes resolve(OpId id, std::span<const OperandType> operands) {
  const OpInfo& op = op_info(id);
  require_arity(op, operands.size());
  DType types[3];
  if (id == OpId::Where) {
    strong_types(operands.subspan(1), types);
    for (int i = 0; i < 2; ++i) types[i] = chosen_beside(operands[i + 1], types[i], types[1 - i]);
    const DType t = promote(types[0], types[1]);
    return {{DType::Bool, t, t}, t};
  }
  strong_types(operands, types);
  if (is_comparison(id)) {
    if (is_mixed_sign(types[0], types[1])) return {{DType::Int64, DType::UInt64}, DType::Bool};
    if (is_mixed_sign(types[1], types[0])) return {{DType::UInt64, DType::Int64}, DType::Bool};
  }
  const bool refuses_bool = (op.flags & kNoBoolLoop) || id == OpId::Gcd || id == OpId::Lcm;
  if (refuses_bool && all_bool(types, op.arity)) throw_bool(op, types);
  Mask m = kLoops[static_cast<int>(id)];
  for (int i = 0; i < op.arity; ++i) m &= safe_targets(types[i]);
  m = preferred(m, types, op.arity);
  if (!m) throw_no_loop(op, types);
  DType loop = lowest(m);
  // NumPy's division of its own integers goes to float64 at once.
  if (id == OpId::Divide && is_integer(loop))
    loop =
        std::any_of(types, types + op.arity, is_narrow) ? lowest(m & kFloatLoops) : DType::Float64;
  return uniform(op, loop);
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
  Mask candidates = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType loop = static_cast<DType>(i);
    if (!(kLoops[static_cast<int>(id)] & bit(loop))) continue;
    if (id == OpId::Divide && is_integer(loop)) continue;
    if (out_dtype(op, loop) == dtype) candidates |= bit(loop);
  }
  if (!candidates) throw no_match();
  Mask safe = candidates;
  for (int i = 0; i < op.arity; ++i) safe &= safe_targets(types[i]);
  safe = preferred(safe, types, op.arity);
  const DType loop = lowest(safe ? safe : candidates);
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
