// Methods of the functions of two elements, by name: reduce(ufunc::maximum, a, 0) is
// numpy.maximum.reduce(a, 0). Throws AxisError and, where NumPy has no loop that goes on with its
// own result, DTypeError.
#pragma once
#include "plait/indexing.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
PLAIT_API Handle fold(fn f, const Handle& a, std::int64_t axis);
PLAIT_API Handle accumulate(fn f, const Handle& a, std::int64_t axis);
PLAIT_API Handle reduceat(fn f, const Handle& a, const Handle& indices, std::int64_t axis);
}  // namespace detail

namespace ufunc {
/// The name of a function of two elements: ufunc::add and so on.
template <detail::fn F>
struct named {};
// One a row of the operation table that has two operands.
#define PLAIT_NAME_1(id, name)
#define PLAIT_NAME_2(id, name) inline constexpr named<detail::fn::id> name{};
#define PLAIT_NAME_3(id, name)
#define PLAIT_FUNCTION(id, name, arity, ...) PLAIT_NAME_##arity(id, name)
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
#undef PLAIT_NAME_1
#undef PLAIT_NAME_2
#undef PLAIT_NAME_3
}  // namespace ufunc

namespace detail {
// Sums and products of small integers are 64 bits wide, as those of reductions.
template <fn F, class T>
using folded_t = typename std::conditional_t<F == fn::Add || F == fn::Multiply,
                                             reduced_element<reduction::sum, T>,
                                             result<F, array<T>, array<T>>>::type;
}  // namespace detail

/// Each element after the one before along an axis: reduce(ufunc::maximum, a, 0) is
/// numpy.maximum.reduce(a, 0). Of no elements the function's identity, or ValueError where it has
/// none. AxisError; DTypeError where NumPy has no loop that goes on with its own result, as all
/// that follows.
template <detail::fn F, class A, detail::if_array<A> = 0>
auto reduce(ufunc::named<F>, const A& a, std::int64_t axis = 0) {
  return array<detail::folded_t<F, detail::element_of<A>>>(detail::fold(F, a.handle(), axis));
}
/// What reduce() gives after each element (numpy.ufunc.accumulate).
template <detail::fn F, class A, detail::if_array<A> = 0>
auto accumulate(ufunc::named<F>, const A& a, std::int64_t axis = 0) {
  return array<detail::folded_t<F, detail::element_of<A>>>(detail::accumulate(F, a.handle(), axis));
}
/// reduce() of the elements from each index to the next, or of the element at an index that is not
/// below the next one (numpy.ufunc.reduceat). IndexError for those outside the axis; evaluates the
/// indices.
template <detail::fn F, class A, class I, detail::if_array<A> = 0>
auto reduceat(ufunc::named<F>, const A& a, const array<I>& indices, std::int64_t axis = 0) {
  return array<detail::folded_t<F, detail::element_of<A>>>(
      detail::reduceat(F, a.handle(), indices.handle(), axis));
}
/// The same of a list of indices.
template <detail::fn F, class A, detail::if_array<A> = 0>
auto reduceat(ufunc::named<F> f, const A& a, const extents& indices, std::int64_t axis = 0) {
  return reduceat(f, a, array<std::int64_t>(detail::indices_of(indices)), axis);
}
/// The function of every element of `a` with every one of `b`: the axes of `a`, then those of `b`
/// (numpy.ufunc.outer).
template <detail::fn F, class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto outer(ufunc::named<F>, const A& a, const B& b) {
  shape_type axes;
  for (int d = 0; d < b.ndim(); ++d) axes.push_back(a.ndim() + d);
  const detail::Span s{axes.data(), b.ndim()};
  return detail::apply<F>(detail::like<A>(detail::expand_dims(a.handle(), s)), b);
}
/// a[indices] = f(a[indices], values) for one index after the other: an element, or sub-array along
/// the first axis, that is named twice is worked on twice (numpy.ufunc.at). IndexError.
template <detail::fn F, class T, class I, class B>
void at(ufunc::named<F>, array<T>& a, const array<I>& indices, const B& values) {
  detail::combine<F>(a, {detail::to_key(indices)}, values);
}
/// The same with an array of indices for each of the first axes, as numpy.nonzero gives them.
template <detail::fn F, class T, class I, class B>
void at(ufunc::named<F>, array<T>& a, const std::vector<array<I>>& indices, const B& values) {
  detail::combine<F>(a, detail::keys_of(indices), values);
}
/// Of a list: at(ufunc::maximum, a, {rows, columns}, 1).
template <detail::fn F, class T, class I, class B>
void at(ufunc::named<F>, array<T>& a, std::initializer_list<array<I>> indices, const B& values) {
  detail::combine<F>(a, detail::keys_of(indices), values);
}

}  // namespace plait
