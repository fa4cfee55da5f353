// Elementwise functions under NumPy's names (and xtensor's where they differ), and the operators.
// Operands are arrays and C++ scalars; result types follow NEP 50 at compile time. Differences from
// xtensor: == and < compare element by element, and / of integers gives float64, as in NumPy.
#pragma once
#include "plait/array.hpp"

namespace plait {

// numpy.<name>: one function a row of the operation table, and what refuses other operands.
#define PLAIT_DEFINE_1(id, name)                                        \
  template <class A, detail::if_operands<detail::fn::id, A> = 0>        \
  auto name(A&& a) {                                                    \
    return detail::apply<detail::fn::id>(std::forward<A>(a));           \
  }                                                                     \
  template <class A, class Why = detail::if_refused<detail::fn::id, A>> \
  void name(A&& a) = delete;
#define PLAIT_DEFINE_2(id, name)                                                    \
  template <class A, class B, detail::if_operands<detail::fn::id, A, B> = 0>        \
  auto name(A&& a, B&& b) {                                                         \
    return detail::apply<detail::fn::id>(std::forward<A>(a), std::forward<B>(b));   \
  }                                                                                 \
  template <class A, class B, class Why = detail::if_refused<detail::fn::id, A, B>> \
  void name(A&& a, B&& b) = delete;
#define PLAIT_DEFINE_3(id, name)                                                                \
  template <class A, class B, class C, detail::if_operands<detail::fn::id, A, B, C> = 0>        \
  auto name(A&& a, B&& b, C&& c) {                                                              \
    return detail::apply<detail::fn::id>(std::forward<A>(a), std::forward<B>(b),                \
                                         std::forward<C>(c));                                   \
  }                                                                                             \
  template <class A, class B, class C, class Why = detail::if_refused<detail::fn::id, A, B, C>> \
  void name(A&& a, B&& b, C&& c) = delete;
#define PLAIT_FUNCTION(id, name, arity, ...) PLAIT_DEFINE_##arity(id, name)
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION

// Other names for the same functions.
PLAIT_DEFINE_1(Absolute, abs)
PLAIT_DEFINE_1(Conjugate, conj)
PLAIT_DEFINE_1(Arcsin, asin)
PLAIT_DEFINE_1(Arccos, acos)
PLAIT_DEFINE_1(Arctan, atan)
PLAIT_DEFINE_1(Arcsinh, asinh)
PLAIT_DEFINE_1(Arccosh, acosh)
PLAIT_DEFINE_1(Arctanh, atanh)
PLAIT_DEFINE_1(Invert, bitwise_not)
PLAIT_DEFINE_1(Rint, nearbyint)
PLAIT_DEFINE_2(Arctan2, atan2)
PLAIT_DEFINE_2(Power, pow)
PLAIT_DEFINE_2(Remainder, mod)
PLAIT_DEFINE_2(Divide, true_divide)
PLAIT_DEFINE_2(LeftShift, bitwise_left_shift)
PLAIT_DEFINE_2(RightShift, bitwise_right_shift)

PLAIT_DEFINE_2(Add, operator+)
PLAIT_DEFINE_2(Subtract, operator-)
PLAIT_DEFINE_2(Multiply, operator*)
PLAIT_DEFINE_2(Divide, operator/)
PLAIT_DEFINE_2(Remainder, operator%)
PLAIT_DEFINE_2(BitwiseAnd, operator&)
PLAIT_DEFINE_2(BitwiseOr, operator|)
PLAIT_DEFINE_2(BitwiseXor, operator^)
PLAIT_DEFINE_2(LeftShift, operator<<)
PLAIT_DEFINE_2(RightShift, operator>>)
PLAIT_DEFINE_2(Equal, operator==)
PLAIT_DEFINE_2(NotEqual, operator!=)
PLAIT_DEFINE_2(Less, operator<)
PLAIT_DEFINE_2(LessEqual, operator<=)
PLAIT_DEFINE_2(Greater, operator>)
PLAIT_DEFINE_2(GreaterEqual, operator>=)
PLAIT_DEFINE_2(LogicalAnd, operator&&)
PLAIT_DEFINE_2(LogicalOr, operator||)
PLAIT_DEFINE_1(Negative, operator-)
PLAIT_DEFINE_1(Positive, operator+)
PLAIT_DEFINE_1(Invert, operator~)
PLAIT_DEFINE_1(LogicalNot, operator!)
#undef PLAIT_DEFINE_1
#undef PLAIT_DEFINE_2
#undef PLAIT_DEFINE_3

// a * b + c. Rounded twice, as these operations are everywhere else.
template <class A, class B, class C, detail::if_operands<detail::fn::Add, A, B, C> = 0>
auto fma(A&& a, B&& b, C&& c) {
  return std::forward<A>(a) * std::forward<B>(b) + std::forward<C>(c);
}

// xtensor's spelling of astype.
template <class U, class A, detail::if_array<A> = 0>
array<U> cast(A&& a) {
  return std::forward<A>(a).template astype<U>();
}

// To so many decimals, half to even as NumPy has it. Integers stay as they are for decimals >= 0.
template <class A, detail::if_array<A> = 0>
detail::like<A> round(A&& a, std::int64_t decimals = 0) {
  return detail::like<A>(detail::round(std::forward<A>(a).handle(), decimals));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> around(A&& a, std::int64_t decimals = 0) {
  return round(std::forward<A>(a), decimals);
}
// The argument of complex numbers, in radians or degrees.
template <class A, detail::if_array<A> = 0>
auto angle(A&& a, bool degrees = false) {
  using R = element_t<detail::float_for(detail::real_of(dtype_of_v<detail::element_of<A>>))>;
  return array<R>(detail::angle(std::forward<A>(a).handle(), degrees));
}
// `nan` in place of NaN, the greatest finite values in place of infinities.
template <class A, detail::if_array<A> = 0>
detail::like<A> nan_to_num(A&& a, double nan = 0) {
  return detail::like<A>(detail::nan_to_num(std::forward<A>(a).handle(), nan, nullptr, nullptr));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> nan_to_num(A&& a, double nan, double posinf, double neginf) {
  return detail::like<A>(detail::nan_to_num(std::forward<A>(a).handle(), nan, &posinf, &neginf));
}

}  // namespace plait
