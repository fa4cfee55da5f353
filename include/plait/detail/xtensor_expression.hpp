// xtensor's unevaluated expressions recorded by Plait: the type of an expression is walked, its
// containers are borrowed, its functions applied to arrays. Elements have the types that xtensor's
// would have, which are C++'s: what C++ converts is converted.
#pragma once
#include <tuple>
#include <xtensor/xarray.hpp>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xreducer.hpp>
#include <xtensor/xscalar.hpp>

#include "plait/build.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"
#include "plait/view.hpp"

namespace plait::detail {

template <class E>
using xt_element = std::remove_pointer_t<decltype(std::declval<E&>().data())>;
template <class E>
using if_xt_memory = std::enable_if_t<xt::is_xexpression<std::decay_t<E>>::value &&
                                          is_element_v<std::remove_const_t<xt_element<E>>> &&
                                          (sizeof(std::declval<E&>().strides()) > 0 &&
                                           sizeof(std::declval<E&>().data_offset()) > 0),
                                      int>;

template <class E>
using if_xt = std::enable_if_t<xt::is_xexpression<std::decay_t<E>>::value, int>;

template <class E>
auto adapt_xt(E& e) {
  using T = xt_element<E>;
  shape_type shape(e.shape().begin(), e.shape().end()), strides;
  for (auto s : e.strides())
    strides.push_back(static_cast<std::int64_t>(s) * static_cast<std::int64_t>(sizeof(T)));
  return plait::adapt(e.data() + e.data_offset(), extents(shape), extents(strides));
}

// The element type that holds a C++ number: one of the sized integers for each of C++'s.
template <class T>
constexpr auto element_for() {
  if constexpr (is_element_v<T>)
    return T();
  else if constexpr (std::is_signed_v<T>)
    return std::int64_t();
  else
    return std::uint64_t();
}
template <class T>
using xt_value = decltype(element_for<std::decay_t<T>>());

// What borrowing arrays refer to goes when the expression has been evaluated.
class XtRecorder;
template <class E>
struct XtRecord;  // record(expression, recorder) -> array

class XtRecorder {
 public:
  template <class E>
  auto record(const E& e) {
    return XtRecord<E>::record(e, *this);
  }
  template <class T>
  array<T> borrowed(array<T> a) {
    borrowed_.push_back(a.handle());
    return a;
  }

