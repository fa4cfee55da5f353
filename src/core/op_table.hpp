// The one table of operations. Recording, planning, code generation, the facade and the bindings
// all read it; adding an elementwise function is one row in ops.def and one functor in
// codegen/loops (unless a backend primitive exists).
#pragma once
#include <span>
#include <string_view>

#include "dtype.hpp"

namespace plait {

struct Scalar;

enum class OpId : std::uint8_t {
#define PLAIT_OP(id, ...) id,
#include "ops.def"
#undef PLAIT_OP
  Count_
};
inline constexpr int kOpCount = static_cast<int>(OpId::Count_);

// How the result dtype follows from the loop dtype that type resolution chose.
enum class OutRule : std::uint8_t { Same, Bool, Real, UInt8, Special };

// A backend may emit the operation itself; otherwise it calls the precompiled loop or vector
// function.
enum class Cost : std::uint8_t {
  Cheap = 1,
  Medium = 4,
  Expensive = 20
};  // rough cycles a vector: add, divide/sqrt, exp

enum OpFlags : std::uint16_t {
  kNonNegative = 1,  // or NaN, and never -0.0, whatever the operands
  kNoBoolLoop = 2,
  kPoleAtOne = 4,  // raises a flag at 1, where every other operation is quiet; this one is so at 0
};

struct OpInfo {
  OpId id;
  std::string_view name;   // NumPy's ufunc name
  int arity;               // 1, 2 or 3
  std::string_view loops;  // NumPy loop letters, tried in order; each letter is a loop whose
                           // operands all have that dtype
  OutRule out;
  std::int8_t identity;  // of ufunc.reduce: 0, 1, -1 (all ones), or kNoIdentity
  Cost cost;
  std::uint16_t flags;
};
inline constexpr std::int8_t kNoIdentity = 2;

const OpInfo& op_info(OpId id);
// Looks a ufunc up by NumPy's name; OpId::Count_ when there is none.
OpId find_op(std::string_view numpy_name);

// An operand's dtype and weakness, for type resolution.
struct OperandType {
  DType dtype;
  Weak weak = Weak::None;
};
struct LoopTypes {
  DType in[3];  // what each operand is cast to
  DType out;
};
// NumPy's ufunc type resolution under NEP 50 (dtype= forces the loop by output, as `dtype=` of a
// ufunc call does). Throws DTypeError with NumPy's wording ("ufunc 'bitwise_and' not supported for
// the input types, ..." and the special texts of subtract and negative on bool).
// Operands of one loop have one dtype, with two exceptions: Where (Bool first), and the six
// comparisons of a signed integer with uint64. No common dtype holds both exactly, so resolve()
// gives {Int64, UInt64} (or the reverse) and the recorder rewrites the comparison with
// compare_signs (core/mixed_compare.hpp).
LoopTypes resolve(OpId id, std::span<const OperandType> operands);
LoopTypes resolve_with_dtype(OpId id, std::span<const OperandType> operands, DType dtype,
                             Casting casting);

enum class ReduceKind : std::uint8_t {
  Sum,
  Prod,
  Min,
  Max,
  FMin,
  FMax,
  ArgMin,
  ArgMax,
  Any,
  All,
  BitAnd,
  BitOr,
  BitXor,
};
inline constexpr int kReduceKindCount = 13;
struct ReduceInfo {
  ReduceKind kind;
  std::string_view name;  // as in loop IR dumps
  OpId combine;           // the elementwise operation that joins two partial results (Count_ for
                          // arg-reductions)
  bool has_identity;      // empty reductions are allowed
};
const ReduceInfo& reduce_info(ReduceKind kind);
// Result dtype of numpy's reduction with no dtype= (sum of int8 is int64, argmin int64, any bool
// ...).
DType reduce_dtype(ReduceKind kind, DType operand);
// What a fold of `kind` over values of `t` starts from, in the accumulator's dtype (Sum: -0.0 or 0,
// of Float16 in Float32; Prod 1; Min +inf or the largest integer; FMin NaN; Any and All a Bool).
Scalar fold_identity(ReduceKind kind, DType t);

}  // namespace plait
