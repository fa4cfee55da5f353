// Interoperation with xtensor, both ways without a copy.
#pragma once
#include <memory>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "plait/detail/xtensor_expression.hpp"
#include "plait/tensor.hpp"

namespace plait {

/// Borrows the elements of an xt::xarray, xt::xtensor or adaptor, in any layout; a const container
/// gives a read-only array. See adapt(pointer, shape) in build.hpp for when writes arrive.
template <class E, detail::if_xt_memory<E> = 0>
auto adapt(E& e) {
  return detail::adapt_xt(e);
}
/// The same of a view, which may be a temporary, as long as it refers to a container that lives on.
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

/// A row-major xtensor adaptor that owns a reference to the array's memory: evaluates, and copies
/// only an array that is not C-contiguous or is read-only. Without a copy the two sides see each
/// other's writes.
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

/// What compile() gives: an array that borrows from the expression's containers, as the expression
/// does. An `array<T>` made of it is evaluated before they can change or go: at the end of the
/// statement, or when this goes.
template <class E>
class compiled : public array<detail::xt_recorded<E>> {
 public:
  using value_type = detail::xt_recorded<E>;
  explicit compiled(E&& e) : array<value_type>(detail::Handle()), expression_(static_cast<E&&>(e)) {
    auto result = recorder_.record(expression_);
    if constexpr (detail::is_xt_memory<std::decay_t<E>>)
      this->handle_ = result.copy().handle();
    else
      this->handle_ = std::move(result).handle();
  }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;
  // Nothing is computed for a value that nobody else has.
  ~compiled() { this->handle_ = detail::Handle(); }

 private:
  E expression_;  // a reference to one that has a name
  detail::XtRecorder recorder_;
};
namespace detail {
template <class E>
struct is_array_type<compiled<E>> : std::true_type {};
}  // namespace detail

/// An xtensor expression as one of Plait's: computed in as few loops as it takes, with SIMD and
/// threads, of the element types that xtensor would have. Functions that Plait does not have are
/// evaluated by xtensor, which PLAIT_LOG=fallback shows. compile(e).eval_into(p) is one loop that
/// writes to p.
template <class E, detail::if_xt<E> = 0>
compiled<E> compile(E&& expression) {
  return compiled<E>(std::forward<E>(expression));
}

// An array of Plait's beside an expression of xtensor's: the expression is recorded, and evaluated
// with what is done to it. Exact types, because xtensor's operators take anything.
#define PLAIT_XT_OPERATOR_OF(array, op)             \
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
#define PLAIT_XT_OPERATOR(op)     \
  PLAIT_XT_OPERATOR_OF(array, op) \
  PLAIT_XT_OPERATOR_OF(tensor, op)
PLAIT_XT_OPERATOR(+)
PLAIT_XT_OPERATOR(-)
PLAIT_XT_OPERATOR(*)
PLAIT_XT_OPERATOR(/)
PLAIT_XT_OPERATOR(<)
PLAIT_XT_OPERATOR(>)
PLAIT_XT_OPERATOR(<=)
PLAIT_XT_OPERATOR(>=)
#undef PLAIT_XT_OPERATOR
#undef PLAIT_XT_OPERATOR_OF

}  // namespace plait
