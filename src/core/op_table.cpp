#include "op_table.hpp"

#include <array>
#include <string>
#include <unordered_map>

#include "op_events.hpp"
#include "plait/error.hpp"
#include "processor/float_unit.hpp"

namespace plait {
namespace {

using enum OutRule;
using enum Cost;

constexpr OpInfo kOps[] = {
#define PLAIT_OP(id, name, arity, loops, out, identity, cost, events, flags) \
  {OpId::id, name, arity, loops, out, identity, cost, static_cast<std::uint16_t>(flags)},
#include "ops.def"
#undef PLAIT_OP
};
static_assert(std::size(kOps) == kOpCount);

// Flags that operations on real and on complex numbers may raise.
struct Events {
  unsigned real, complex;
};
constexpr unsigned kRange = kOver | kUnder | kInvalid;
constexpr Events None{0, 0}, Invalid{kInvalid, kInvalid}, Range{kRange, kRange},
    Pole{kRange | kDivide, kRange | kDivide};
constexpr Events Bounded{kUnder | kInvalid, kRange};          // of real numbers, near 1
constexpr Events Angle{kUnder | kInvalid, kRange | kDivide};  // which has poles off the real line
// Of a real number, itself or one; of a complex one, by its length.
constexpr Events Modulus{0, kRange}, Direction{kInvalid, kRange};

constexpr Events kEvents[] = {
#define PLAIT_OP(id, name, arity, loops, out, identity, cost, events, flags) events,
#include "ops.def"
#undef PLAIT_OP
};

struct Alias {
  std::string_view name;
  OpId id;
};
constexpr Alias kAliases[] = {
    {"true_divide", OpId::Divide},
    {"mod", OpId::Remainder},
    {"pow", OpId::Power},
    {"abs", OpId::Absolute},
    {"conj", OpId::Conjugate},
    {"bitwise_not", OpId::Invert},
    {"bitwise_invert", OpId::Invert},
    {"bitwise_left_shift", OpId::LeftShift},
    {"bitwise_right_shift", OpId::RightShift},
    {"acos", OpId::Arccos},
    {"acosh", OpId::Arccosh},
    {"asin", OpId::Arcsin},
    {"asinh", OpId::Arcsinh},
    {"atan", OpId::Arctan},
    {"atanh", OpId::Arctanh},
    {"atan2", OpId::Arctan2},
};

}  // namespace

const OpInfo& op_info(OpId id) { return kOps[static_cast<int>(id)]; }

OpId find_op(std::string_view numpy_name) {
  static const auto* const by_name = [] {
    auto* m = new std::unordered_map<std::string_view, OpId>;
    for (const OpInfo& op : kOps) m->emplace(op.name, op.id);
    for (const Alias& a : kAliases) m->emplace(a.name, a.id);
    return m;
  }();
  const auto it = by_name->find(numpy_name);
  return it == by_name->end() ? OpId::Count_ : it->second;
}

unsigned may_raise(OpId fn, DType operand) {
  const Events& e = kEvents[static_cast<int>(fn)];
  return is_complex(operand) ? e.complex : e.real;
}

unsigned may_raise(ReduceKind kind, DType operand) {
  const OpId combine = reduce_info(kind).combine;
  return combine == OpId::Count_ ? 0 : may_raise(combine, operand);
}

DType reduce_dtype(ReduceKind kind, DType operand) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Prod:
      if (is_narrow(operand)) return operand;
      // Small integers accumulate in the platform integer, as in NumPy.
      if (operand == DType::Bool || plait::kind(operand) == Kind::Signed) return DType::Int64;
      return plait::kind(operand) == Kind::Unsigned ? DType::UInt64 : operand;
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return DType::Int64;
    case ReduceKind::Any:
    case ReduceKind::All:
      return DType::Bool;
    case ReduceKind::BitAnd:
    case ReduceKind::BitOr:
    case ReduceKind::BitXor:
      break;
    default:
      if (!is_narrow(operand) || is_float(operand)) return operand;
      break;
  }
  const OperandType both[2] = {{operand}, {operand}};
  return resolve(reduce_info(kind).combine, both).out;
}

}  // namespace plait
