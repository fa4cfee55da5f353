// Functions of arrays that run from plans: what they record is kept, and run again without them.
#pragma once
#include <type_traits>
#include <utility>

#include "plait/array.hpp"

namespace plait {

namespace detail {

// Calls of one function that are kept, those made last; threads may share it.
class PLAIT_API KeptCalls {
 public:
  KeptCalls();
  KeptCalls(KeptCalls&& o) noexcept;
  ~KeptCalls();
  KeptCalls& operator=(KeptCalls&&) = delete;

  // The result of a call with such arguments; empty where none is kept.
  Handle run(const Handle* arguments, int n);

  // A call by the function, in this thread.
  class PLAIT_API Watch {
   public:
    Watch(KeptCalls& calls, const Handle* arguments, int n);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    void end(const Handle& result);  // keeps it

   private:
    struct State;
    State* state_;
  };

 private:
  struct Calls;
  Calls* calls_;
};

// xtensor's expressions have another compile().
template <class F, class = void>
struct has_shape : std::false_type {};
template <class F>
struct has_shape<F, std::void_t<decltype(std::declval<const F&>().shape())>> : std::true_type {};

}  // namespace detail

/// What compile() gives: called as the function that it is of, with arrays.
template <class F>
class compiled_function {
 public:
  explicit compiled_function(F f) : function_(std::move(f)) {}

  /// What the function gives of these arrays.
  template <class... T>
  auto operator()(const array<T>&... arguments) {
    using Result = std::decay_t<decltype(function_(arguments...))>;
    using Array = array<typename Result::value_type>;
    constexpr int n = static_cast<int>(sizeof...(T));
    const detail::Handle given[n + 1] = {arguments.handle()...};
    if (detail::Handle kept = calls_.run(given, n)) return Array(std::move(kept));
    detail::KeptCalls::Watch watch(calls_, given, n);
    Array result = function_(arguments...);
    watch.end(result.handle());
    return result;
  }

 private:
  F function_;
  detail::KeptCalls calls_;
};

/// f, a pure function of arrays that returns an array: what it returns depends on its arguments
/// alone, and on arrays that it captured, with their contents at each call. A call with arguments
/// of element types, shapes and strides that were seen twice runs the plan of the calls before, and
/// not f; a long plan is made in the background, and f is called meanwhile. A function that asks
/// for values (item(), a(0), `if`), or draws random numbers, is called each time, which
/// PLAIT_LOG=fallback shows once.
template <class F, std::enable_if_t<!detail::has_shape<std::decay_t<F>>::value, int> = 0>
compiled_function<std::decay_t<F>> compile(F&& f) {
  return compiled_function<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace plait