 private:
  std::vector<Handle> borrowed_;
};

template <class T, class U>
array<T> as_type(const array<U>& a) {
  if constexpr (std::is_same_v<T, U>)
    return a;
  else if constexpr (storable<array<U>, T>)
    return a.template astype<T>();
  else
    static_assert(storable<array<U>, T>, "plait: complex values do not fit a real array");
}

// Functors as they are on arrays: those of xtensor call operators and functions by their names,
// which are Plait's, too. `types`: what the operands are converted to.
template <class F>
struct XtFunction {
  template <class... A>
  static auto apply(const F& f, const A&... a) {
    return f(a...);
  }
  template <class... A>
  static constexpr bool known = std::is_invocable_v<const F&, const A&...>;
};
#define PLAIT_XT_FUNCTION(functor, expression)                                          \
  template <>                                                                           \
  struct XtFunction<functor> {                                                          \
    template <class A, class B = A, class C = A>                                        \
    static auto apply(const functor&, const A& a, const B& b = B(), const C& c = C()) { \
      (void)b, (void)c;                                                                 \
      return expression;                                                                \
    }                                                                                   \
    template <class...>                                                                 \
    static constexpr bool known = true;                                                 \
  };
template <class A, class B>
auto xt_divided(const A& a, const B& b) {
  // C++ rounds towards zero.
  if constexpr (std::is_integral_v<element_of<A>> && !std::is_same_v<element_of<A>, bool>)
    return floor_divide(a - fmod(a, b), b);
  else
    return a / b;
}
template <class A>
auto xt_rounded(const A& a) {  // halves away from zero
  const auto whole = trunc(a);
  return where(abs(a - whole) >= 0.5, whole + copysign(1.0, a), whole);
}
PLAIT_XT_FUNCTION(xt::detail::divides, xt_divided(a, b))
PLAIT_XT_FUNCTION(xt::detail::modulus, fmod(a, b))
PLAIT_XT_FUNCTION(xt::detail::identity, a)
PLAIT_XT_FUNCTION(xt::detail::conditional_ternary, where(a, b, c))
PLAIT_XT_FUNCTION(xt::math::minimum<void>, where(a < b, a, b))
PLAIT_XT_FUNCTION(xt::math::maximum<void>, where(a > b, a, b))
PLAIT_XT_FUNCTION(xt::math::clamp_fun, where(a < b, b, where(c < a, c, a)))
PLAIT_XT_FUNCTION(xt::math::sign_fun, sign(a))
PLAIT_XT_FUNCTION(xt::math::round_fun, xt_rounded(a))
#undef PLAIT_XT_FUNCTION
// Functions that Plait does not have.
#define PLAIT_XT_UNKNOWN(functor)        \
  template <>                            \
  struct XtFunction<functor> {           \
    template <class...>                  \
    static constexpr bool known = false; \
  };
PLAIT_XT_UNKNOWN(xt::math::erf_fun)
PLAIT_XT_UNKNOWN(xt::math::erfc_fun)
PLAIT_XT_UNKNOWN(xt::math::tgamma_fun)
PLAIT_XT_UNKNOWN(xt::math::lgamma_fun)
PLAIT_XT_UNKNOWN(xt::math::fdim_fun)
PLAIT_XT_UNKNOWN(xt::math::fma_fun)
PLAIT_XT_UNKNOWN(xt::math::remainder_fun)
#undef PLAIT_XT_UNKNOWN

template <class F>
struct XtReduction {
  static constexpr bool known = false;
};
#define PLAIT_XT_REDUCTION(functor, name)                               \
  template <>                                                           \
  struct XtReduction<functor> {                                         \
    static constexpr bool known = true;                                 \
    template <class T, class... O>                                      \
    static auto apply(const array<T>& a, const extents& axes, O... o) { \
      return plait::name(a, axes, o...);                                \
    }                                                                   \
  };
PLAIT_XT_REDUCTION(xt::detail::plus, sum)
PLAIT_XT_REDUCTION(xt::detail::multiplies, prod)
PLAIT_XT_REDUCTION(xt::math::minimum<void>, amin)
PLAIT_XT_REDUCTION(xt::math::maximum<void>, amax)
#undef PLAIT_XT_REDUCTION

template <class E, class = void>
inline constexpr bool is_xt_memory = false;
template <class E>
inline constexpr bool is_xt_memory<E, std::void_t<if_xt_memory<const E>>> = true;

// What is no function, reduction or broadcast: memory, or what xtensor evaluates.
template <class E>
struct XtRecord {
  static auto record(const E& e, XtRecorder& r) {
    if constexpr (is_xt_memory<E>) {
      return r.borrowed(adapt_xt(e));
    } else {
      note_called_for_each("compile: a part of the expression");
      using T = xt_value<typename E::value_type>;
      const xt::xarray<T> values = e;
      const shape_type shape(values.shape().begin(), values.shape().end());
      return array<T>(from_values(values.data(), span_of(extents(shape)), dtype_of_v<T>));
    }
  }
};
template <class CT>
struct XtRecord<xt::xscalar<CT>> {
  static auto record(const xt::xscalar<CT>& e, XtRecorder&) {
    using T = xt_value<decltype(e())>;
    return array<T>(full({nullptr, 0}, Value::of(static_cast<T>(e()))));
  }
};
template <class CT, class X>
struct XtRecord<xt::xbroadcast<CT, X>> {
  static auto record(const xt::xbroadcast<CT, X>& e, XtRecorder& r) {
    return plait::broadcast_to(r.record(e.expression()),
                               shape_type(e.shape().begin(), e.shape().end()));
  }
};

template <class F, class R>
inline constexpr bool is_xt_cast = std::is_same_v<F, typename xt::detail::cast<R>::functor>;

template <class F, class... CT>
struct XtRecord<xt::xfunction<F, CT...>> {
  using E = xt::xfunction<F, CT...>;
  using R = xt_value<typename E::value_type>;
  static array<R> record(const E& e, XtRecorder& r) {
    return std::apply([&](const auto&... a) { return applied(e, r, a...); }, e.arguments());
  }

