#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/mixed_compare.hpp"
#include "core/op_table.hpp"
#include "golden.hpp"
#include "plait/error.hpp"

using namespace plait;

namespace {

// Where and clip take one dtype twice in the golden table.
std::vector<OperandType> operands(OpId id, OperandType a, OperandType b) {
  if (id == OpId::Where) return {{DType::Bool}, a, b};
  if (id == OpId::Clip) return {a, b, b};
  return {a, b};
}

char result(OpId id, const std::vector<OperandType>& o) {
  try {
    return code(resolve(id, o).out);
  } catch (const DTypeError&) {
    return '.';
  }
}

std::string message(OpId id, std::vector<OperandType> o) {
  try {
    resolve(id, o);
  } catch (const DTypeError& e) {
    return e.what();
  }
  return "no error";
}

std::string message_with(OpId id, std::vector<OperandType> o, DType t,
                         Casting c = Casting::SameKind) {
  try {
    resolve_with_dtype(id, o, t, c);
  } catch (const DTypeError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every row of the table resolves every dtype and pair as NumPy does") {
  std::size_t rows = 0;
  for (const auto& row : golden::kGoldenOps) {
    ++rows;
    std::string got;
    for (int a = 0; a < kNumPyDTypes; ++a) {
      if (op_info(row.id).arity == 1) {
        got += result(row.id, {{golden::dtype(a)}});
        continue;
      }
      for (int b = 0; b < kNumPyDTypes; ++b)
        got += result(row.id, operands(row.id, {golden::dtype(a)}, {golden::dtype(b)}));
    }
    INFO(op_info(row.id).name);
    CHECK(got == row.strong);
  }
  CHECK(rows == kOpCount - 5);  // all but real, imag, erf, erfc and fma
}

TEST_CASE("every binary row resolves weak scalars as NumPy does") {
  for (const auto& row : golden::kGoldenOps) {
    if (row.weak.empty()) continue;
    std::string got;
    for (int a = 0; a < kNumPyDTypes; ++a)
      for (Weak w : {Weak::Bool, Weak::Int, Weak::Float, Weak::Complex}) {
        const OperandType strong{golden::dtype(a)}, weak{default_dtype(w), w};
        got += result(row.id, operands(row.id, strong, weak));
        got += result(row.id, operands(row.id, weak, strong));
      }
    INFO(op_info(row.id).name);
    CHECK(got == row.weak);
  }
}

TEST_CASE("loops of integers divide as float64") {
  const OperandType t[2] = {{DType::Int8}, {DType::Int8}};
  const LoopTypes r = resolve(OpId::Divide, t);
  CHECK(r.in[0] == DType::Float64);
  CHECK(r.in[1] == DType::Float64);
}

TEST_CASE("signed integers and uint64 compare exactly") {
  const OperandType t[2] = {{DType::Int8}, {DType::UInt64}};
  const LoopTypes r = resolve(OpId::Less, t);
  CHECK(r.in[0] == DType::Int64);
  CHECK(r.in[1] == DType::UInt64);
  CHECK(r.out == DType::Bool);
  CHECK(is_mixed_compare(r));
  const OperandType same[2] = {{DType::UInt32}, {DType::UInt64}};
  CHECK_FALSE(is_mixed_compare(resolve(OpId::Less, same)));

  // The rewrite, executed by hand, against the mathematical answer.
  const std::int64_t signed_values[] = {-5, -1, 0, 1, 5, INT64_MAX, INT64_MIN};
  const std::uint64_t unsigned_values[] = {0, 1, 5, 1ull << 63, UINT64_MAX, UINT64_MAX - 4};
  const auto compare = [](OpId id, auto a, auto b) {
    switch (id) {
      case OpId::Equal:
        return a == b;
      case OpId::NotEqual:
        return a != b;
      case OpId::Less:
        return a < b;
      case OpId::LessEqual:
        return a <= b;
      case OpId::Greater:
        return a > b;
      default:
        return a >= b;
    }
  };
  for (std::int64_t s : signed_values)
    for (std::uint64_t u : unsigned_values)
      for (OpId id : {OpId::Equal, OpId::NotEqual, OpId::Less, OpId::LessEqual, OpId::Greater,
                      OpId::GreaterEqual})
        for (bool signed_first : {true, false}) {
          const MixedCompare m = compare_signs(id, signed_first);
          const bool sign = m.sign_test == OpId::Less ? s < 0 : s >= 0;
          const auto us = static_cast<std::uint64_t>(s);
          const bool rest = signed_first ? compare(id, us, u) : compare(id, u, us);
          const bool got = m.combine == OpId::LogicalOr ? sign || rest : sign && rest;
          const auto ws = static_cast<__int128>(s), wu = static_cast<__int128>(u);
          CHECK(got == (signed_first ? compare(id, ws, wu) : compare(id, wu, ws)));
        }
}

TEST_CASE("errors have NumPy's wording") {
  CHECK(message(OpId::Subtract, {{DType::Bool}, {DType::Bool}}) ==
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
        "operator, or the logical_xor function instead.");
  CHECK(message(OpId::Negative, {{DType::Bool}}) ==
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or "
        "the logical_not function instead.");
  CHECK(message(OpId::Positive, {{DType::Bool}}) ==
        "ufunc 'positive' did not contain a loop with signature matching types <class "
        "'numpy.dtypes.BoolDType'> -> None");
  CHECK(message(OpId::Gcd, {{DType::Bool}, {DType::Float16}}) ==
        "ufunc 'gcd' did not contain a loop with signature matching types (<class "
        "'numpy.dtypes.BoolDType'>, <class 'numpy.dtypes.Float16DType'>) -> None");
  CHECK(message(OpId::Floor, {{DType::Complex64}}) ==
        "ufunc 'floor' not supported for the input types, and the inputs could not be safely "
        "coerced to any supported types according to the casting rule ''safe''");
}

TEST_CASE("dtype= forces the loop by its output") {
  const auto with = [](OpId id, std::vector<OperandType> o, DType t) {
    return resolve_with_dtype(id, o, t, Casting::SameKind);
  };
  CHECK(with(OpId::Sqrt, {{DType::Int64}}, DType::Float32).in[0] == DType::Float32);
  CHECK(with(OpId::Divide, {{DType::Int64}, {DType::Int64}}, DType::Float32).in[1] ==
        DType::Float32);
  CHECK(with(OpId::Absolute, {{DType::Complex128}}, DType::Float64).in[0] == DType::Complex128);
  CHECK(with(OpId::Absolute, {{DType::Int64}}, DType::Float64).in[0] == DType::Float64);
  CHECK(with(OpId::Less, {{DType::Int64}, {DType::Float64}}, DType::Bool).in[0] == DType::Float64);
  CHECK(with(OpId::Add, {{DType::Int64}, {DType::Int64, Weak::Int}}, DType::Int8).out ==
        DType::Int8);

  CHECK(message_with(OpId::Add, {{DType::Float64}, {DType::Int64, Weak::Int}}, DType::Int64) ==
        "Cannot cast ufunc 'add' input 0 from dtype('float64') to dtype('int64') with casting rule "
        "'same_kind'");
  CHECK(message_with(OpId::Absolute, {{DType::Complex128}}, DType::Float32) ==
        "Cannot cast ufunc 'absolute' input from dtype('complex128') to dtype('float32') with "
        "casting rule 'same_kind'");
  CHECK(message_with(OpId::Sqrt, {{DType::Int64}}, DType::Int64) ==
        "No loop matching the specified signature and casting was found for ufunc sqrt");
  CHECK(message_with(OpId::Less, {{DType::Int64}, {DType::Int64}}, DType::Float64) ==
        "No loop matching the specified signature and casting was found for ufunc less");
}
