// solve, inv, det, slogdet, cholesky, qr and lstsq; small matrices by lanes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/buffer.hpp"
#include "matrices.hpp"
#include "small_stacks.hpp"

namespace plait::engine {

namespace {

double cubed(std::int64_t n) { return std::pow(static_cast<double>(n), 3); }
constexpr const char *kSingular = "Singular matrix",
                     *kIndefinite = "Matrix is not positive definite";

// f(kernels, stack) for a stack of small matrices; false for others.
template <class F>
bool if_small(const Operand& o, F&& f) {
  const SmallStack stack(o);
  const loops::SmallMatrices* const kernels = stack.kernels();
  if (kernels) f(*kernels, stack);
  return kernels != nullptr;
}

// Whether small matrices of any number of columns on the right were solved for.
bool solve_small(const CallRun& r) {
  const SmallStack b(r.inputs[1]), x(r.results[0]);
  return b.kernels() && if_small(r.inputs[0], [&](const auto& kernels, const SmallStack& a) {
           const std::int64_t elements = a.count() * a.rows() * (a.rows() + b.columns());
           const int lanes = kernels.lanes;
           if (!for_each_group(kernels, a.count(), elements, [&](std::int64_t i, int some) {
                 const SmallStack::Group matrices(a, i, some, lanes), sides(b, i, some, lanes),
                     to(x, i, some, lanes);
                 return kernels.solve(a.rows(), b.columns(), some, matrices.matrices(),
                                      sides.matrices(), to.matrices());
               }))
             throw LinAlgError(kSingular);
         });
}

bool invert_small(const CallRun& r) {
  const SmallStack x(r.results[0]);
  return if_small(r.inputs[0], [&](const auto& kernels, const SmallStack& a) {
    if (!for_each_group(kernels, a.count(), 2 * a.elements(), [&](std::int64_t i, int some) {
          const SmallStack::Group matrices(a, i, some, kernels.lanes),
              to(x, i, some, kernels.lanes);
          return kernels.invert(a.rows(), some, matrices.matrices(), to.matrices());
        }))
      throw LinAlgError(kSingular);
  });
}

// Of the upper triangle, what is read and what is found are the transposes.
bool factor_small(const CallRun& r) {
  const SmallStack x(r.results[0]);
  const bool upper = r.attributes.numbers[0] != 0;
  return if_small(r.inputs[0], [&](const auto& kernels, const SmallStack& a) {
    if (!for_each_group(kernels, a.count(), 2 * a.elements(), [&](std::int64_t i, int some) {
          const SmallStack::Group matrices(a, i, some, kernels.lanes),
              to(x, i, some, kernels.lanes);
          return upper ? kernels.cholesky(a.rows(), some, matrices.transposed(), to.transposed())
                       : kernels.cholesky(a.rows(), some, matrices.matrices(), to.matrices());
        }))
      throw LinAlgError(kIndefinite);
  });
}

template <class T>
struct Determinant {
  T sign;  // of modulus 1, or 0
  Real<T> logarithm;
  T value() const { return sign * std::exp(logarithm); }
};
// A product of real factors, so many elements apart, and a sign.
template <class T>
Determinant<T> log_product(std::int64_t n, T sign, const T* factors, std::int64_t step) {
  Determinant<T> d{sign, 0};
  for (std::int64_t i = 0; i < n; ++i) {
    const T f = factors[i * step];
    if (f == 0) return {0, -std::numeric_limits<T>::infinity()};
    d.sign = f < 0 ? -d.sign : d.sign;
    d.logarithm += std::log(std::abs(f));
  }
  return d;
}
// put(i, determinant) for each of a stack of small matrices, or put_log(i, Determinant<T>) where
// what is multiplied on the way leaves the range of T: logarithms are rounded more often.
template <class T, class Put, class PutLog>
bool with_small_determinants(const CallRun& r, Put&& put, PutLog&& put_log) {
  return if_small(r.inputs[0], [&](const auto& kernels, const SmallStack& a) {
    const int n = a.rows(), lanes = kernels.lanes;
    for_each_group(kernels, a.count(), a.elements(), [&](std::int64_t i, int some) {
      const SmallStack::Group group(a, i, some, lanes);
      alignas(64) T values[loops::kMostLanes];
      kernels.determinants(n, group.matrices(), values);
      bool all = true;
      for (int l = 0; l < some; ++l) all &= values[l] != 0;
      alignas(64) T pivots[loops::kSmallMatrix * loops::kMostLanes], signs[loops::kMostLanes];
      if (!all) kernels.pivots(n, group.matrices(), pivots, signs);
      for (int l = 0; l < some; ++l)
        if (values[l] != 0)
          put(i + l, values[l]);
        else
          put_log(i + l, log_product<T>(n, signs[l], pivots + l, lanes));
      return true;
    });
  });
}

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

// f(i, determinant) for each matrix.
template <class T, class F>
void for_each_determinant(const CallRun& r, F&& f) {
  const Stack a(r.inputs[0], 2);
  const std::int64_t n = a.extent(0);
  for_each_matrix("det", kSingular, a.count(), cubed(n) / 3, a.elements(), [&](std::int64_t i) {
    const Cell<T> matrix(n * n);
    a.load(i, matrix.data());
    Determinant<T> d;
    lapack::determinant<T>(n, matrix.data(), d.sign, d.logarithm);
    f(i, d);
    return 0;
  });
}

template <class T>
void determinants(const CallRun& r) {
  const Places value(r.results[0], 0);
  const auto put = [&](std::int64_t i, T v) { std::memcpy(value[i], &v, sizeof v); };
  const auto put_log = [&](std::int64_t i, const Determinant<T>& d) { put(i, d.value()); };
  if constexpr (std::is_floating_point_v<T>)
    if (with_small_determinants<T>(r, put, put_log)) return;
  for_each_determinant<T>(r, put_log);
}

template <class T>
void log_determinants(const CallRun& r) {
  const Places sign(r.results[0], 0), logarithm(r.results[1], 0);
  const auto put = [&](std::int64_t i, const Determinant<T>& d) {
    std::memcpy(sign[i], &d.sign, sizeof d.sign);
    std::memcpy(logarithm[i], &d.logarithm, sizeof d.logarithm);
  };
  if constexpr (std::is_floating_point_v<T>)
    if (with_small_determinants<T>(
            r,
            [&](std::int64_t i, T v) { put(i, {std::copysign(T(1), v), std::log(std::abs(v))}); },
            put))
      return;
  for_each_determinant<T>(r, put);
}

template <class T>
void factor(const CallRun& r) {
  const Stack a(r.inputs[0], 2), x(r.results[0], 2);
  const std::int64_t n = a.extent(0);
  const bool upper = r.attributes.numbers[0] != 0;
  for_each_matrix("cholesky", kIndefinite, a.count(), cubed(n) / 6, a.elements(),
                  [&](std::int64_t i) {
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
  if (solve_small(r)) return;
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { solve<T>(r); });
}
void run_inv(const CallRun& r) {
  if (invert_small(r)) return;
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { invert<T>(r); });
}
void run_det(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { determinants<T>(r); });
}
void run_slogdet(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { log_determinants<T>(r); });
}
void run_cholesky(const CallRun& r) {
  if (factor_small(r)) return;
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { factor<T>(r); });
}
void run_qr(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { orthogonalise<T>(r); });
}
void run_lstsq(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { fit<T>(r); });
}

}  // namespace plait::engine
