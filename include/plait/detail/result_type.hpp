// Result types of elementwise functions when they are compiled.
#pragma once
#include "plait/detail/core.hpp"
#include "plait/detail/loops.hpp"

namespace plait::detail {

inline constexpr function_loops fn_table[] = {
#define PLAIT_FUNCTION(id, name, arity, loops, out, no_bool, narrow) \
  loops_of(fn::id, loops, rule::out, no_bool, narrow_loops::narrow),
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};
constexpr resolution resolve(fn f, const operand_type* operands, int n) {
  return resolve(fn_table[static_cast<int>(f)], operands, n);
}

// What a C++ type is as an operand: arrays, float16 and its like are strong, arithmetic scalars are
// weak.
template <class T, class = void>
struct operand_traits {
  static constexpr bool valid = false;
  static constexpr bool is_array = false;
};
template <class T>
struct scalar_traits {
  static constexpr bool valid = true;
  static constexpr bool is_array = false;
  static constexpr weak weakness = std::is_same_v<T, bool> ? weak::boolean
                                   : std::is_integral_v<T> ? weak::integer
                                                           : weak::floating;
  static constexpr operand_type type = {default_dtype(weakness), weakness};
  static Operand operand(const T& v) {
    if constexpr (weakness == weak::boolean) {
      return {nullptr, Value::of(v, weakness), nullptr};
    } else if constexpr (weakness == weak::integer) {
      // Beyond int64 only a uint64 array can take the value: it travels as a strong uint64.
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
        if (v > static_cast<T>(INT64_MAX))
          return {nullptr, Value::of(static_cast<std::uint64_t>(v)), nullptr};
      return {nullptr, Value::of(static_cast<std::int64_t>(v), weakness), nullptr};
    } else {
      return {nullptr, Value::of(static_cast<double>(v), weakness), nullptr};
    }
  }
};
template <class T>
struct operand_traits<T, std::enable_if_t<std::is_arithmetic_v<T>>> : scalar_traits<T> {};
template <class T>
struct operand_traits<std::complex<T>> {
  static constexpr bool valid = true;
  static constexpr bool is_array = false;
  static constexpr weak weakness = weak::complex;
  static constexpr operand_type type = {dtype::complex128, weakness};
  static Operand operand(const std::complex<T>& v) {
    return {nullptr, Value::of(std::complex<double>(v), weakness), nullptr};
  }
};
template <dtype D>
struct operand_traits<stored_float<D>> {
  static constexpr bool valid = true;
  static constexpr bool is_array = false;
  static constexpr operand_type type = {D, weak::none};
  static Operand operand(element_t<D> v) { return {nullptr, Value::of(v), nullptr}; }
};
template <dtype D>
struct operand_traits<stored_int<D>> : operand_traits<stored_float<D>> {};

template <class... A>
inline constexpr bool are_operands =
    (operand_traits<A>::valid && ...) && (operand_traits<A>::is_array || ...);

template <fn F, class... A>
constexpr resolution resolve_types() {
  constexpr operand_type types[] = {operand_traits<A>::type...};
  return resolve(F, types, sizeof...(A));
}
// Arrays of elements whose type is known at run time only, and what is computed of them.
template <class A, class = void>
struct untyped : std::false_type {};
template <class A>
inline constexpr bool is_untyped = untyped<A>::value;
struct untyped_result {
  using type = void;
};
template <fn F, class... A>
struct typed_result {
  static constexpr resolution resolved = resolve_types<F, A...>();
  static_assert(resolved.why != refusal::no_common_dtype,
                "plait: no dtype holds the values of these element types: convert one of the "
                "arrays with astype() (NumPy raises DTypePromotionError)");
  static_assert(
      resolved.found() || resolved.why == refusal::no_common_dtype,
      "plait: this function has no loop for these element types (NumPy raises TypeError)");
  using type = element_t<resolved.result>;
};
template <fn F, class... A>
struct result : std::conditional_t<(is_untyped<A> || ...), untyped_result, typed_result<F, A...>> {
};

}  // namespace plait::detail
