// The reference evaluator: an operation at a time with the precompiled loops. Its results are what
// every other way to evaluate has to reproduce. evaluate_direct itself is declared in engine.hpp.
#pragma once
#include <span>

#include "tracer/array.hpp"

namespace plait::engine {

// One elementwise operation on operands in memory, now: `out` is an array whose memory overlaps no
// operand's, or has the same elements. Operands may be of any dtype and broadcast to out's shape.
// False when the operation has to be recorded instead.
bool direct_eager(OpId fn, std::span<const tracer::Array* const> in, const tracer::Array& out);

// The product of matrices or vectors of one dtype in memory, now: `out` as above.
void direct_product(const tracer::Array& a, const tracer::Array& b, const tracer::Array& out);

// The precompiled loop of `fn` on operands that all have dtype `t`, `n` elements with one stride
// each; the result comes last. `value`: the node of the result. False where there is no such loop.
bool run_small(OpId fn, DType t, void** arguments, const std::int64_t* strides, std::int64_t n,
               tracer::Node& value);

// Gives memory to the arrays behind these that nobody has written to.
void allocate_empty(std::span<tracer::Node* const> wanted);

// The sum of n float32 or float64 numbers, `stride` bytes apart.
void run_small_sum(DType t, const void* in, std::int64_t stride, std::int64_t n, void* out,
                   tracer::Node& value);

// Computes one node whose inputs are in memory or Scalars. The recorder's lock is held.
void compute_direct(tracer::Node& n);

// One short operation, or a reduction of few elements with little in front of it: computing it
// takes less time than looking up its plan.
bool direct_is_faster(std::span<tracer::Node* const> wanted);

// Elements of work below which the recorder's lock is kept: other threads would not get at it in
// time to use it.
inline constexpr std::int64_t kUnlockedWork = 1 << 15;
inline constexpr std::int64_t kUnlockedProducts = 1 << 18;  // multiplications of a matrix product

}  // namespace plait::engine
