// Products, norms and factorisations. The latter are LAPACK's, from the OpenBLAS that is found at
// run time: Error where there is none, LinAlgError for matrices that have no such result.
#pragma once
#include "plait/array.hpp"
#include "plait/linalg_error.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
enum class factorisation : std::uint8_t {
  inv,
  det,
  slogdet,
  cholesky,
  qr,
  svd,
  svdvals,
  eigh,
  eigvalsh,
  eig,
  eigvals,
};
// Each result in its place; `flag`: complete, full, of the upper triangle.
PLAIT_API void factorise(factorisation f, const Handle& a, bool flag, Handle* results);
PLAIT_API Handle solve(const Handle& a, const Handle& b);
PLAIT_API Handle tensorinv(const Handle& a, int ind);
PLAIT_API Handle tensorsolve(const Handle& a, const Handle& b, Span axes);
PLAIT_API std::int64_t lstsq(const Handle& a, const Handle& b, const double* rcond, Handle* x,
                             Handle* residuals, Handle* s);
PLAIT_API Handle pinv(const Handle& a, double rcond);
PLAIT_API Handle matrix_power(const Handle& a, std::int64_t n);
PLAIT_API Handle matrix_rank(const Handle& a, const double* tolerance);
PLAIT_API Handle cond(const Handle& a, double order);
PLAIT_API Handle multi_dot(const Handle* arrays, int n);

PLAIT_API Handle einsum(const std::string& subscripts, const Handle* operands, int n);
constexpr dtype promoted_types(std::initializer_list<dtype> types) {
  dtype all = *types.begin();
  for (const dtype t : types) all = promote(all, t);
  return all;
}
// f of the handles of both operands in the type R, or that they promote to.
template <class R, class A, class B, class F>
auto in_type(A&& a, B&& b, F f) {
  return array<R>(f(array<R>(std::forward<A>(a)).handle(), array<R>(std::forward<B>(b)).handle()));
}
template <class A, class B, class F>
auto promoted(A&& a, B&& b, F f) {
  return in_type<promote_t<element_of<A>, element_of<B>>>(std::forward<A>(a), std::forward<B>(b),
                                                          f);
}
// Of matmul(), which has no loops of narrow dtypes: a float32 of two bfloat16.
template <class T, class U, bool = std::is_void_v<T> || std::is_void_v<U>>
struct matmul_element {
  using type = void;
};
template <class T, class U>
struct matmul_element<T, U, false> {
  using type = element_t<numpys_dtype(dtype_of_v<T>, dtype_of_v<U>)>;
};
template <product P, class A, class B>
auto multiplied(A&& a, B&& b) {
  const auto f = [](const Handle& x, const Handle& y) { return multiply(P, x, y); };
  if constexpr (P == product::matmul)
    return in_type<typename matmul_element<element_of<A>, element_of<B>>::type>(
        std::forward<A>(a), std::forward<B>(b), f);
  else
    return promoted(std::forward<A>(a), std::forward<B>(b), f);
}
template <class T>
array<T> factor(factorisation f, const Handle& a, bool flag = false) {
  Handle h;
  factorise(f, a, flag, &h);
  return array<T>(std::move(h));
}
}  // namespace detail

