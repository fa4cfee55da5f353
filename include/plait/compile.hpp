// Functions of arrays and numbers that run from plans: what they record is kept, and run again
// without them.
#pragma once
#include <type_traits>
#include <utility>

#include "plait/array.hpp"

namespace plait {

namespace detail {

// One call of a compiled function: what it is given, and where what it gives goes.
struct CompiledCall {
  const void* types;  // an address for each list of types of arguments
  const Handle* const* arrays;
  int n_arrays;
  const Value* numbers;
  int n_numbers;
  Handle* results;
  int n_results;
  Handle* bound;  // of each array: what the caller's variable is assigned; empty: nothing
};

// Calls of one function that are kept, those made last; threads may share it.
class PLAIT_API KeptCalls {
 public:
  KeptCalls();
  KeptCalls(KeptCalls&& o) noexcept;
  ~KeptCalls();
  KeptCalls& operator=(KeptCalls&&) = delete;

  // The call by what is kept; false where nothing is that it could be made by.
  bool run(const CompiledCall& call);

  // A call by the function, in this thread.
  class PLAIT_API Watch {
   public:
    Watch(KeptCalls& calls, const CompiledCall& call);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    void by_function();  // keeps it: the results are there

   private:
    struct State;
    State* state_;
  };

 private:
  struct Calls;
  Calls* calls_;
};

// A call that is made both ways, to be compared; see options::check_compiled.
class PLAIT_API CheckedCall {
 public:
  static bool wanted();
  explicit CheckedCall(const CompiledCall& call);
  ~CheckedCall();
  CheckedCall(const CheckedCall&) = delete;
  CheckedCall& operator=(const CheckedCall&) = delete;
  void by_plan();      // it was: the arguments are as before
  void by_function();  // it was, too: Error where something differs

 private:
  struct State;
  State* state_;
};

// xtensor's expressions have another compile().
template <class F, class = void>
struct has_shape : std::false_type {};
template <class F>
struct has_shape<F, std::void_t<decltype(std::declval<const F&>().shape())>> : std::true_type {};

// What a compiled function may return.
template <class R, class = void>
struct Returned {
  static_assert(is_array_type<R>::value,
                "plait: a compiled function returns an array, a pair, tuple or std::array of "
                "arrays, or nothing");
  using type = array<typename R::value_type>;
  static constexpr int count = 1;
  static void list(const type& r, Handle* to) { *to = r.handle(); }
  static type make(Handle* from) { return type(std::move(*from)); }
};
template <>
struct Returned<void> {
  static constexpr int count = 0;
};
template <class R>
struct Returned<R, std::void_t<decltype(std::tuple_size<R>::value)>> {
  using type = R;
  static constexpr int count = static_cast<int>(std::tuple_size<R>::value);
  using Each = std::make_index_sequence<std::tuple_size<R>::value>;
  static void list(const R& r, Handle* to) { list(r, to, Each()); }
  static R make(Handle* from) { return make(from, Each()); }

 private:
  template <std::size_t... i>
  static void list(const R& r, Handle* to, std::index_sequence<i...>) {
    using std::get;
    ((to[i] = get<i>(r).handle()), ...);
  }
  template <std::size_t... i>
  static R make(Handle* from, std::index_sequence<i...>) {
    return R{std::tuple_element_t<i, R>(std::move(from[i]))...};
  }
};

template <class A>
Value number_value(const A& a) {
  if constexpr (std::is_enum_v<A>) {
    return number_value(static_cast<std::underlying_type_t<A>>(a));
  } else {
    static_assert(is_element_v<A>,
                  "plait: arguments of a compiled function are arrays, numbers and enumerators");
    return Value::of(a);
  }
}

// The arguments of a call, and what a variable among them is assigned.
template <int Arrays, int Numbers, int Results>
struct Arguments {
  template <class... A>
  explicit Arguments(const void* types, A&... arguments) {
    (add(arguments), ...);
    call = {types, arrays, n_arrays, numbers, n_numbers, results, Results, bound};
  }
  template <class... A>
  void bind(A&... arguments) {
    int i = 0;
    (bind_one(arguments, i), ...);
  }

  CompiledCall call;
  Handle results[Results + 1];

