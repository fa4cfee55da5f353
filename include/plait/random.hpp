// Random arrays: by an engine, whose numbers are NumPy's, and from one process-wide generator,
// whose numbers are not. The same seed gives the same numbers for any number of threads.
#pragma once
#include "plait/indexing.hpp"

namespace plait::random {

/// Seeds the generator of the process, which randn(), rand() and randint() draw from. The same seed
/// gives the same numbers for any number of threads.
PLAIT_API void seed(std::uint64_t value);

/// Standard normal numbers of the process's generator.
template <class T = double>
array<T> randn(const extents& shape) {
  static_assert(std::is_floating_point_v<T>, "plait: randn gives float or double");
  return array<T>(detail::random("normal", detail::span_of(shape), 0, 1, dtype_of_v<T>));
}
/// Uniform numbers in [low, high) of the process's generator.
template <class T = double>
array<T> rand(const extents& shape, T low = T(0), T high = T(1)) {
  static_assert(std::is_floating_point_v<T>, "plait: rand gives float or double; see randint");
  return array<T>(detail::random("uniform", detail::span_of(shape), low, high, dtype_of_v<T>));
}
/// Integers in [low, high) of the process's generator. ValueError when high <= low.
template <class T = std::int64_t>
array<T> randint(const extents& shape, std::int64_t low, std::int64_t high) {
  static_assert(std::is_same_v<T, bool> || detail::is_integer(dtype_of_v<T>),
                "plait: randint gives integers");
  return array<T>(detail::random_integers(detail::span_of(shape), low, high, dtype_of_v<T>));
}

/// numpy.random.default_rng(seed): the same numbers for the same calls, bit for bit, drawn one
/// after the other by the calling thread. Parameters are NumPy's, in its order; ValueError for
/// those that no such distribution has.
class engine {
 public:
  PLAIT_API engine();  // from what the system has of chance
  PLAIT_API explicit engine(std::uint64_t seed);
  PLAIT_API ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Uniform numbers in [0, 1), of double or float: NumPy's with dtype=float32, whose numbers are
  /// others (numpy.random.Generator.random).
  template <class T = double>
  array<T> random(const extents& shape) {  // in [0, 1)
    return standard<T>(law::uniform, shape);
  }
  /// Standard normal numbers, of double or float (numpy.random.Generator.standard_normal).
  template <class T = double>
  array<T> standard_normal(const extents& shape) {
    return standard<T>(law::normal, shape);
  }
  /// Exponential numbers of mean 1, of double or float
  /// (numpy.random.Generator.standard_exponential).
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
  /// Uniform in [low, high) (numpy.random.Generator.uniform).
  PLAIT_LAW_2(double, uniform, low, high)
  /// Normal (numpy.random.Generator.normal).
  PLAIT_LAW_2(double, normal, mean, deviation)
  /// Exponential, of mean `scale` (numpy.random.Generator.exponential).
  PLAIT_LAW_1(double, exponential, scale)
  /// Gamma of shape k (numpy.random.Generator.gamma).
  PLAIT_LAW_2(double, gamma, k, scale)
  /// Gamma of shape k and scale 1 (numpy.random.Generator.standard_gamma).
  PLAIT_LAW_1(double, standard_gamma, k)
  /// Beta (numpy.random.Generator.beta).
  PLAIT_LAW_2(double, beta, a, b)
  /// Chi-squared (numpy.random.Generator.chisquare).
  PLAIT_LAW_1(double, chisquare, degrees)
  /// Fisher's F (numpy.random.Generator.f).
  PLAIT_LAW_2(double, f, degrees, other_degrees)
  /// Student's t (numpy.random.Generator.standard_t).
  PLAIT_LAW_1(double, standard_t, degrees)
  /// Numbers whose logarithms are normal (numpy.random.Generator.lognormal).
  PLAIT_LAW_2(double, lognormal, mean, deviation)
  /// Laplace (numpy.random.Generator.laplace).
  PLAIT_LAW_2(double, laplace, location, scale)
  /// Logistic (numpy.random.Generator.logistic).
  PLAIT_LAW_2(double, logistic, location, scale)
  /// Gumbel, of extreme values (numpy.random.Generator.gumbel).
  PLAIT_LAW_2(double, gumbel, location, scale)
  /// Rayleigh (numpy.random.Generator.rayleigh).
  PLAIT_LAW_1(double, rayleigh, scale)
  /// Weibull of shape a (numpy.random.Generator.weibull).
  PLAIT_LAW_1(double, weibull, a)
  /// Pareto II of shape a, which is Lomax (numpy.random.Generator.pareto).
  PLAIT_LAW_1(double, pareto, a)
  /// In [0, 1], of density a * x ** (a - 1) (numpy.random.Generator.power).
  PLAIT_LAW_1(double, power, a)
  /// Poisson, of a mean (numpy.random.Generator.poisson).
  PLAIT_LAW_1(std::int64_t, poisson, mean)
  /// How many trials the first success takes, of probability p each
  /// (numpy.random.Generator.geometric).
  PLAIT_LAW_1(std::int64_t, geometric, p)
  /// How many failures there are before n successes, of probability p each
  /// (numpy.random.Generator.negative_binomial).
  PLAIT_LAW_2(std::int64_t, negative_binomial, n, p)
#undef PLAIT_LAW_1
#undef PLAIT_LAW_2
  /// Numbers between `left` and `right`, most often at `mode` (numpy.random.Generator.triangular).
  array<double> triangular(double left, double mode, double right, const extents& shape) {
    return array<double>(draw(law::triangular, left, mode, right, shape));
  }
  /// Integers in [low, high), as NumPy's with dtype=I, whose numbers are others for each
  /// (numpy.random.Generator.integers). ValueError when high <= low, and where I does not hold
  /// them.
  template <class I = std::int64_t>
  array<I> integers(std::int64_t low, std::int64_t high, const extents& shape) {
    static_assert(std::is_same_v<I, bool> || detail::is_integer(dtype_of_v<I>),
                  "plait: the engine draws integers of bool and of integer types");
    return array<I>(draw_integers(low, high, shape, dtype_of_v<I>));
  }
  /// The indices below n in random order (numpy.random.Generator.permutation).
  template <class I = std::int64_t>
  array<I> permutation(std::int64_t n) {
    return array<I>(permuted(n, dtype_of_v<I>));
  }
  /// The sub-arrays along the first axis in random order.
  template <class T>
  array<T> permutation(const array<T>& a) {
    return take(a, permutation(a.shape(0)), 0);
  }
  /// Puts the sub-arrays along the first axis into random order, in place
  /// (numpy.random.Generator.shuffle).
  template <class T>
  void shuffle(array<T>& a) {
    a.assign(permutation(a));
  }
  /// n of the indices below `population` (numpy.random.Generator.choice). ValueError for more than
  /// there are without `replace`.
  template <class I = std::int64_t>
  array<I> choice(std::int64_t population, std::int64_t n, bool replace = true) {
    return array<I>(chosen(population, n, replace, dtype_of_v<I>));
  }
  /// n of the sub-arrays along the first axis.
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
