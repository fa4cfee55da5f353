// Result types of elementwise functions at compile time: NumPy's search for the first loop that
// every operand casts to safely, over the loop letters of the operation table.
#pragma once
#include "plait/detail/core.hpp"

namespace plait::detail {

enum class rule : std::uint8_t { Same, Bool, Real, UInt8, Special };
struct fn_info {
  const char* loops;
  rule out;
  bool no_bool;  // bools raise, although a loop would take them
};
inline constexpr fn_info fn_table[] = {
#define PLAIT_FUNCTION(id, name, arity, loops, out, no_bool) {loops, rule::out, no_bool},
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};

struct operand_type {
  dtype type;
  plait::detail::weak weak;
};
struct resolution {
  bool found;
  dtype result;
};

constexpr dtype from_letter(char c) {
  constexpr char letters[] = "?bBhHiIlLefdFD";
  int i = 0;
  while (letters[i] != c) ++i;
  return static_cast<dtype>(i);
}
constexpr dtype output(fn f, dtype loop) {
  switch (fn_table[static_cast<int>(f)].out) {
    case rule::Bool:
      return dtype::bool_;
    case rule::Real:
      return real_of(loop);
    case rule::UInt8:
      return dtype::uint8;
    case rule::Special:  // true division of integers
      return f == fn::Divide && is_integer(loop) ? dtype::float64 : loop;
    default:
      return loop;
  }
}
// Weak scalars take their dtype from the strong operands; where() ignores its condition.
constexpr resolution resolve(fn f, const operand_type* operands, int n) {
  const int first = f == fn::Where ? 1 : 0;
  bool any_strong = false, all_bool = true;
  dtype strong = dtype::bool_;
  for (int i = first; i < n; ++i)
    if (operands[i].weak == weak::none) {
      strong = any_strong ? promote(strong, operands[i].type) : operands[i].type;
      any_strong = true;
    }
  dtype types[3] = {};
  for (int i = first; i < n; ++i) {
    const operand_type o = operands[i];
    types[i] = o.weak == weak::none ? o.type
               : any_strong         ? promote_weak(strong, o.weak)
                                    : default_dtype(o.weak);
    all_bool = all_bool && types[i] == dtype::bool_;
  }
  const fn_info info = fn_table[static_cast<int>(f)];
  const bool no_bool = info.no_bool || f == fn::Gcd || f == fn::Lcm;
  if (no_bool && all_bool) return {false, dtype::bool_};
  for (const char* c = info.loops; *c; ++c) {
    const dtype loop = from_letter(*c);
    bool fits = true;
    for (int i = first; i < n; ++i) fits = fits && can_cast_safely(types[i], loop);
    if (fits) return {true, output(f, loop)};
  }
  return {false, dtype::bool_};
}

// What a C++ type is as an operand: arrays and float16 are strong, arithmetic scalars are weak.
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
template <>
struct operand_traits<float16> {
  static constexpr bool valid = true;
  static constexpr bool is_array = false;
  static constexpr operand_type type = {dtype::float16, weak::none};
  static Operand operand(float16 v) { return {nullptr, Value::of(v), nullptr}; }
};

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
  static_assert(
      resolved.found,
      "plait: this function has no loop for these element types (NumPy raises TypeError)");
  using type = element_t<resolved.result>;
};
template <fn F, class... A>
struct result : std::conditional_t<(is_untyped<A> || ...), untyped_result, typed_result<F, A...>> {
};

}  // namespace plait::detail