 private:
  template <class... A>
  static array<R> applied(const E& e, XtRecorder& r, const A&... a) {
    if constexpr (is_xt_cast<F, typename E::value_type>) {
      return as_type<R>(r.record(a)...);
    } else if constexpr (std::is_same_v<F, xt::detail::conditional_ternary>) {
      return ternary(e, r, a...);
    } else {
      // C++'s conversions: small integers become int, then both what both convert to.
      using T = xt_value<std::common_type_t<decltype(+std::declval<typename A::value_type>())...>>;
      using S = std::conditional_t<std::is_same_v<R, bool> &&
                                       (std::is_same_v<typename A::value_type, bool> && ...),
                                   bool, T>;
      if constexpr (XtFunction<F>::template known<array<second<S, A>>...>)
        return as_type<R>(XtFunction<F>::apply(e.functor(), as_type<S>(r.record(a))...));
      else
        return XtRecord<Evaluated>::record(Evaluated{e}, r);
    }
  }
  template <class C, class A, class B>
  static array<R> ternary(const E& e, XtRecorder& r, const C& c, const A& a, const B& b) {
    return XtFunction<F>::apply(e.functor(), as_type<bool>(r.record(c)), as_type<R>(r.record(a)),
                                as_type<R>(r.record(b)));
  }
  template <class S, class>
  using second = S;
  // The expression as one that xtensor evaluates.
  struct Evaluated {
    using value_type = typename E::value_type;
    const E& expression;
    template <class T>
    operator xt::xarray<T>() const {
      return expression;
    }
  };
};

template <class F, class CT, class X, class O>
struct XtRecord<xt::xreducer<F, CT, X, O>> {
  using E = xt::xreducer<F, CT, X, O>;
  using R = xt_value<typename E::value_type>;
  using Reduction = XtReduction<typename std::decay_t<F>::reduce_functor_type>;
  static array<R> record(const E& e, XtRecorder& r) {
    if constexpr (Reduction::known && !O::has_initial_value) {
      const shape_type axes = axes_of(e);
      const auto a = as_type<R>(r.record(e.expression()));
      if (axes.empty()) return a;
      if constexpr (O::keep_dims::value)
        return as_type<R>(Reduction::apply(a, axes, keep_dims));
      else
        return as_type<R>(Reduction::apply(a, axes));
    } else {
      note_called_for_each("compile: a reduction of the expression");
      const xt::xarray<R> values = e;
      const shape_type shape(values.shape().begin(), values.shape().end());
      return array<R>(from_values(values.data(), span_of(extents(shape)), dtype_of_v<R>));
    }
  }

 private:
  // A reducer does not say its axes: those that it leaves of an expression of extents 2, 3, ...
  // show.
  static shape_type axes_of(const E& e) {
    std::vector<std::size_t> probe;
    for (std::size_t d = 0; d < e.expression().dimension(); ++d) probe.push_back(d + 2);
    const auto reduced = e.build_reducer(xt::broadcast(typename E::value_type(), probe));
    shape_type axes;
    for (std::size_t d = 0; d < probe.size(); ++d) {
      bool left = false;
      for (const auto n : reduced.shape()) left = left || static_cast<std::size_t>(n) == probe[d];
      if (!left) axes.push_back(static_cast<std::int64_t>(d));
    }
    return axes;
  }
};

template <class E>
using xt_recorded =
    element_of<decltype(std::declval<XtRecorder&>().record(std::declval<const E&>()))>;

}  // namespace plait::detail
