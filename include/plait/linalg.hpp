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
}  // namespace detail

// NumPy's products, on operands of one element type after promotion. matmul: of matrices, or stacks
// of them; dot: of vectors, of matrices, or with a scalar; vdot and inner: of vectors (vdot
// conjugates the first); outer: of every pair of elements; kron: of every element with the whole
// other array. Throws ShapeError.
#define PLAIT_PRODUCT(name)                                                                   \
  template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>               \
  auto name(A&& a, B&& b) {                                                                   \
    return detail::multiplied<detail::product::name>(std::forward<A>(a), std::forward<B>(b)); \
  }
PLAIT_PRODUCT(matmul)
PLAIT_PRODUCT(dot)
PLAIT_PRODUCT(vdot)
PLAIT_PRODUCT(inner)
PLAIT_PRODUCT(outer)
PLAIT_PRODUCT(kron)
#undef PLAIT_PRODUCT

// The sums of products over pairs of axes: the last n of a and the first n of b, or axes of a with
// axes of b.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, const extents& axes_a, const extents& axes_b) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [&](const detail::Handle& x, const detail::Handle& y) {
                            return detail::tensordot(x, y, detail::span_of(axes_a),
                                                     detail::span_of(axes_b));
                          });
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, int n = 2) {
  shape_type last, first;
  for (int i = 0; i < n; ++i) {
    last.push_back(i - n);
    first.push_back(i);
  }
  return tensordot(std::forward<A>(a), std::forward<B>(b), extents(last), extents(first));
}
// Products of the vectors along an axis, the first conjugated; and of vectors of three.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto vecdot(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::vecdot(x, y, axis);
                          });
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto cross(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::cross(x, y, axis);
                          });
}
// numpy.einsum: einsum("ij,jk->ik", a, b). Of three operands and more, two at a time from the left.
template <class A, detail::if_array<A> = 0>
detail::like<A> einsum(const std::string& subscripts, const A& a) {
  return detail::like<A>(detail::einsum(subscripts, &a.handle(), 1));
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto einsum(const std::string& subscripts, const A& a, const B& b) {
  return detail::promoted(a, b, [&](const detail::Handle& x, const detail::Handle& y) {
    const detail::Handle both[] = {x, y};
    return detail::einsum(subscripts, both, 2);
  });
}
template <class A, class B, class C, class... D, detail::if_array<A> = 0, detail::if_array<C> = 0>
auto einsum(const std::string& subscripts, const A& a, const B& b, const C& c, const D&... d) {
  using R = element_t<detail::promoted_types(
      {dtype_of_v<detail::element_of<A>>, dtype_of_v<detail::element_of<B>>,
       dtype_of_v<detail::element_of<C>>, dtype_of_v<detail::element_of<D>>...})>;
  const detail::Handle operands[] = {array<R>(a).handle(), array<R>(b).handle(),
                                     array<R>(c).handle(), array<R>(d).handle()...};
  return array<R>(detail::einsum(subscripts, operands, 3 + sizeof...(D)));
}
// The sum of a diagonal.
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

// The element type of a norm: real, and float64 for integers.
template <class T>
using norm_t = detail::reduced_t<detail::reduction::std, T>;

template <class A>
using norm_of = array<norm_t<detail::element_of<A>>>;

// The element type that matrices are factored in, double for integers, and its complex numbers.
template <class A>
using factored_t =
    std::conditional_t<detail::kind_of(dtype_of_v<detail::element_of<A>>) < detail::kind::floating,
                       double, detail::element_of<A>>;
template <class A>
using spectrum_t = element_t<detail::complex_for(dtype_of_v<factored_t<A>>)>;

// numpy.linalg, of matrices or stacks of them in the last two axes. `b` of solve and lstsq: a
// vector of one axis, or columns.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto solve(const A& a, const B& b) {
  using T = promote_t<factored_t<A>, factored_t<B>>;
  return array<T>(detail::solve(a.handle(), b.handle()));
}
#define PLAIT_FACTOR(name, result, flag_name)                                  \
  template <class A, detail::if_array<A> = 0>                                  \
  array<result> name(const A& a, bool flag_name = false) {                     \
    detail::Handle h;                                                          \
    detail::factorise(detail::factorisation::name, a.handle(), flag_name, &h); \
    return array<result>(std::move(h));                                        \
  }
#define PLAIT_FACTOR_PLAIN(name, result)                                   \
  template <class A, detail::if_array<A> = 0>                              \
  array<result> name(const A& a) {                                         \
    detail::Handle h;                                                      \
    detail::factorise(detail::factorisation::name, a.handle(), false, &h); \
    return array<result>(std::move(h));                                    \
  }
PLAIT_FACTOR_PLAIN(inv, factored_t<A>)
PLAIT_FACTOR_PLAIN(det, factored_t<A>)
PLAIT_FACTOR_PLAIN(svdvals, norm_t<factored_t<A>>)
PLAIT_FACTOR_PLAIN(eigvals, spectrum_t<A>)
// Of hermitian matrices, of which one triangle is read, the lower one by default.
PLAIT_FACTOR(cholesky, factored_t<A>, upper)
PLAIT_FACTOR(eigvalsh, norm_t<factored_t<A>>, upper)
#undef PLAIT_FACTOR
#undef PLAIT_FACTOR_PLAIN

