// What each CPU tier provides: the same declarations once a tier namespace. Kernel sources define
// the functions of the tier they are compiled for.
#pragma once
#include "loops.hpp"
#include "product.hpp"

#define PLAIT_DECLARE_TIER(tier)                      \
  namespace plait::loops::tier {                      \
  LoopFn integer_loop(OpId op, DType t);              \
  LoopFn divide_loop(OpId op, DType t);               \
  LoopFn bits_loop(OpId op, DType t);                 \
  LoopFn float_loop(OpId op, DType t);                \
  LoopFn compare_loop(OpId op, DType t);              \
  LoopFn extrema_loop(OpId op, DType t);              \
  LoopFn select_loop(OpId op, DType t);               \
  LoopFn math_loop(OpId op, DType t);                 \
  LoopFn complex_loop(OpId op, DType t);              \
  LoopFn complex_math_loop(OpId op, DType t);         \
  LoopFn complex_multiply_loop(OpId op, DType t);     \
  ReduceFn complex_product_fold(DType t);             \
  LoopFn half_loop(OpId op);                          \
  LoopFn elementwise(OpId op, DType t);               \
  LoopFn join(ReduceKind kind, DType t);              \
  LoopFn cast(DType from, DType to);                  \
  LoopFn half_cast(DType from, DType to);             \
  LoopFn narrow_cast(DType from, DType to);           \
  VectorFn vector_function(OpId op, DType t);         \
  ReduceFn sum(DType t);                              \
  ReduceFn reduce(ReduceKind kind, DType t);          \
  ArgReduceFn arg_reduce(ReduceKind kind, DType t);   \
  ArgColumnsFn arg_columns(ReduceKind kind, DType t); \
  const Product* product(DType a, DType b);           \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE_TIER)
#undef PLAIT_DECLARE_TIER
