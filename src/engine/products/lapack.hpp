// Factorisations of single matrices by the LAPACK of blas_library(). Matrices are in memory by
// columns (Fortran's order) and are overwritten; T is float, double or std::complex of them. Each
// function returns LAPACK's `info`: 0, or more than 0 where the matrix does not have what is asked
// for. All of them compute on the calling thread.
#pragma once
#include <complex>
#include <cstdint>

namespace plait::engine {

// Whether the library has all routines that stand here; lapack_missing() says what to do.
bool has_lapack();
[[noreturn]] void lapack_missing(const char* function);

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

namespace lapack {

// a (n, n) x = b (n, k): x comes in b; a is P L U afterwards.
template <class T>
int solve(std::int64_t n, std::int64_t k, T* a, T* b);
// The sign (of modulus 1, or 0) and the logarithm of the modulus of the determinant.
template <class T>
void determinant(std::int64_t n, T* a, T& sign, Real<T>& log_modulus);
// The triangle of a positive definite matrix; what is beside it is as it was.
template <class T>
int cholesky(std::int64_t n, T* a, bool upper);
// a (m, n) = q r: r comes in the upper triangle of a, and in `q` (m, columns) as many columns of q;
// min(m, n) <= columns <= m.
template <class T>
int qr(std::int64_t m, std::int64_t n, T* a, std::int64_t columns, T* q);
// a (m, n) = u diag(s) vt with all columns of u and rows of vt, min(m, n) of them, or none.
enum class Vectors : char { All = 'A', Some = 'S', None = 'N' };
template <class T>
int svd(std::int64_t m, std::int64_t n, T* a, Vectors v, Real<T>* s, T* u, T* vt);
// Eigenvalues of a hermitian matrix, whose triangle is read, ascending; the vectors come in a.
template <class T>
int eigh(std::int64_t n, T* a, bool upper, bool vectors, Real<T>* w);
// Eigenvalues and, unless null, right eigenvectors (n, n).
template <class T>
int eig(std::int64_t n, T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v);
// The x of least |a x - b|: it comes in b (max(m, n), k), whose further rows are residuals;
// singular values of `a` of less than `rcond` times the greatest count as 0.
template <class T>
int least_squares(std::int64_t m, std::int64_t n, std::int64_t k, T* a, T* b, Real<T>* s,
                  Real<T> rcond, std::int64_t& rank);

}  // namespace lapack
}  // namespace plait::engine
