#include "linalg.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "plait/linalg_error.hpp"
#include "record.hpp"
#include "tracer/calls.hpp"

namespace plait::numpy::linalg {
namespace {

// What LAPACK computes a dtype in.
DType common(DType t) {
  if (t == DType::Float16) throw DTypeError("array type float16 is unsupported in linalg");
  return is_exact(t) || is_narrow(t) ? DType::Float64 : t;
}
Array matrices(const Array& a) { return as(a, common(a.dtype)); }

std::vector<Array> run(CallId id, std::span<const Array> inputs, const Dims& numbers = {},
                       const Scalar& scalar = {}) {
  return tracer::call(id, inputs, {numbers, scalar, OpId::Count_});
}
std::vector<Array> run(CallId id, const Array& a, const Dims& numbers = {}) {
  const Array m = matrices(a);
  if (m.size() == 0 && m.ndim() >= 2)
    throw LinAlgError("a matrix of shape " + to_string(m.shape) + " has no elements");
  return run(id, std::span(&m, 1), numbers);
}
bool is_square(const Array& a) {
  return a.ndim() >= 2 && a.shape[a.ndim() - 1] == a.shape[a.ndim() - 2];
}
Array last(const Array& a) { return tracer::expand_dims(a, {-1}); }

}  // namespace

Array solve(const Array& given, const Array& sides) {
  const DType t = common(promote(given.dtype, sides.dtype));
  Array a = as(given, t), b = as(sides, t);
  const bool vector = b.ndim() == 1;
  if (vector) b = last(b);
  if (a.ndim() >= 2 && b.ndim() >= 2) {
    const auto stack = [](const Array& x) { return Dims(x.shape.begin(), x.shape.end() - 2); };
    const Dims both = broadcast_shapes(stack(a), stack(b));
    const auto spread = [&](const Array& x) {
      Dims shape = both;
      shape.push_back(x.shape[x.ndim() - 2]);
      shape.push_back(x.shape[x.ndim() - 1]);
      return tracer::broadcast_to(x, shape);
    };
    a = spread(a);
    b = spread(b);
    if (b.size() == 0 && is_square(a)) return vector ? sides : tracer::copy(b);
  }
  const Array inputs[] = {a, b};
  const Array x = run(CallId::Solve, inputs)[0];
  return vector ? tracer::squeeze(x, Dims{-1}) : x;
}
Array inv(const Array& a) {
  if (a.size() == 0 && is_square(a)) return tracer::copy(matrices(a));
  return run(CallId::Inv, a)[0];
}
Slogdet slogdet(const Array& a) {
  const std::vector<Array> made = run(CallId::Slogdet, a);
  return {made[0], made[1]};
}
Array det(const Array& a) { return run(CallId::Det, a)[0]; }
Array cholesky(const Array& a, bool upper) { return run(CallId::Cholesky, a, {upper})[0]; }
Qr qr(const Array& a, bool complete) {
  const std::vector<Array> made = run(CallId::Qr, a, {complete});
  return {made[0], made[1]};
}
Svd svd(const Array& a, bool full_matrices) {
  const std::vector<Array> made = run(CallId::Svd, a, {full_matrices});
  return {made[0], made[1], made[2]};
}
Array svdvals(const Array& a) { return run(CallId::Svdvals, a)[0]; }
Eigen eigh(const Array& a, bool upper) {
  const std::vector<Array> made = run(CallId::Eigh, a, {upper});
  return {made[0], made[1]};
}
Array eigvalsh(const Array& a, bool upper) { return run(CallId::Eigvalsh, a, {upper})[0]; }
Eigen eig(const Array& a) {
  const std::vector<Array> made = run(CallId::Eig, a);
  return {made[0], made[1]};
}
Array eigvals(const Array& a) { return run(CallId::Eigvals, a)[0]; }

Lstsq lstsq(const Array& given, const Array& sides, std::optional<double> rcond) {
  const DType t = common(promote(given.dtype, sides.dtype));
  const Array a = as(given, t);
  const bool vector = sides.ndim() == 1;
  const Array b = vector ? last(as(sides, t)) : as(sides, t);
  if (a.size() == 0 || b.size() == 0) throw LinAlgError("lstsq: matrices without elements");
  const bool single = t == DType::Float32 || t == DType::Complex64;
  const double precision =
      single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double most = a.ndim() == 2 ? static_cast<double>(std::max(a.shape[0], a.shape[1])) : 1;
  const Array inputs[] = {a, b};
  const std::vector<Array> made =
      run(CallId::Lstsq, inputs, {}, scalar_float(rcond.value_or(precision * most)));
  const std::int64_t zero = 0;
  Lstsq l{made[0], made[1], tracer::item(made[2], {&zero, 1}).as<std::int64_t>(), made[3]};
  if (l.rank != a.shape[1] || a.shape[0] <= a.shape[1])
    l.residuals = tracer::empty({0}, l.residuals.dtype);
  if (vector) l.x = tracer::squeeze(l.x, Dims{-1});
  return l;
}

Array pinv(const Array& given, double rcond) {
  const Array a = matrices(given);
  if (a.ndim() >= 2 && a.size() == 0) return tracer::copy(tracer::swapaxes(a, -1, -2));
  const Svd d = svd(is_complex(a.dtype) ? call(OpId::Conjugate, a) : a, false);
  ReduceOptions rows;
  rows.axes = Dims{-1};
  rows.keepdims = true;
  const Array large = call(OpId::Greater, d.s, call(OpId::Multiply, max(d.s, rows), weak(rcond)));
  // 1 in place of what is not divided by.
  const Array safe = call(OpId::Where, large, d.s, weak(1));
  const Array inverse = call(OpId::Where, large, call(OpId::Divide, weak(1), safe), weak(0));
  return tracer::matmul(tracer::swapaxes(d.vh, -1, -2),
                        call(OpId::Multiply, last(inverse), tracer::swapaxes(d.u, -1, -2)));
}

Array matrix_power(const Array& a, std::int64_t n) {
  if (!is_square(a)) throw LinAlgError("Last 2 dimensions of the array must be square");
  if (n < 0) return matrix_power(inv(a), -n);
  if (n == 0)
    return tracer::copy(tracer::broadcast_to(identity(a.shape[a.ndim() - 1], a.dtype), a.shape));
  if (n == 1) return tracer::copy(a);
  const Array half = n == 2 ? a : matrix_power(a, n / 2), squared = tracer::matmul(half, half);
  return n % 2 ? tracer::matmul(squared, a) : squared;
}

Array matrix_rank(const Array& a, std::optional<double> tolerance) {
  const Array s = svdvals(a);
  ReduceOptions rows;
  rows.axes = Dims{-1};
  if (tolerance) return count_nonzero(call(OpId::Greater, s, weak(*tolerance)), rows);
  const double precision = s.dtype == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                                     : std::numeric_limits<double>::epsilon();
  const auto most = static_cast<double>(std::max(a.shape[a.ndim() - 1], a.shape[a.ndim() - 2]));
  ReduceOptions kept = rows;
  kept.keepdims = true;
  return count_nonzero(
      call(OpId::Greater, s, call(OpId::Multiply, max(s, kept), weak(most * precision))), rows);
}

}  // namespace plait::numpy::linalg
