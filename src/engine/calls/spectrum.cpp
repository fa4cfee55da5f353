// Singular values and eigenvalues, and their vectors.
#include <algorithm>
#include <cmath>

#include "core/buffer.hpp"
#include "matrices.hpp"

namespace plait::engine {

namespace {

constexpr const char* kSvdFailed = "SVD did not converge";
constexpr const char* kEigenFailed = "Eigenvalues did not converge";

template <class T>
bool all_finite(const T* values, std::int64_t n) {
  return std::all_of(values, values + n, [](const T& v) {
    return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
  });
}

template <class T>
void singular(const CallRun& r, lapack::Vectors vectors) {
  const bool with = vectors != lapack::Vectors::None;
  const Stack a(r.inputs[0], 2), s(r.results[with ? 1 : 0], 1);
  const std::int64_t m = a.extent(0), n = a.extent(1);
  for_each_matrix("svd", kSvdFailed, a.count(), 8 * double(m) * double(n) * double(std::min(m, n)),
                  a.elements(), [&](std::int64_t i) {
                    const Cell<T> matrix(m * n), u(with ? m * m : 1), vt(with ? n * n : 1);
                    const Cell<Real<T>> values(std::min(m, n));
                    a.load(i, matrix.data());
                    const int info = lapack::svd<T>(m, n, matrix.data(), vectors, values.data(),
                                                    u.data(), vt.data());
                    s.store(i, values.data());
                    if (with) {
                      Stack(r.results[0], 2).store(i, u.data());
                      Stack(r.results[2], 2).store(i, vt.data());
                    }
                    return info;
                  });
}

template <class T>
void hermitian(const CallRun& r, bool vectors) {
  const Stack a(r.inputs[0], 2), w(r.results[0], 1);
  const std::int64_t n = a.extent(0);
  const bool upper = r.attributes.numbers[0] != 0;
  for_each_matrix("eigh", kEigenFailed, a.count(), 5 * std::pow(double(n), 3), a.elements(),
                  [&](std::int64_t i) {
                    const Cell<T> matrix(n * n);
                    const Cell<Real<T>> values(n);
                    a.load(i, matrix.data());
                    const int info =
                        lapack::eigh<T>(n, matrix.data(), upper, vectors, values.data());
                    w.store(i, values.data());
                    if (vectors) Stack(r.results[1], 2).store(i, matrix.data());
                    return info;
                  });
}

template <class T>
void general(const CallRun& r, bool vectors) {
  using C = std::complex<Real<T>>;
  const Stack a(r.inputs[0], 2), w(r.results[0], 1);
  const std::int64_t n = a.extent(0);
  std::atomic<bool> finite{true};
  for_each_matrix("eig", kEigenFailed, a.count(), 20 * std::pow(double(n), 3), a.elements(),
                  [&](std::int64_t i) {
                    const Cell<T> matrix(n * n);
                    const Cell<C> values(n), columns(vectors ? n * n : 1);
                    a.load(i, matrix.data());
                    if (!all_finite(matrix.data(), n * n)) {
                      finite = false;
                      return 0;
                    }
                    const int info = lapack::eig<T>(n, matrix.data(), values.data(),
                                                    vectors ? columns.data() : nullptr);
                    w.store(i, values.data());
                    if (vectors) Stack(r.results[1], 2).store(i, columns.data());
                    return info;
                  });
  if (!finite) throw LinAlgError("Array must not contain infs or NaNs");
}

}  // namespace

void run_svd(const CallRun& r) {
  const auto vectors = r.attributes.numbers[0] != 0 ? lapack::Vectors::All : lapack::Vectors::Some;
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { singular<T>(r, vectors); });
}
void run_svdvals(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { singular<T>(r, lapack::Vectors::None); });
}
void run_eigh(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { hermitian<T>(r, true); });
}
void run_eigvalsh(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { hermitian<T>(r, false); });
}
void run_eig(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { general<T>(r, true); });
}
void run_eigvals(const CallRun& r) {
  for_element_type(r.inputs[0].dtype, [&]<class T>(T) { general<T>(r, false); });
}

}  // namespace plait::engine
