// numpy.linalg.norm.
#include <cmath>

#include "linalg.hpp"
#include "record.hpp"

namespace plait::numpy {
namespace {

using Kind = NormOrder::Kind;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_number(const NormOrder& o, double p) { return o.kind == Kind::Number && o.p == p; }

Array fold(ReduceKind kind, const Array& a, const Dims& axes, bool keepdims,
           std::optional<double> initial = {}) {
  ReduceOptions r;
  r.axes = axes;
  r.keepdims = keepdims;
  if (initial) r.initial = cast(scalar_float(*initial), a.dtype);
  return tracer::reduce(kind, a, r);
}

// |x|^2 as NumPy computes it: (x.conj() * x).real.
Array squares(const Array& x) {
  if (!is_complex(x.dtype)) return call(OpId::Multiply, x, x);
  return call(OpId::Real, call(OpId::Multiply, call(OpId::Conjugate, x), x));
}

Array vector_norm(const Array& x, const NormOrder& order, const Dims& axis, bool keepdims) {
  if (order.kind == Kind::Default || is_number(order, 2))
    return call(OpId::Sqrt, fold(ReduceKind::Sum, squares(x), axis, keepdims));
  if (order.kind == Kind::Frobenius) throw ValueError("Invalid norm order 'fro' for vectors");
  if (order.kind == Kind::Nuclear) throw ValueError("Invalid norm order 'nuc' for vectors");
  if (order.p == 0) {
    const DType t = tracer::real(x).dtype;
    const Array nonzero = call(OpId::NotEqual, x, Operand(scalar_int(0), Weak::Int));
    return fold(ReduceKind::Sum, as(nonzero, t), axis, keepdims);
  }
  const Array magnitude = call(OpId::Absolute, x);
  if (order.p == kInfinity) return fold(ReduceKind::Max, magnitude, axis, keepdims, 0.0);
  if (order.p == -kInfinity) return fold(ReduceKind::Min, magnitude, axis, keepdims);
  if (order.p == 1) return fold(ReduceKind::Sum, magnitude, axis, keepdims);
  const Array powers = tracer::power_operator(magnitude, weak(order.p));
  const Array total = fold(ReduceKind::Sum, powers, axis, keepdims);
  return laid_out_like(tracer::power_operator(total, weak(1.0 / order.p)), total);
}

Array matrix_norm(const Array& x, const NormOrder& order, const Dims& axes, bool keepdims) {
  const int row = normalize_axis(axes[0], x.ndim()), column = normalize_axis(axes[1], x.ndim());
  if (row == column) throw ValueError("Duplicate axes given.");
  const auto finish = [&](const Array& result) {
    if (!keepdims) return result;
    Dims shape = x.shape;
    shape[row] = shape[column] = 1;
    return tracer::reshape(result, shape);
  };
  if (order.kind == Kind::Default || order.kind == Kind::Frobenius)
    return finish(call(OpId::Sqrt, fold(ReduceKind::Sum, squares(x), Dims{row, column}, false)));
  if (norm_needs_svd(order, x.ndim(), axes)) {
    const Array values = linalg::svdvals(tracer::moveaxis(x, Dims{row, column}, Dims{-2, -1}));
    const ReduceKind kind = order.kind == Kind::Nuclear ? ReduceKind::Sum
                            : order.p > 0               ? ReduceKind::Max
                                                        : ReduceKind::Min;
    return finish(fold(kind, values, Dims{-1}, false));
  }
  const bool by_column = order.p == 1 || order.p == -1;
  if (!by_column && std::abs(order.p) != kInfinity)
    throw ValueError("Invalid norm order for matrices.");
  const int first = by_column ? row : column, other = by_column ? column : row;
  const Array sums = fold(ReduceKind::Sum, call(OpId::Absolute, x), Dims{first}, false);
  const Dims rest{other > first ? other - 1 : other};
  return finish(order.p > 0 ? fold(ReduceKind::Max, sums, rest, false, 0.0)
                            : fold(ReduceKind::Min, sums, rest, false));
}

Dims all_axes(int ndim) {
  Dims axes;
  for (int i = 0; i < ndim; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

bool norm_needs_svd(const NormOrder& order, int ndim, const std::optional<Dims>& axes) {
  if ((axes ? axes->size() : ndim) != 2) return false;
  return order.kind == Kind::Nuclear || is_number(order, 2) || is_number(order, -2);
}

Array norm(const Array& source, const NormOrder& order, const std::optional<Dims>& given,
           bool keepdims) {
  const bool inexact = is_float(source.dtype) || is_complex(source.dtype);
  const Array x =
      inexact && !is_narrow(source.dtype) ? source : tracer::astype(source, DType::Float64);
  if (!given && order.kind == Kind::Default) {
    const tracer::Naming as_dot(tracer::NamedAs::Dot);
    return call(OpId::Sqrt, fold(ReduceKind::Sum, squares(x), all_axes(x.ndim()), keepdims));
  }
  const Dims axes = given ? normalize_axes(*given, x.ndim()) : all_axes(x.ndim());
  if (axes.size() == 1) return vector_norm(x, order, axes, keepdims);
  if (axes.size() == 2) return matrix_norm(x, order, axes, keepdims);
  throw ValueError("Improper number of dimensions to norm.");
}

}  // namespace plait::numpy
