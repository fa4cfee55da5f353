// What operations take: which types are operands, whether a result fits the array it goes to, and
// why a function takes something or not.
#pragma once
#include "plait/detail/result_type.hpp"

namespace plait {

template <class T>
class array;
template <class T>
class array_view;
template <class T>
class traced;
template <class T>
class selection;
template <class T>
class tensor;
namespace detail {
template <class T>
class read_only;
}  // namespace detail

template <>
class array<void>;  // any_array

namespace detail {

PLAIT_API Handle elementwise(fn f, const Operand* operands, int n);  // of array<void> and others

template <class T>
struct is_array_type : std::false_type {};
template <class T>
struct is_array_type<array<T>> : std::true_type {};
template <class T>
struct is_array_type<array_view<T>> : std::true_type {};
template <class T>
struct is_array_type<selection<T>> : std::true_type {};
template <class T>
struct is_array_type<tensor<T>> : std::true_type {};

template <class A>
struct untyped<A, std::enable_if_t<is_array_type<A>::value>>
    : std::is_void<typename A::value_type> {};

template <class A>
struct operand_traits<A, std::enable_if_t<is_array_type<A>::value>> {
  static constexpr bool valid = true;
  static constexpr bool is_array = true;
  static constexpr operand_type type = {dtype_of_v<typename A::value_type>, weak::none};
  static Operand operand(const A& a) { return {&a.handle(), {}, nullptr}; }
};

// Of functions that take arrays, named or given away: the element type of their argument.
template <class A>
using element_of = typename std::decay_t<A>::value_type;
template <class A>
using if_array = std::enable_if_t<is_array_type<std::decay_t<A>>::value, int>;

template <class A>
using like = array<element_of<A>>;

// Whether a value of A may be stored in an array of T: everything but complex into real.
// Where a type is known at run time only, the call checks it.
template <class A, class T>
constexpr bool can_store() {
  if constexpr (is_untyped<A> || std::is_void_v<T>)
    return true;
  else
    return !(kind_of(operand_traits<A>::type.type) == kind::complex &&
             kind_of(dtype_of_v<T>) != kind::complex);
}
template <class A, class T>
inline constexpr bool storable = can_store<A, T>();
// Whether an in-place operation may write its result into T (NumPy's same_kind rule).
template <fn F, class T, class B>
constexpr bool updatable() {
  if constexpr (is_untyped<B> || std::is_void_v<T>) {
    return true;
  } else {
    constexpr operand_type types[] = {{dtype_of_v<T>, weak::none}, operand_traits<B>::type};
    constexpr resolution r = resolve(F, types, 2);
    return r.found() && can_cast_same_kind(r.result, dtype_of_v<T>);
  }
}
// Whether array<U> becomes array<T> by itself, and whether at all.
template <class U, class T>
constexpr bool is_implicit() {
  if constexpr (std::is_void_v<U>)
    return false;
  else
    return can_cast_safely(dtype_of_v<U>, dtype_of_v<T>);
}
template <class U, class T>
inline constexpr bool is_explicit = !std::is_void_v<U> && !is_implicit<U, T>();

// Operands that are given away, as the temporaries of an expression are, go when the operation is
// recorded: nobody asks for their values, so that no evaluation stores them.
template <class A>
Operand operand_of(A&& a) {
  Operand o = operand_traits<std::decay_t<A>>::operand(a);
  if constexpr (is_array_type<A>::value) o.given = const_cast<Handle*>(o.array);
  return o;
}
// What an elementwise function gives: of elements, which vectorize() has functions work on,
// another.
template <class A>
inline constexpr bool is_traced = false;
template <class T>
inline constexpr bool is_traced<traced<T>> = true;
template <class R, class... A>
using applied = std::conditional_t<(is_traced<A> || ...), traced<R>, array<R>>;

template <fn F, class... A>
auto apply(A&&... a) {
  using R = typename result<F, std::decay_t<A>...>::type;
  const Operand operands[] = {operand_of(std::forward<A>(a))...};
  if constexpr (std::is_void_v<R>)
    return array<void>(elementwise(F, operands, sizeof...(A)));
  else
    return applied<R, std::decay_t<A>...>(elementwise(F, operands, sizeof...(A), dtype_of_v<R>));
}

// Text, pointers and vectors are no operands of anything: they are taken, so that one message says
// so in place of the list of all candidates. Other types may have operators of their own.
template <class A>
inline constexpr bool never_operand = std::is_pointer_v<A> || std::is_null_pointer_v<A>;
template <>
inline constexpr bool never_operand<std::string> = true;
template <class T>
inline constexpr bool never_operand<std::vector<T>> = true;
template <class... A>
inline constexpr bool are_taken =
    (operand_traits<A>::is_array || ...) && ((operand_traits<A>::valid || never_operand<A>) && ...);

// Why a function does not take operands. A deleted overload has it as its last template argument,
// where compilers show it, and generic code finds that there is no function.
namespace why {
struct taken {};
struct not_of_this_library {};
struct operands_are_arrays_and_numbers__array_double_v_makes_an_array_of_a_vector {};
struct functions_of_elements_take_arrays_as_arguments__vectorize_f_a_b {};
struct no_dtype_holds_both_element_types__convert_one_with_astype {};
struct no_loop_for_these_element_types {};
struct result_does_not_fit_the_element_type_of_the_array {};
struct a_number_is_no_array__a_fill_x_writes_it_to_the_elements {};
struct the_element_type_does_not_hold_every_value__convert_with_astype {};
}  // namespace why
template <fn F, class... A>
constexpr auto refusal_of() {
  if constexpr (!are_taken<A...>) {
    return why::not_of_this_library();
  } else if constexpr (!are_operands<A...>) {
    return why::operands_are_arrays_and_numbers__array_double_v_makes_an_array_of_a_vector();
  } else if constexpr ((is_traced<A> || ...) && (is_array_type<A>::value || ...)) {
    return why::functions_of_elements_take_arrays_as_arguments__vectorize_f_a_b();
  } else if constexpr ((is_untyped<A> || ...)) {
    return why::taken();
  } else {
    constexpr refusal r = resolve_types<F, A...>().why;
    if constexpr (r == refusal::none)
      return why::taken();
    else if constexpr (r == refusal::no_common_dtype)
      return why::no_dtype_holds_both_element_types__convert_one_with_astype();
    else
      return why::no_loop_for_these_element_types();
  }
}
// The same of an in-place operation on an array of T.
template <fn F, class T, class B>
constexpr auto update_refusal_of() {
  using Why = decltype(refusal_of<F, array<T>, B>());
  if constexpr (!std::is_same_v<Why, why::taken>)
    return Why();
  else if constexpr (updatable<F, T, B>())
    return why::taken();
  else
    return why::result_does_not_fit_the_element_type_of_the_array();
}
template <class Why>
inline constexpr bool is_refusal =
    !std::is_same_v<Why, why::taken> && !std::is_same_v<Why, why::not_of_this_library>;
template <fn F, class... A>
using if_operands =
    std::enable_if_t<std::is_same_v<decltype(refusal_of<F, std::decay_t<A>...>()), why::taken>,
                     int>;
template <fn F, class... A>
using if_refused = std::enable_if_t<is_refusal<decltype(refusal_of<F, std::decay_t<A>...>())>,
                                    decltype(refusal_of<F, std::decay_t<A>...>())>;
template <fn F, class T, class B>
using if_updates = std::enable_if_t<
    std::is_same_v<decltype(update_refusal_of<F, T, std::decay_t<B>>()), why::taken>, int>;
template <fn F, class T, class B>
using if_not_updated =
    std::enable_if_t<is_refusal<decltype(update_refusal_of<F, T, std::decay_t<B>>())>,
                     decltype(update_refusal_of<F, T, std::decay_t<B>>())>;

}  // namespace detail
}  // namespace plait