// auto [q, r] = qr(a); auto [u, s, vt] = svd(a) ...
template <class T, class U>
struct pair_result {
  array<T> first;
  array<U> second;
};
template <class T>
struct svd_result {
  array<T> u;
  array<norm_t<T>> s;
  array<T> vt;
};
template <class T>
struct lstsq_result {
  array<T> x;
  array<norm_t<T>> residuals;  // none where the rank is less than the columns
  std::int64_t rank;
  array<norm_t<T>> s;
};
#define PLAIT_FACTORS(name, one, other, flag_name)                            \
  template <class A, detail::if_array<A> = 0>                                 \
  pair_result<one, other> name(const A& a, bool flag_name = false) {          \
    detail::Handle h[2];                                                      \
    detail::factorise(detail::factorisation::name, a.handle(), flag_name, h); \
    return {array<one>(std::move(h[0])), array<other>(std::move(h[1]))};      \
  }
PLAIT_FACTORS(qr, factored_t<A>, factored_t<A>, complete)
PLAIT_FACTORS(eigh, norm_t<factored_t<A>>, factored_t<A>, upper)
#undef PLAIT_FACTORS
// Values and vectors, complex whatever they are.
template <class A, detail::if_array<A> = 0>
pair_result<spectrum_t<A>, spectrum_t<A>> eig(const A& a) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::eig, a.handle(), false, h);
  return {array<spectrum_t<A>>(std::move(h[0])), array<spectrum_t<A>>(std::move(h[1]))};
}
// The sign and the logarithm of the modulus of the determinant.
template <class A, detail::if_array<A> = 0>
pair_result<factored_t<A>, norm_t<factored_t<A>>> slogdet(const A& a) {
  detail::Handle h[2];
  detail::factorise(detail::factorisation::slogdet, a.handle(), false, h);
  return {array<factored_t<A>>(std::move(h[0])), array<norm_t<factored_t<A>>>(std::move(h[1]))};
}
template <class A, detail::if_array<A> = 0>
svd_result<factored_t<A>> svd(const A& a, bool full_matrices = true) {
  detail::Handle h[3];
  detail::factorise(detail::factorisation::svd, a.handle(), full_matrices, h);
  return {array<factored_t<A>>(std::move(h[0])), array<norm_t<factored_t<A>>>(std::move(h[1])),
          array<factored_t<A>>(std::move(h[2]))};
}
// Singular values of less than rcond times the greatest count as 0; by default the precision times
// the greater extent.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto lstsq(const A& a, const B& b, const double* rcond = nullptr) {
  using T = promote_t<factored_t<A>, factored_t<B>>;
  detail::Handle x, residuals, s;
  const std::int64_t rank = detail::lstsq(a.handle(), b.handle(), rcond, &x, &residuals, &s);
  return lstsq_result<T>{array<T>(std::move(x)), array<norm_t<T>>(std::move(residuals)), rank,
                         array<norm_t<T>>(std::move(s))};
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto lstsq(const A& a, const B& b, double rcond) {
  return lstsq(a, b, &rcond);
}
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> pinv(const A& a, double rcond = 1e-15) {
  return array<factored_t<A>>(detail::pinv(a.handle(), rcond));
}
// The product of n factors; of the inverse where n is negative, which is one of floats.
template <class A, detail::if_array<A> = 0>
array<factored_t<A>> matrix_power(const A& a, std::int64_t n) {
  return array<factored_t<A>>(
      detail::matrix_power(detail::astype(a.handle(), dtype_of_v<factored_t<A>>), n));
}
// How many singular values are greater than a tolerance.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> matrix_rank(const A& a) {
  return array<std::int64_t>(detail::matrix_rank(a.handle(), nullptr));
}
template <class A, detail::if_array<A> = 0>
array<std::int64_t> matrix_rank(const A& a, double tolerance) {
  return array<std::int64_t>(detail::matrix_rank(a.handle(), &tolerance));
}

// The order of a norm, NumPy's `ord`: any number; infinity and 0 included. Implicit from one.
struct order {
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  constexpr order(N n) : value(static_cast<double>(n)) {}
  double value;
};

// numpy.linalg.norm(x, ord, axis, keepdims). A number alone is an order, as in NumPy; axes stand
// in braces, or behind an order. The Euclidean norm of all elements, or of vectors along one axis
// (Frobenius along two):
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a) {
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, nullptr, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, nullptr, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, nullptr, true));
}
// The norm of another order, of vectors (one axis) or matrices (two).
template <class A, class O,
          class = std::enable_if_t<std::is_arithmetic_v<O> || std::is_same_v<O, order>>,
          detail::if_array<A> = 0>
norm_of<A> norm(A&& a, O ord) {
  const double value = order(ord).value;
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, &value, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, order ord, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, &ord.value, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, order ord, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, &ord.value, true));
}

// The condition of matrices: of order 2 or -2 by their singular values, else the norm of the matrix
// times that of its inverse. Infinite where there is none.
template <class A, detail::if_array<A> = 0>
norm_of<A> cond(const A& a, order ord = 2) {
  return norm_of<A>(detail::cond(a.handle(), ord.value));
}
// The product of two matrices or more, in the order that takes the fewest multiplications; the
// first and the last may be vectors.
template <class A, class B, class... C, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto multi_dot(const A& a, const B& b, const C&... c) {
  using R = element_t<detail::promoted_types({dtype_of_v<detail::element_of<A>>,
                                              dtype_of_v<detail::element_of<B>>,
                                              dtype_of_v<detail::element_of<C>>...})>;
  const detail::Handle all[] = {array<R>(a).handle(), array<R>(b).handle(),
                                array<R>(c).handle()...};
  return array<R>(detail::multi_dot(all, 2 + sizeof...(C)));
}
template <class T>
array<T> multi_dot(const std::vector<array<T>>& arrays) {
  const auto all = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::multi_dot(all.data(), static_cast<int>(all.size())));
}

}  // namespace linalg
}  // namespace plait