/// The product of matrices in the last two axes, or of stacks of them, which broadcast
/// (numpy.matmul). Vectors count as a row before, or a column behind. ShapeError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto matmul(A&& a, B&& b) {
  return detail::multiplied<detail::product::matmul>(std::forward<A>(a), std::forward<B>(b));
}
/// The sum of products of vectors, the product of matrices, or of what is there with a scalar
/// (numpy.dot). Of more axes: over the last of `a` and the last but one of `b`. ShapeError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto dot(A&& a, B&& b) {
  return detail::multiplied<detail::product::dot>(std::forward<A>(a), std::forward<B>(b));
}
/// The sum of products of all elements, those of `a` conjugated (numpy.vdot). ValueError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto vdot(A&& a, B&& b) {
  return detail::multiplied<detail::product::vdot>(std::forward<A>(a), std::forward<B>(b));
}
/// The sums of products over the last axes of both (numpy.inner). ShapeError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto inner(A&& a, B&& b) {
  return detail::multiplied<detail::product::inner>(std::forward<A>(a), std::forward<B>(b));
}
/// The product of every element of `a` with every one of `b`, a matrix (numpy.outer).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto outer(A&& a, B&& b) {
  return detail::multiplied<detail::product::outer>(std::forward<A>(a), std::forward<B>(b));
}
/// The product of every element of `a` with the whole of `b` (numpy.kron).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto kron(A&& a, B&& b) {
  return detail::multiplied<detail::product::kron>(std::forward<A>(a), std::forward<B>(b));
}
/// The sums of products over pairs of axes: axes of `a` with axes of `b` (numpy.tensordot).
/// ValueError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, const extents& axes_a, const extents& axes_b) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [&](const detail::Handle& x, const detail::Handle& y) {
                            return detail::tensordot(x, y, detail::span_of(axes_a),
                                                     detail::span_of(axes_b));
                          });
}
/// The same over the last n of `a` and the first n of `b`.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, int n = 2) {
  shape_type last, first;
  for (int i = 0; i < n; ++i) {
    last.push_back(i - n);
    first.push_back(i);
  }
  return tensordot(std::forward<A>(a), std::forward<B>(b), extents(last), extents(first));
}
/// Products of the vectors along an axis, the first conjugated (numpy.vecdot). ShapeError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto vecdot(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::vecdot(x, y, axis);
                          });
}
/// The cross products of vectors of three along an axis (numpy.cross). ValueError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto cross(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::cross(x, y, axis);
                          });
}
/// numpy.einsum of one array: einsum("ij->ji", a). ValueError for what the subscripts do not fit.
template <class A, detail::if_array<A> = 0>
detail::like<A> einsum(const std::string& subscripts, const A& a) {
  return detail::like<A>(detail::einsum(subscripts, &a.handle(), 1));
}
/// Of two: einsum("ij,jk->ik", a, b).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto einsum(const std::string& subscripts, const A& a, const B& b) {
  return detail::promoted(a, b, [&](const detail::Handle& x, const detail::Handle& y) {
    const detail::Handle both[] = {x, y};
    return detail::einsum(subscripts, both, 2);
  });
}
/// Of three and more, two at a time from the left.
template <class A, class B, class C, class... D, detail::if_array<A> = 0, detail::if_array<C> = 0>
auto einsum(const std::string& subscripts, const A& a, const B& b, const C& c, const D&... d) {
  using R = element_t<detail::promoted_types(
      {dtype_of_v<detail::element_of<A>>, dtype_of_v<detail::element_of<B>>,
       dtype_of_v<detail::element_of<C>>, dtype_of_v<detail::element_of<D>>...})>;
  const detail::Handle operands[] = {array<R>(a).handle(), array<R>(b).handle(),
                                     array<R>(c).handle(), array<R>(d).handle()...};
  return array<R>(detail::einsum(subscripts, operands, 3 + sizeof...(D)));
}
/// The sum of a diagonal (numpy.trace), 64 bits wide of small integers. AxisError.
template <class A, detail::if_array<A> = 0>
auto trace(A&& a, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
  using R = detail::reduced_t<detail::reduction::sum, detail::element_of<A>>;
  return array<R>(detail::trace(std::forward<A>(a).handle(), offset, axis1, axis2));
}

