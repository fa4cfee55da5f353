// NumPy 2's ufunc type resolution: the first loop that every operand casts to safely, in the order
// of the dtypes. The templates search when they are compiled, the core when it records.
#pragma once
#include <string_view>

#include "plait/detail/promotion.hpp"

namespace plait::detail {

// How the dtype of the result follows from the loop's.
enum class rule : std::uint8_t { Same, Bool, Real, UInt8, Special };
// Which loops of narrow dtypes a function has: of floats, where it has one of float16, or of all.
enum class narrow_loops : std::uint8_t { none, floats, all };
// What is looked for otherwise: nothing; two loops of mixed signs; a quotient, which is no integer;
// one of two operands.
enum class search : std::uint8_t { plain, comparison, quotient, choice };

// A row of the operation table.
struct function_loops {
  dtype_set loops;
  rule out;
  bool refuses_bools;  // although a loop would take them
  detail::search search;
};

// `loops` are NumPy's letters.
constexpr dtype_set loop_set(std::string_view loops, narrow_loops narrow) {
  dtype_set s = 0;
  for (int i = 0; i < kDTypes; ++i) {
    const auto t = static_cast<dtype>(i);
    const bool has = !is_narrow(t) ? loops.find(rows::table[i].code) != std::string_view::npos
                     : is_float(t)
                         ? loops.find('e') != std::string_view::npos && narrow != narrow_loops::none
                         : narrow == narrow_loops::all;
    if (has) s |= set_of(t);
  }
  return s;
}
// Id: of the public functions, or the core's operations.
template <class Id>
constexpr function_loops loops_of(Id id, std::string_view loops, rule out, bool no_bool,
                                  narrow_loops narrow) {
  const bool compares = id >= Id::Equal && id <= Id::GreaterEqual;
  return {loop_set(loops, narrow), out, no_bool || id == Id::Gcd || id == Id::Lcm,
          compares           ? search::comparison
          : id == Id::Divide ? search::quotient
          : id == Id::Where  ? search::choice
                             : search::plain};
}

struct operand_type {
  dtype type;
  plait::detail::weak weak;
};
enum class refusal : std::uint8_t { none, no_common_dtype, bools, no_loop };
struct resolution {
  refusal why = refusal::none;
  dtype in[3] = {};  // what each operand is cast to; refused: the operands' own, or the two that
                     // have nothing in common
  dtype result = {};
  constexpr bool found() const { return why == refusal::none; }
};

constexpr dtype output(const function_loops& f, dtype loop) {
  switch (f.out) {
    case rule::Bool:
      return dtype::bool_;
    case rule::Real:
      return real_of(loop);
    case rule::UInt8:
      return dtype::uint8;
    case rule::Special:
      return f.search == search::quotient && is_integer(loop) ? dtype::float64 : loop;
    case rule::Same:
      break;
  }
  return loop;
}

// Operands' dtypes, where weak scalars take the kind of the strong ones; alone, their own default.
constexpr resolution strong_types(const operand_type* operands, int n) {
  resolution r;
  bool any_weak = false, any_strong = false;
  for (int i = 0; i < n; ++i) any_weak = any_weak || operands[i].weak != weak::none;
  dtype strong = dtype::bool_;
  for (int i = 0; i < n && any_weak; ++i) {  // pairs without a common dtype may have loops
    if (operands[i].weak != weak::none) continue;
    const dtype t = operands[i].type;
    const std::optional<dtype> both = any_strong ? common_dtype(strong, t) : t;
    if (!both) return {refusal::no_common_dtype, {strong, t}, {}};
    strong = *both;
    any_strong = true;
  }
  for (int i = 0; i < n; ++i) {
    const operand_type o = operands[i];
    r.in[i] = o.weak == weak::none                    ? o.type
              : any_strong && o.weak != weak::boolean ? promote_weak(strong, o.weak)
                                                      : default_dtype(o.weak);
  }
  return r;
}

// What where() takes a number for beside a narrow dtype.
constexpr dtype chosen_beside(const operand_type& o, dtype as, dtype other) {
  if (!is_narrow(other)) return as;
  if (o.weak == weak::floating && is_float(other) && other != dtype::float8_e5m2)
    return dtype::float64;
  return o.weak == weak::integer && is_integer(other) ? computes_in(other) : as;
}

// NumPy looks for a loop of the operands' own narrow dtypes, from the left, and then at its own
// loops.
inline constexpr dtype_set kNarrow = ~dtype_set{0} << (static_cast<int>(dtype::complex128) + 1);
constexpr dtype_set preferred(dtype_set loops, const dtype* types, int n) {
  for (int i = 0; i < n; ++i)
    if (const dtype_set own = loops & set_of(types[i]) & kNarrow) return own;
  return loops & ~kNarrow;
}

constexpr bool mixes_signs(dtype a, dtype b) {
  return kind_of(a) == kind::signed_int && b == dtype::uint64;
}

// Operands of one loop have one dtype, but where() has its condition first, and a signed integer is
// compared with uint64 as they are: no common dtype holds both.
constexpr resolution resolve(const function_loops& f, const operand_type* operands, int n) {
  if (f.search == search::choice) {
    resolution r = strong_types(operands + 1, 2);
    if (!r.found()) return r;
    const dtype a = r.in[0], b = r.in[1];
    r.in[0] = chosen_beside(operands[1], a, b);
    r.in[1] = chosen_beside(operands[2], b, r.in[0]);
    const std::optional<dtype> t = common_dtype(r.in[0], r.in[1]);
    if (!t) return {refusal::no_common_dtype, {r.in[0], r.in[1]}, {}};
    return {refusal::none, {dtype::bool_, *t, *t}, *t};
  }
  resolution r = strong_types(operands, n);
  if (!r.found()) return r;
  if (f.search == search::comparison) {
    if (mixes_signs(r.in[0], r.in[1]))
      return {refusal::none, {dtype::int64, dtype::uint64}, dtype::bool_};
    if (mixes_signs(r.in[1], r.in[0]))
      return {refusal::none, {dtype::uint64, dtype::int64}, dtype::bool_};
  }
  bool bools = f.refuses_bools, narrow = false;
  dtype_set fitting = f.loops;
  for (int i = 0; i < n; ++i) {
    bools = bools && r.in[i] == dtype::bool_;
    narrow = narrow || is_narrow(r.in[i]);
    fitting &= safe_targets(r.in[i]);
  }
  fitting = preferred(fitting, r.in, n);
  if (bools || !fitting) {
    r.why = bools ? refusal::bools : refusal::no_loop;
    return r;
  }
  dtype loop = first_of(fitting);
  // NumPy's division of its own integers goes to float64 at once.
  if (f.search == search::quotient && is_integer(loop))
    loop = narrow ? first_of(fitting & (set_of(dtype::float16) | set_of(dtype::float32) |
                                        set_of(dtype::float64)))
                  : dtype::float64;
  for (int i = 0; i < n; ++i) r.in[i] = loop;
  r.result = output(f, loop);
  return r;
}

}  // namespace plait::detail
