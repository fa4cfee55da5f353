// The one table of operations. Recording, planning, code generation, the facade and the bindings
// all read it; adding an elementwise function is one row in ops.def and one functor in
// codegen/loops (unless a backend primitive exists).
#pragma once
#include <iterator>
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
  kNoNarrowLoop = 8,  // no loop of ml_dtypes' floats, or one that float32's is no help for
  kNarrowInts = 16,   // loops of ml_dtypes' integers
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

// What the loop over operands of dtype `in` gives.
DType result_type(OpId fn, DType in);

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
  Last,  // of loops only: the value of the last iteration, which the next one may read
};
inline constexpr int kReduceKindCount = 13;  // that arrays have; Last comes after them
enum FoldFlags : std::uint8_t {
  kPlaces = 1,        // gives where the extreme is that `values` gives
  kSelects = 2,       // gives one of the values
  kOrderShows = 4,    // in the bits of floats
  kRepeatsShow = 8,   // folding a value twice gives something else
  kRuns = 16,         // may be read at every iteration: a scan
  kOfTruth = 32,      // of Bool
  kOfBits = 64,       // of no floats
  kHasIdentity = 128  // empty reductions are allowed
};
// A fold of one value. What each of its kinds is to the recorder, the planner and all backends
// stands here; what it starts from says fold_identity. Folds of several values are written as rows
// of ir/fold.hpp.
struct ReduceInfo {
  ReduceKind kind;
  std::string_view name;  // as in loop IR dumps
  OpId combine;           // the elementwise operation that joins two partial results, or Count_
  ReduceKind values;      // the fold of the values themselves: of an arg-reduction its extreme
  std::int8_t decided;    // of Bool: the value that no other changes, -1 where there is none
  std::uint8_t flags;
  constexpr bool has(FoldFlags f) const { return (flags & f) != 0; }
};
inline constexpr ReduceInfo kReductions[] = {
    {ReduceKind::Sum, "sum", OpId::Add, ReduceKind::Sum, -1,
     kOrderShows | kRepeatsShow | kRuns | kHasIdentity},
    {ReduceKind::Prod, "prod", OpId::Multiply, ReduceKind::Prod, -1,
     kOrderShows | kRepeatsShow | kRuns | kHasIdentity},
    {ReduceKind::Min, "min", OpId::Minimum, ReduceKind::Min, 0, kSelects | kRuns},
    {ReduceKind::Max, "max", OpId::Maximum, ReduceKind::Max, 1, kSelects | kRuns},
    {ReduceKind::FMin, "fmin", OpId::Fmin, ReduceKind::FMin, -1, kSelects},
    {ReduceKind::FMax, "fmax", OpId::Fmax, ReduceKind::FMax, -1, kSelects},
    {ReduceKind::ArgMin, "argmin", OpId::Count_, ReduceKind::Min, 0, kPlaces},
    {ReduceKind::ArgMax, "argmax", OpId::Count_, ReduceKind::Max, 1, kPlaces},
    {ReduceKind::Any, "any", OpId::LogicalOr, ReduceKind::Any, 1, kOfTruth | kHasIdentity},
    {ReduceKind::All, "all", OpId::LogicalAnd, ReduceKind::All, 0, kOfTruth | kHasIdentity},
    {ReduceKind::BitAnd, "bitwise_and", OpId::BitwiseAnd, ReduceKind::BitAnd, -1,
     kOfBits | kHasIdentity},
    {ReduceKind::BitOr, "bitwise_or", OpId::BitwiseOr, ReduceKind::BitOr, -1,
     kOfBits | kHasIdentity},
    {ReduceKind::BitXor, "bitwise_xor", OpId::BitwiseXor, ReduceKind::BitXor, -1,
     kOfBits | kRepeatsShow | kHasIdentity},
    {ReduceKind::Last, "last", OpId::Count_, ReduceKind::Last, -1, kSelects | kRepeatsShow},
};
static_assert(std::size(kReductions) == kReduceKindCount + 1);
constexpr const ReduceInfo& reduce_info(ReduceKind kind) {
  return kReductions[static_cast<int>(kind)];
}
constexpr bool is_arg(ReduceKind kind) { return reduce_info(kind).has(kPlaces); }
// Result dtype of numpy's reduction with no dtype= (sum of int8 is int64, argmin int64, any bool
// ...).
DType reduce_dtype(ReduceKind kind, DType operand);
// What a fold of `kind` over values of `t` starts from, in the accumulator's dtype (Sum: -0.0 or 0,
// of Float16 in Float32; Prod 1; Min +inf or the largest integer; FMin NaN; Any and All a Bool).
Scalar fold_identity(ReduceKind kind, DType t);

}  // namespace plait