namespace linalg {

using plait::cross;
using plait::dot;
using plait::inner;
using plait::kron;
using plait::matmul;
using plait::outer;
using plait::tensordot;
using plait::trace;
using plait::vdot;
using plait::vecdot;

/// The element type of a norm: real, and float64 for integers.
template <class T>
using norm_t = detail::reduced_t<detail::reduction::std, T>;

/// The array of norms of A.
template <class A>
using norm_of = array<norm_t<detail::element_of<A>>>;

/// The element type that matrices are factored in: double for integers.
template <class A>
using factored_t =
    std::conditional_t<detail::kind_of(dtype_of_v<detail::element_of<A>>) < detail::kind::floating,
                       double, detail::element_of<A>>;
/// The complex numbers of that precision.
template <class A>
using spectrum_t = element_t<detail::complex_for(dtype_of_v<factored_t<A>>)>;

/// x of a @ x == b for each matrix in the last two axes; `b`: a vector of one axis, or columns
/// (numpy.linalg.solve). LinAlgError where `a` is singular. float64 of integers, as all that
/// follows.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto solve(const A& a, const B& b) {
  using T = promote_t<factored_t<A>, factored_t<B>>;
  return array<T>(detail::solve(a.handle(), b.handle()));
}
/// The inverse of each matrix (numpy.linalg.inv). LinAlgError where it is singular.
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> inv(const A& a) {
  return detail::factor<factored_t<A>>(detail::factorisation::inv, a.handle());
}
/// The inverse of tensordot(a, x, ind): of `a` as a matrix whose rows are its first `ind` axes
/// (numpy.linalg.tensorinv). ValueError, LinAlgError.
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> tensorinv(const A& a, int ind = 2) {
  return array<factored_t<A>>(detail::tensorinv(a.handle(), ind));
}
/// x of tensordot(a, x, x.ndim()) == b; `axes` of `a` come last before that
/// (numpy.linalg.tensorsolve). LinAlgError.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensorsolve(const A& a, const B& b, const extents& axes = {}) {
  using T = promote_t<factored_t<A>, factored_t<B>>;
  return array<T>(detail::tensorsolve(a.handle(), b.handle(), detail::span_of(axes)));
}
/// The determinant of each matrix (numpy.linalg.det).
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> det(const A& a) {
  return detail::factor<factored_t<A>>(detail::factorisation::det, a.handle());
}
/// The singular values of each matrix, the greatest first (numpy.linalg.svdvals).
template <class A, detail::if_array<A> = 0>
array<norm_t<factored_t<A>>> svdvals(const A& a) {
  return detail::factor<norm_t<factored_t<A>>>(detail::factorisation::svdvals, a.handle());
}
/// The eigenvalues of each matrix, complex whatever they are (numpy.linalg.eigvals).
template <class A, detail::if_array<A> = 0>
array<spectrum_t<A>> eigvals(const A& a) {
  return detail::factor<spectrum_t<A>>(detail::factorisation::eigvals, a.handle());
}
/// The triangular factor L of a == L * L.H of each hermitian matrix, of which one triangle is read;
/// with `upper` U of a == U.H * U (numpy.linalg.cholesky). LinAlgError where it is not positive
/// definite.
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> cholesky(const A& a, bool upper = false) {
  return detail::factor<factored_t<A>>(detail::factorisation::cholesky, a.handle(), upper);
}
/// The eigenvalues of each hermitian matrix, ascending, of which one triangle is read
/// (numpy.linalg.eigvalsh).
template <class A, detail::if_array<A> = 0>
array<norm_t<factored_t<A>>> eigvalsh(const A& a, bool upper = false) {
  return detail::factor<norm_t<factored_t<A>>>(detail::factorisation::eigvalsh, a.handle(), upper);
}

/// What qr(), eigh(), eig() and slogdet() give: auto [q, r] = qr(a).
template <class T, class U>
struct pair_result {
  array<T> first;
  array<U> second;
};
/// What svd() gives: auto [u, s, vt] = svd(a).
template <class T>
struct svd_result {
  array<T> u;
  array<norm_t<T>> s;
  array<T> vt;
};
/// What lstsq() gives: auto [x, residuals, rank, s] = lstsq(a, b).
template <class T>
struct lstsq_result {
  array<T> x;
  array<norm_t<T>> residuals;  ///< none where the rank is less than the columns
  std::int64_t rank;
  array<norm_t<T>> s;
};
/// The factors of a == q * r, q orthonormal and r an upper triangle: auto [q, r] = qr(a)
/// (numpy.linalg.qr). `complete`: q is square.
template <class A, detail::if_array<A> = 0>
pair_result<factored_t<A>, factored_t<A>> qr(const A& a, bool complete = false) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::qr, a.handle(), complete, h);
  return {array<factored_t<A>>(std::move(h[0])), array<factored_t<A>>(std::move(h[1]))};
}
/// The eigenvalues, ascending, and eigenvectors of each hermitian matrix, of which one triangle is
/// read: auto [values, vectors] = eigh(a) (numpy.linalg.eigh).
template <class A, detail::if_array<A> = 0>
pair_result<norm_t<factored_t<A>>, factored_t<A>> eigh(const A& a, bool upper = false) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::eigh, a.handle(), upper, h);
  return {array<norm_t<factored_t<A>>>(std::move(h[0])), array<factored_t<A>>(std::move(h[1]))};
}
/// The eigenvalues and eigenvectors of each matrix, complex whatever they are: auto [values,
/// vectors] = eig(a) (numpy.linalg.eig).
template <class A, detail::if_array<A> = 0>
pair_result<spectrum_t<A>, spectrum_t<A>> eig(const A& a) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::eig, a.handle(), false, h);
  return {array<spectrum_t<A>>(std::move(h[0])), array<spectrum_t<A>>(std::move(h[1]))};
}
/// The sign and the logarithm of the modulus of the determinant (numpy.linalg.slogdet).
template <class A, detail::if_array<A> = 0>
pair_result<factored_t<A>, norm_t<factored_t<A>>> slogdet(const A& a) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::slogdet, a.handle(), false, h);
  return {array<factored_t<A>>(std::move(h[0])), array<norm_t<factored_t<A>>>(std::move(h[1]))};
}
/// The singular value decomposition: auto [u, s, vt] = svd(a) (numpy.linalg.svd).
template <class A, detail::if_array<A> = 0>
svd_result<factored_t<A>> svd(const A& a, bool full_matrices = true) {
  detail::Handle h[3];
  detail::factorise(detail::factorisation::svd, a.handle(), full_matrices, h);
  return {array<factored_t<A>>(std::move(h[0])), array<norm_t<factored_t<A>>>(std::move(h[1])),
          array<factored_t<A>>(std::move(h[2]))};
}
/// x that minimizes the norm of a @ x - b (numpy.linalg.lstsq). Singular values of less than rcond
/// times the greatest count as 0; by default the precision times the greater extent.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto lstsq(const A& a, const B& b, const double* rcond = nullptr) {
  using T = promote_t<factored_t<A>, factored_t<B>>;
  detail::Handle x, residuals, s;
  const std::int64_t rank = detail::lstsq(a.handle(), b.handle(), rcond, &x, &residuals, &s);
  return lstsq_result<T>{array<T>(std::move(x)), array<norm_t<T>>(std::move(residuals)), rank,
                         array<norm_t<T>>(std::move(s))};
}
/// The same with that number.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto lstsq(const A& a, const B& b, double rcond) {
  return lstsq(a, b, &rcond);
}
/// The pseudo-inverse of each matrix (numpy.linalg.pinv). Singular values of less than rcond times
/// the greatest count as 0.
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> pinv(const A& a, double rcond = 1e-15) {
  return array<factored_t<A>>(detail::pinv(a.handle(), rcond));
}
/// The product of n factors; of the inverse where n is negative, which is one of floats
/// (numpy.linalg.matrix_power).
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> matrix_power(const A& a, std::int64_t n) {
  return array<factored_t<A>>(
      detail::matrix_power(detail::astype(a.handle(), dtype_of_v<factored_t<A>>), n));
}
/// How many singular values are greater than the precision allows (numpy.linalg.matrix_rank).
template <class A, detail::if_array<A> = 0>
array<std::int64_t> matrix_rank(const A& a) {
  return array<std::int64_t>(detail::matrix_rank(a.handle(), nullptr));
}
/// How many singular values are greater than a tolerance.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> matrix_rank(const A& a, double tolerance) {
  return array<std::int64_t>(detail::matrix_rank(a.handle(), &tolerance));
}

