// The families of vector functions, together.
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

Found find(OpId op, DType t) {
  for (auto family :
       {exponential, trigonometric, hyperbolic, power, error_function, float_division})
    if (const Found f = family(op, t); f.loop) return f;
  return {nullptr, {nullptr, 0}};
}

}  // namespace

LoopFn math_loop(OpId op, DType t) { return find(op, t).loop; }
VectorFn vector_function(OpId op, DType t) { return find(op, t).entry; }

}  // namespace plait::loops::PLAIT_TIER
