// Interoperation with xtensor, both ways without a copy.
#pragma once
#include <memory>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "plait/detail/xtensor_expression.hpp"

namespace plait {

// Borrows the elements of an xt::xarray, xt::xtensor or adaptor, in any layout; a const container
// gives a read-only array. See adapt(pointer, shape) in build.hpp for when writes arrive.
template <class E, detail::if_xt_memory<E> = 0>
auto adapt(E& e) {
  return detail::adapt_xt(e);
}
// Views may be temporaries, as long as they refer to a container that lives on.
template <class C, class... S>
auto adapt(xt::xview<C, S...>&& v) {
  static_assert(std::is_lvalue_reference_v<C>,
                "plait: the view owns its container, which would die here");
  return detail::adapt_xt(v);
}
template <class C, class S, xt::layout_type L, class F>
auto adapt(xt::xstrided_view<C, S, L, F>&& v) {
  static_assert(std::is_lvalue_reference_v<C>,
                "plait: the view owns its container, which would die here");
  return detail::adapt_xt(v);
}

// A row-major xtensor adaptor that owns a reference to the array's memory: evaluates, and copies
// only an array that is not C-contiguous or is read-only. Without a copy the two sides see each
// other's writes.
template <class T>
auto as_xtensor(const array<T>& a) {
  const bool as_it_is = a.is_contiguous() && detail::is_writeable(a.handle());
  detail::Handle h = as_it_is ? a.handle() : detail::copy(a.handle());
  T* memory = static_cast<T*>(detail::export_memory(h));
  std::shared_ptr<void> owner(memory, [h](void*) { detail::unexport(h); });
  const shape_type s = a.shape();
  return xt::adapt_smart_ptr(std::move(memory), std::vector<std::size_t>(s.begin(), s.end()),
                             std::move(owner));
}

// The value of an xtensor expression, computed by Plait: in as few loops as it takes, with SIMD and
// threads, of the element types that xtensor would have. Functions that Plait does not have are
// evaluated by xtensor, which PLAIT_LOG=fallback shows. Evaluated when it returns, so that the
// expression's containers may change or go.
template <class E>
auto compile(const xt::xexpression<E>& expression) {
  detail::XtRecorder recorder;
  const E& e = expression.derived_cast();
  auto result = recorder.record(e);
  if constexpr (detail::is_xt_memory<E>) return result.copy().eval();
  result.eval();
  return result;
}

// An array of Plait's beside an expression of xtensor's: the expression is recorded, and evaluated
// with what is done to it. Exact types, because xtensor's operators take anything.
#define PLAIT_XT_OPERATOR(op)                       \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(const array<T>& a, E&& e) {      \
    return a op compile(e);                         \
  }                                                 \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(array<T>& a, E&& e) {            \
    return a op compile(e);                         \
  }                                                 \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(array<T>&& a, E&& e) {           \
    return std::move(a) op compile(e);              \
  }                                                 \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(E&& e, const array<T>& a) {      \
    return compile(e) op a;                         \
  }                                                 \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(E&& e, array<T>& a) {            \
    return compile(e) op a;                         \
  }                                                 \
  template <class T, class E, detail::if_xt<E> = 0> \
  auto operator op(E&& e, array<T>&& a) {           \
    return compile(e) op std::move(a);              \
  }
PLAIT_XT_OPERATOR(+)
PLAIT_XT_OPERATOR(-)
PLAIT_XT_OPERATOR(*)
PLAIT_XT_OPERATOR(/)
PLAIT_XT_OPERATOR(<)
PLAIT_XT_OPERATOR(>)
PLAIT_XT_OPERATOR(<=)
PLAIT_XT_OPERATOR(>=)
#undef PLAIT_XT_OPERATOR

}  // namespace plait
