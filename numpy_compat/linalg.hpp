// numpy.linalg over LAPACK's factorisations (src/core/calls.def), of stacks of matrices in the last
// two axes. Integers are computed in float64; float16 has no factorisations. Throws LinAlgError.
#pragma once
#include <optional>

#include "tracer/array.hpp"

namespace plait::numpy::linalg {

using tracer::Array;

Array solve(const Array& a, const Array& b);  // `b` of one axis is a vector
Array inv(const Array& a);
Array det(const Array& a);
struct Slogdet {
  Array sign, logabsdet;
};
Slogdet slogdet(const Array& a);
Array cholesky(const Array& a, bool upper = false);
struct Qr {
  Array q, r;
};
Qr qr(const Array& a, bool complete = false);
struct Svd {
  Array u, s, vh;
};
Svd svd(const Array& a, bool full_matrices = true);
Array svdvals(const Array& a);
struct Eigen {
  Array values, vectors;
};
Eigen eigh(const Array& a, bool upper = false);
Array eigvalsh(const Array& a, bool upper = false);
Eigen eig(const Array& a);  // complex, whatever the values are
Array eigvals(const Array& a);
struct Lstsq {
  Array x, residuals;  // no residuals where the rank is less than the columns, or rows are not more
  std::int64_t rank;
  Array s;
};
// rcond: by default the precision times the greater extent.
Lstsq lstsq(const Array& a, const Array& b, std::optional<double> rcond = {});
Array pinv(const Array& a, double rcond = 1e-15);
Array matrix_power(const Array& a, std::int64_t n);
Array matrix_rank(const Array& a, std::optional<double> tolerance = {});

}  // namespace plait::numpy::linalg
