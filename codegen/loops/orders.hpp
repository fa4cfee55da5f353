// The order relations that extrema and arg-extrema use. `better(x, best)`: x replaces best.
#pragma once
#include "codegen/loops/drivers.hpp"
#include "codegen/loops/processor/width.hpp"
#include "core/half.hpp"

namespace plait::loops::PLAIT_TIER {

template <class T>
PLAIT_INLINE bool is_nan(T a) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (requires { a.re; })
    return (a.re != a.re) | (a.im != a.im);
  else
    return a != a;
}
template <class T>
PLAIT_INLINE bool is_less(T a, T b) {
  if constexpr (requires { a.re; })
    return a.re < b.re || (a.re == b.re && a.im < b.im);
  else
    return a < b;
}

// A NaN is better than any number, and the first NaN stays.
template <class T, bool kMax>
struct Propagating {
  static bool better(T x, T best) {
    if (is_nan(best)) return false;
    return (kMax ? is_less(best, x) : is_less(x, best)) | is_nan(x);
  }
};
// Any number is better than NaN.
template <class T, bool kMax>
struct Ignoring {
  static bool better(T x, T best) {
    if (is_nan(x)) return false;
    return (kMax ? is_less(best, x) : is_less(x, best)) | is_nan(best);
  }
};

template <class T>
struct Native {
  static constexpr int lanes = kVectorBytes / sizeof(T);
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

// The extreme of n contiguous numbers, starting from `best`, by the NaN-propagating order. Which of
// several equal values (zeros) it is stays open. In kernels/arg_reduce.cpp.
template <class T, bool kMax>
T contiguous_extreme(const T* a, std::int64_t n, T best);

}  // namespace plait::loops::PLAIT_TIER