/// The order of a norm, NumPy's `ord`: any number; infinity and 0 included. Implicit from one.
struct order {
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  constexpr order(N n) : value(static_cast<double>(n)) {}
  double value;
};

/// The Euclidean norm of all elements (numpy.linalg.norm). Real; float64 of integers.
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a) {
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, nullptr, false));
}
/// The same along `axes`, which stand in braces: of vectors along one, of matrices along two.
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, nullptr, keep));
}
/// The norm of another order, of a vector or a matrix. A number alone is an order, as in NumPy.
template <class A, class O,
          class = std::enable_if_t<std::is_arithmetic_v<O> || std::is_same_v<O, order>>,
          detail::if_array<A> = 0>
norm_of<A> norm(A&& a, O ord) {
  const double value = order(ord).value;
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, &value, false));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, order ord, const extents& axes, keep_dims_flag keep = {}) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, &ord.value, keep));
}

/// The condition of matrices: of order 2 or -2 by their singular values, else the norm of the
/// matrix times that of its inverse (numpy.linalg.cond). Infinite where there is none.
template <class A, detail::if_array<A> = 0>
norm_of<A> cond(const A& a, order ord = 2) {
  return norm_of<A>(detail::cond(a.handle(), ord.value));
}
/// The product of two matrices or more, in the order that takes the fewest multiplications; the
/// first and the last may be vectors (numpy.linalg.multi_dot).
template <class A, class B, class... C, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto multi_dot(const A& a, const B& b, const C&... c) {
  using R = element_t<detail::promoted_types({dtype_of_v<detail::element_of<A>>,
                                              dtype_of_v<detail::element_of<B>>,
                                              dtype_of_v<detail::element_of<C>>...})>;
  const detail::Handle all[] = {array<R>(a).handle(), array<R>(b).handle(),
                                array<R>(c).handle()...};
  return array<R>(detail::multi_dot(all, 2 + sizeof...(C)));
}
/// The same of a vector of matrices.
template <class T>
array<T> multi_dot(const std::vector<array<T>>& arrays) {
  const auto all = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::multi_dot(all.data(), static_cast<int>(all.size())));
}

}  // namespace linalg
}  // namespace plait
