#include "op_table.hpp"

#include <array>
#include <string>
#include <unordered_map>

#include "plait/error.hpp"

namespace plait {
namespace {

using enum OutRule;
using enum Cost;

constexpr OpInfo kOps[] = {
#define PLAIT_OP(id, name, arity, loops, out, identity, cost, flags) \
  {OpId::id, name, arity, loops, out, identity, cost, static_cast<std::uint16_t>(flags)},
#include "ops.def"
#undef PLAIT_OP
};
static_assert(std::size(kOps) == kOpCount);

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

constexpr ReduceInfo kReductions[] = {
    {ReduceKind::Sum, "sum", OpId::Add, true},
    {ReduceKind::Prod, "prod", OpId::Multiply, true},
    {ReduceKind::Min, "min", OpId::Minimum, false},
    {ReduceKind::Max, "max", OpId::Maximum, false},
    {ReduceKind::FMin, "fmin", OpId::Fmin, false},
    {ReduceKind::FMax, "fmax", OpId::Fmax, false},
    {ReduceKind::ArgMin, "argmin", OpId::Count_, false},
    {ReduceKind::ArgMax, "argmax", OpId::Count_, false},
    {ReduceKind::Any, "any", OpId::LogicalOr, true},
    {ReduceKind::All, "all", OpId::LogicalAnd, true},
    {ReduceKind::BitAnd, "bitwise_and", OpId::BitwiseAnd, true},
    {ReduceKind::BitOr, "bitwise_or", OpId::BitwiseOr, true},
    {ReduceKind::BitXor, "bitwise_xor", OpId::BitwiseXor, true},
};
static_assert(std::size(kReductions) == kReduceKindCount);

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

const ReduceInfo& reduce_info(ReduceKind kind) { return kReductions[static_cast<int>(kind)]; }

DType reduce_dtype(ReduceKind kind, DType operand) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Prod:
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
    case ReduceKind::BitXor: {
      const OperandType t[2] = {{operand}, {operand}};
      return resolve(reduce_info(kind).combine, t).out;
    }
    default:
      return operand;
  }
}

}  // namespace plait