 private:
  template <class A>
  void add(A& a) {
    if constexpr (is_array_type<std::decay_t<A>>::value)
      arrays[n_arrays++] = &std::as_const(a).handle();
    else
      numbers[n_numbers++] = number_value<std::decay_t<A>>(a);
  }
  template <class A>
  void bind_one(A& a, int& i) {
    if constexpr (is_array_type<std::decay_t<A>>::value) {
      using Array = array<typename A::value_type>;
      if constexpr (std::is_same_v<A, Array> || std::is_same_v<A, tensor<typename A::value_type>>)
        if (bound[i]) a = Array(std::move(bound[i]));
      ++i;
    }
  }
  const Handle* arrays[Arrays + 1];
  Value numbers[Numbers + 1];
  Handle bound[Arrays + 1];
  int n_arrays = 0, n_numbers = 0;
};

template <class... A>
inline constexpr char types_of_arguments = 0;

}  // namespace detail

/// What compile() gives: called as the function that it is of, with arrays.
template <class F>
class compiled_function {
 public:
  explicit compiled_function(F f) : function_(std::move(f)) {}

  /// What the function gives of these arguments.
  template <class... A>
  auto operator()(A&&... arguments) {
    using Result = std::decay_t<decltype(function_(arguments...))>;
    using Returned = detail::Returned<Result>;
    constexpr int arrays = (0 + ... + int{detail::is_array_type<std::decay_t<A>>::value});
    constexpr int numbers = static_cast<int>(sizeof...(A)) - arrays;
    detail::Arguments<arrays, numbers, Returned::count> given(&detail::types_of_arguments<A...>,
                                                              arguments...);
    const auto call = [&](auto& watching) {
      if constexpr (Returned::count > 0) {
        typename Returned::type result = function_(arguments...);
        Returned::list(result, given.results);
        watching.by_function();
        return result;
      } else {
        function_(arguments...);
        watching.by_function();
      }
    };
    if (detail::CheckedCall::wanted()) {
      detail::CheckedCall checked(given.call);
      if (calls_.run(given.call)) {
        checked.by_plan();
        return call(checked);
      }
    } else if (calls_.run(given.call)) {
      given.bind(arguments...);
      if constexpr (Returned::count > 0)
        return Returned::make(given.results);
      else
        return;
    }
    detail::KeptCalls::Watch watch(calls_, given.call);
    return call(watch);
  }

 private:
  F function_;
  detail::KeptCalls calls_;
};

namespace detail {

// Whose captures do not change.
template <class F>
struct pure_function {
  F function;
};
template <class F>
inline constexpr bool has_captures = !std::is_empty_v<F> && !std::is_pointer_v<F>;
template <class F>
using if_function = std::enable_if_t<!has_shape<std::decay_t<F>>::value, int>;

}  // namespace detail

/// f, of which the captures stay what they are: arrays, with their contents at each call, and
/// numbers that nobody changes.
template <class F>
detail::pure_function<std::decay_t<F>> pure(F&& f) {
  return {std::forward<F>(f)};
}

/// f, a pure function of arrays, numbers and enumerators that returns an array, a pair, tuple or
/// std::array of them, or nothing, and may write to its arguments. A call with arguments of element
/// types, shapes and strides that were seen twice runs the plan of the calls before, and not f; a
/// long plan is made in the background, and f is called meanwhile.
///
/// Integers, bools and enumerators may decide what f does: each value has a plan of its own. A
/// floating-point or complex number is an argument of the plan once two calls with different ones
/// were recorded alike but for numbers that are exactly those: a new one costs nothing then. f may
/// compute with it, but not decide by it; what follows from it in f (dt / 2) has a plan for each of
/// a few values, unless it is given as an argument, or the number as an array of no axes, whose
/// arithmetic is recorded.
///
/// A function that asks for values (item(), a(0), `if`), or draws random numbers, is called each
/// time, which PLAIT_LOG=fallback shows once. PLAIT_CHECK_COMPILED=on compares each call by a plan
/// with f.
template <class F, detail::if_function<F> = 0,
          std::enable_if_t<!detail::has_captures<std::decay_t<F>>, int> = 0>
compiled_function<std::decay_t<F>> compile(F&& f) {
  return compiled_function<std::decay_t<F>>(std::forward<F>(f));
}
template <class F>
compiled_function<F> compile(detail::pure_function<F> f) {
  return compiled_function<F>(std::move(f.function));
}
template <class F, detail::if_function<F> = 0,
          std::enable_if_t<detail::has_captures<std::decay_t<F>>, int> = 1>
[[deprecated(
    "a plan keeps captured numbers as they were at its first calls: pass them as arguments, or "
    "say plait::pure(f) where they do not change")]] compiled_function<std::decay_t<F>>
compile(F&& f) {
  return compiled_function<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace plait
