// solve, inv, slogdet, cholesky, qr and lstsq.
#include <algorithm>
#include <cmath>

#include "core/buffer.hpp"
#include "matrices.hpp"

namespace plait::engine {

namespace {

double cubed(std::int64_t n) { return std::pow(static_cast<double>(n), 3); }
constexpr const char* kSingular = "Singular matrix";

template <class T>
void solve(const CallRun& r) {
  const Stack a(r.inputs[0], 2), b(r.inputs[1], 2), x(r.results[0], 2);
  const std::int64_t n = a.extent(0), k = b.extent(1);
  for_each_matrix("solve", kSingular, x.count(), cubed(n) / 3 + double(n) * double(n) * double(k),
                  a.elements(), [&](std::int64_t i) {
                    const Cell<T> matrix(n * n), sides(n * k);
                    a.load(i, matrix.data());
                    b.load(i, sides.data());
                    const int info = lapack::solve<T>(n, k, matrix.data(), sides.data());
                    x.store(i, sides.data());
                    return info;
                  });
}

template <class T>
void invert(const CallRun& r) {
  const Stack a(r.inputs[0], 2), x(r.results[0], 2);
  const std::int64_t n = a.extent(0);
  for_each_matrix("inv", kSingular, x.count(), cubed(n), a.elements(), [&](std::int64_t i) {
    const Cell<T> matrix(n * n), sides(n * n);
    a.load(i, matrix.data());
    std::fill_n(sides.data(), n * n, T(0));
    for (std::int64_t d = 0; d < n; ++d) sides.data()[d * (n + 1)] = T(1);
    const int info = lapack::solve<T>(n, n, matrix.data(), sides.data());
    x.store(i, sides.data());
    return info;
  });
}

template <class T>
void log_determinants(const CallRun& r) {
  const Stack a(r.inputs[0], 2), sign(r.results[0], 0), logarithm(r.results[1], 0);
  const std::int64_t n = a.extent(0);
  for_each_matrix("det", kSingular, a.count(), cubed(n) / 3, a.elements(), [&](std::int64_t i) {
    const Cell<T> matrix(n * n);
    a.load(i, matrix.data());
    T s;
    Real<T> l;
    lapack::determinant<T>(n, matrix.data(), s, l);
    sign.store(i, &s);
    logarithm.store(i, &l);
    return 0;
  });
}

template <class T>
void factor(const CallRun& r) {
  const Stack a(r.inputs[0], 2), x(r.results[0], 2);
  const std::int64_t n = a.extent(0);
  const bool upper = r.attributes.numbers[0] != 0;
  for_each_matrix("cholesky", "Matrix is not positive definite", a.count(), cubed(n) / 6,
                  a.elements(), [&](std::int64_t i) {
                    const Cell<T> matrix(n * n);
                    a.load(i, matrix.data());
                    const int info = lapack::cholesky<T>(n, matrix.data(), upper);
                    for (std::int64_t column = 0; column < n; ++column) {
                      T* c = matrix.data() + column * n;
                      if (upper)
                        std::fill(c + column + 1, c + n, T(0));
                      else
                        std::fill(c, c + column, T(0));
                    }
                    x.store(i, matrix.data());
                    return info;
                  });
}

template <class T>
void orthogonalise(const CallRun& r) {
  const Stack a(r.inputs[0], 2), q(r.results[0], 2), triangle(r.results[1], 2);
  const std::int64_t m = a.extent(0), n = a.extent(1), k = q.extent(1);
  for_each_matrix("qr", "QR factorization failed", a.count(),
                  double(m) * double(n) * double(std::max(k, n)), a.elements(),
                  [&](std::int64_t i) {
                    const Cell<T> matrix(m * n), columns(m * k), upper(k * n);
                    a.load(i, matrix.data());
                    const int info = lapack::qr<T>(m, n, matrix.data(), k, columns.data());
                    q.store(i, columns.data());
                    for (std::int64_t c = 0; c < n; ++c)
                      for (std::int64_t row = 0; row < k; ++row)
                        upper.data()[c * k + row] = row <= c ? matrix.data()[c * m + row] : T(0);
                    triangle.store(i, upper.data());
                    return info;
                  });
}

template <class T>
void fit(const CallRun& r) {
  const Stack a(r.inputs[0], 2), b(r.inputs[1], 2), x(r.results[0], 2), residuals(r.results[1], 1),
      rank(r.results[2], 1), s(r.results[3], 1);
  const std::int64_t m = a.extent(0), n = a.extent(1), k = b.extent(1), rows = std::max(m, n);
  const auto rcond = static_cast<Real<T>>(r.attributes.scalar.as<double>());
  for_each_matrix("lstsq", "SVD did not converge in Linear Least Squares", 1,
                  4 * double(m) * double(n) * double(std::min(m, n)), a.elements(),
                  [&](std::int64_t i) {
                    const Cell<T> matrix(m * n), given(m * k), sides(rows * k), found(n * k);
                    const Cell<Real<T>> values(std::min(m, n)), sums(k);
                    a.load(i, matrix.data());
                    b.load(i, given.data());
                    for (std::int64_t c = 0; c < k; ++c)
                      std::copy_n(given.data() + c * m, m, sides.data() + c * rows);
                    std::int64_t full = 0;
                    const int info = lapack::least_squares<T>(m, n, k, matrix.data(), sides.data(),
                                                              values.data(), rcond, full);
                    for (std::int64_t c = 0; c < k; ++c) {
                      const T* column = sides.data() + c * rows;
                      std::copy_n(column, n, found.data() + c * n);
                      Real<T> sum = 0;
                      for (std::int64_t row = n; row < m; ++row) sum += std::norm(column[row]);
                      sums.data()[c] = sum;
                    }
                    x.store(i, found.data());
                    residuals.store(i, sums.data());
                    rank.store(i, &full);
                    s.store(i, values.data());
                    return info;
                  });
}

}  // namespace

void run_solve(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { solve<T>(r); });
}
void run_inv(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { invert<T>(r); });
}
void run_slogdet(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { log_determinants<T>(r); });
}
void run_cholesky(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { factor<T>(r); });
}
void run_qr(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { orthogonalise<T>(r); });
}
void run_lstsq(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { fit<T>(r); });
}

}  // namespace plait::engine
