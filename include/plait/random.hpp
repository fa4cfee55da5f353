// Random arrays: by an engine, whose numbers are NumPy's, and from one process-wide generator,
// whose numbers are not. The same seed gives the same numbers for any number of threads.
#pragma once
#include "plait/indexing.hpp"

namespace plait::random {

PLAIT_API void seed(std::uint64_t value);

// Standard normal.
template <class T = double>
array<T> randn(const extents& shape) {
  static_assert(std::is_floating_point_v<T>, "plait: randn gives float or double");
  return array<T>(detail::random("normal", detail::span_of(shape), 0, 1, dtype_of_v<T>));
}
// Uniform in [low, high).
template <class T = double>
array<T> rand(const extents& shape, T low = T(0), T high = T(1)) {
  static_assert(std::is_floating_point_v<T>, "plait: rand gives float or double; see randint");
  return array<T>(detail::random("uniform", detail::span_of(shape), low, high, dtype_of_v<T>));
}
// Integers in [low, high). Throws ValueError when high <= low.
template <class T = std::int64_t>
array<T> randint(const extents& shape, std::int64_t low, std::int64_t high) {
  static_assert(std::is_same_v<T, bool> || detail::is_integer(dtype_of_v<T>),
                "plait: randint gives integers");
  return array<T>(detail::random_integers(detail::span_of(shape), low, high, dtype_of_v<T>));
}

// numpy.random.default_rng(seed): the same numbers for the same calls, bit for bit, drawn one after
// the other by the calling thread.
class engine {
 public:
  PLAIT_API engine();  // from what the system has of chance
  PLAIT_API explicit engine(std::uint64_t seed);
  PLAIT_API ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // Of double or float: NumPy's with dtype=float32, whose numbers are others.
  template <class T = double>
  array<T> random(const extents& shape) {  // in [0, 1)
    return standard<T>(law::uniform, shape);
  }
  template <class T = double>
  array<T> standard_normal(const extents& shape) {
    return standard<T>(law::normal, shape);
  }
  template <class T = double>
  array<T> standard_exponential(const extents& shape) {
    return standard<T>(law::exponential, shape);
  }
  // Parameters are NumPy's, in its order. Each throws ValueError for those that no such
  // distribution has.
#define PLAIT_LAW_1(result, name, first)                       \
  array<result> name(double first, const extents& shape) {     \
    return array<result>(draw(law::name, first, 0, 0, shape)); \
  }
#define PLAIT_LAW_2(result, name, first, second)                          \
  array<result> name(double first, double second, const extents& shape) { \
    return array<result>(draw(law::name, first, second, 0, shape));       \
  }
  PLAIT_LAW_2(double, uniform, low, high)
  PLAIT_LAW_2(double, normal, mean, deviation)
  PLAIT_LAW_1(double, exponential, scale)
  PLAIT_LAW_2(double, gamma, k, scale)
  PLAIT_LAW_1(double, standard_gamma, k)
  PLAIT_LAW_2(double, beta, a, b)
  PLAIT_LAW_1(double, chisquare, degrees)
  PLAIT_LAW_2(double, f, degrees, other_degrees)
  PLAIT_LAW_1(double, standard_t, degrees)
  PLAIT_LAW_2(double, lognormal, mean, deviation)
  PLAIT_LAW_2(double, laplace, location, scale)
  PLAIT_LAW_2(double, logistic, location, scale)
  PLAIT_LAW_2(double, gumbel, location, scale)
  PLAIT_LAW_1(double, rayleigh, scale)
  PLAIT_LAW_1(double, weibull, a)
  PLAIT_LAW_1(double, pareto, a)
  PLAIT_LAW_1(double, power, a)
  PLAIT_LAW_1(std::int64_t, poisson, mean)
  PLAIT_LAW_1(std::int64_t, geometric, p)
  PLAIT_LAW_2(std::int64_t, negative_binomial, n, p)
#undef PLAIT_LAW_1
#undef PLAIT_LAW_2
  array<double> triangular(double left, double mode, double right, const extents& shape) {
    return array<double>(draw(law::triangular, left, mode, right, shape));
  }
  // In [low, high), as NumPy's with dtype=I, whose numbers are others for each. Throws ValueError
  // when high <= low, and where I does not hold them.
  template <class I = std::int64_t>
  array<I> integers(std::int64_t low, std::int64_t high, const extents& shape) {
    static_assert(std::is_same_v<I, bool> || detail::is_integer(dtype_of_v<I>),
                  "plait: the engine draws integers of bool and of integer types");
    return array<I>(draw_integers(low, high, shape, dtype_of_v<I>));
  }
  // The indices below n, or the sub-arrays along the first axis, in random order; in place.
  template <class I = std::int64_t>
  array<I> permutation(std::int64_t n) {
    return array<I>(permuted(n, dtype_of_v<I>));
  }
  template <class T>
  array<T> permutation(const array<T>& a) {
    return take(a, permutation(a.shape(0)), 0);
  }
  template <class T>
  void shuffle(array<T>& a) {
    a.assign(permutation(a));
  }
  // n of the indices below `population`, or of the sub-arrays along the first axis.
  template <class I = std::int64_t>
  array<I> choice(std::int64_t population, std::int64_t n, bool replace = true) {
    return array<I>(chosen(population, n, replace, dtype_of_v<I>));
  }
  template <class T>
  array<T> choice(const array<T>& a, std::int64_t n, bool replace = true) {
    return take(a, choice(a.shape(0), n, replace), 0);
  }

 private:
  enum class law : std::uint8_t {
    uniform,
    normal,
    exponential,
    gamma,
    standard_gamma,
    beta,
    chisquare,
    f,
    standard_t,
    lognormal,
    laplace,
    logistic,
    gumbel,
    rayleigh,
    weibull,
    pareto,
    power,
    poisson,
    geometric,
    negative_binomial,
    triangular,
  };
  template <class T>
  array<T> standard(law l, const extents& shape) {
    static_assert(std::is_floating_point_v<T>, "plait: the engine draws float or double");
    return array<T>(draw_standard(l, shape, dtype_of_v<T>));
  }
  PLAIT_API detail::Handle draw(law l, double first, double second, double third,
                                const extents& shape);
  PLAIT_API detail::Handle draw_standard(law l, const extents& shape, dtype t);
  PLAIT_API detail::Handle draw_integers(std::int64_t low, std::int64_t high, const extents& shape,
                                         dtype t);
  PLAIT_API detail::Handle permuted(std::int64_t n, dtype t);
  PLAIT_API detail::Handle chosen(std::int64_t population, std::int64_t n, bool replace, dtype t);
  struct stream;
  stream* stream_;
};

}  // namespace plait::random
