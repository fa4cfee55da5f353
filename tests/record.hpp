// Short ways to record an operation, a reduction, a view.
#pragma once
#include <vector>

#include "tracer/array.hpp"

namespace plait::test {
using tracer::Array;
using tracer::Operand;

inline Array apply(OpId fn, const Array& a) {
  const Operand in[] = {a};
  return tracer::elementwise(fn, in);
}
inline Array apply(OpId fn, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return tracer::elementwise(fn, in);
}
inline Operand weak(double v) { return {scalar_float(v), Weak::Float}; }
inline Array reduce(ReduceKind k, const Array& a, std::int64_t axis, bool keepdims = false) {
  tracer::ReduceOptions o;
  o.axes = Dims{axis};
  o.keepdims = keepdims;
  return tracer::reduce(k, a, o);
}
inline Array view(const Array& a, std::vector<tracer::Index> indices) {
  return tracer::slice(a, indices);
}

}  // namespace plait::test
