// What the general way of recording elementwise operations shares with the short one. Callers hold
// the lock.
#pragma once
#include "graph.hpp"

namespace plait::tracer {

inline constexpr int kMaxOperands = 3;

inline std::int64_t item_bytes(DType t) { return static_cast<std::int64_t>(itemsize(t)); }
inline bool logical(OpId fn) {
  return fn == OpId::LogicalAnd || fn == OpId::LogicalOr || fn == OpId::LogicalXor;
}

// The loop for operands that all have one dtype, resolved once.
struct UniformLoop {
  LoopTypes types;
  bool plain = false;  // its operands are of just that dtype, and nothing depends on their values
  bool known = false;
};
const UniformLoop& uniform_loop(OpId fn, DType t);

// A scalar operand in the loop's dtype.
Scalar loop_scalar(OpId fn, const Operand& o, DType to);

bool small_and_ready(std::span<const Operand> operands, const Dims& shape);
// Computes at once what is small and ready; `result` has dtype, shape and strides. False: record.
bool compute_now(OpId fn, std::span<const Operand> operands, const LoopTypes& types, Array& result);

// The most frequent calls by far: arrays of one shape and dtype in C order, and plain scalars. No
// question of the general way arises.
struct PlainCall {
  const Array* model;      // what the result is like; null for all other calls
  const LoopTypes* types;  // of the loop
};
PlainCall plain_call(OpId fn, std::span<const Operand> operands);
Array plain_elementwise(OpId fn, std::span<const Operand> operands, const PlainCall& call);

}  // namespace plait::tracer
