// Short names for recording, shared by the files of this folder.
#pragma once
#include <initializer_list>

#include "functions.hpp"
#include "tracer/context.hpp"

namespace plait::numpy {

inline Array call(OpId fn, const Operand& a) { return tracer::elementwise(fn, std::span(&a, 1)); }
inline Array call(OpId fn, const Operand& a, const Operand& b) {
  const Operand both[] = {a, b};
  return tracer::elementwise(fn, both);
}
inline Array call(OpId fn, const Operand& a, const Operand& b, const Operand& c) {
  const Operand all[] = {a, b, c};
  return tracer::elementwise(fn, all);
}
// NumPy's scalars are strong operands, Python's weak ones.
inline Operand strong(const Scalar& s) { return {s, Weak::None}; }
inline Operand strong(std::int64_t v) { return {scalar_int(v), Weak::None}; }
inline Operand weak(double v) { return {scalar_float(v), Weak::Float}; }

// Integers and booleans, which NumPy's means and ranges compute exactly or in double precision.
inline bool is_exact(DType t) { return t == DType::Bool || is_integer(t); }

inline Array as(const Array& a, DType t) { return a.dtype == t ? a : tracer::astype(a, t); }
// A product as a sum of it that begins at 0 gives it: -0.0 becomes 0.0.
inline Array from_zero(const Array& product) {
  return is_exact(product.dtype) ? product : call(OpId::Add, product, weak(0.0));
}
inline Array flat(const Array& a) { return a.ndim() == 1 ? a : tracer::reshape(a, Dims{-1}); }
inline Array view(const Array& a, std::initializer_list<tracer::Index> indices) {
  return tracer::slice(a, std::span(indices.begin(), indices.size()));
}
// a[..., i, ...] and a[..., start:stop, ...] along one axis.
Array take_at(const Array& a, int axis, std::int64_t i);
Array slice_axis(const Array& a, int axis, std::int64_t start, std::int64_t stop);

// A fresh array whose memory runs over `axes`, slowest first.
Array empty_in_order(const Dims& shape, const Dims& axes, DType t);
// `result` with the strides of `model` along axes of extent 1: where NumPy computes in place, those
// are the strides that remain visible.
Array laid_out_like(Array result, const Array& model);

// Indices led into [0, n), and what a table in one line has at indices that are inside. Recorded:
// nothing looks at the indices.
Array clamped(const Array& indices, std::int64_t n);
Array looked_up(const Array& table, const Array& indices);

// AxisError with NumPy's text when out of range.
int normalize_axis(std::int64_t axis, int ndim, const char* prefix = "");
Dims normalize_axes(const Dims& axes, int ndim);
void warn(Warning category, std::string_view text);

}  // namespace plait::numpy
