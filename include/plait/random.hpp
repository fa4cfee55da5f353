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

// A parameter of a distribution: a number, or an array of them, which broadcasts against the other
// parameters and the shape.
struct parameter {
  template <class V, std::enable_if_t<std::is_arithmetic_v<V>, int> = 0>
  parameter(V v) : real(static_cast<double>(v)), is_whole(std::is_integral_v<V>) {
    if constexpr (std::is_integral_v<V>) whole = static_cast<std::int64_t>(v);
  }
  template <class T>
  parameter(const plait::array<T>& a) : array(a.handle()) {}

  double real = 0;
  std::int64_t whole = 0;
  bool is_whole = false;  // of the number
  detail::Handle array;   // where it is none
};

// What NumPy's PCG64 has as its state, in words of 64 bits.
struct engine_state {
  std::uint64_t high, low, increment_high, increment_low;
  bool has_uint32;         // half of the last word is left over
  std::uint32_t uinteger;  // that half
};

// What multivariate_normal makes of a covariance: a matrix that, times its transpose, is it.
enum class factor : std::uint8_t { svd, eigh, cholesky };

// numpy.random.default_rng(seed): the same numbers for the same calls, bit for bit. For one thread
// at a time; what draws many shares them among the library's threads.
class engine {
 public:
  PLAIT_API engine();  // from what the system has of chance
  PLAIT_API explicit engine(std::uint64_t seed);
  PLAIT_API explicit engine(const std::vector<std::uint64_t>& seed);
  PLAIT_API ~engine();
  engine(engine&& o) noexcept : stream_(o.stream_) { o.stream_ = nullptr; }
  engine& operator=(engine&& o) noexcept {
    std::swap(stream_, o.stream_);
    return *this;
  }

  // Engines whose numbers are independent of this one's and of each other's: for threads, for
  // parts of a program. NumPy's Generator.spawn().
  PLAIT_API std::vector<engine> spawn(std::int64_t n);
  // An engine whose numbers are far ahead: NumPy's PCG64.jumped().
  PLAIT_API engine jumped(std::int64_t jumps = 1) const;
  // As if so many words of 64 bits had been drawn.
  PLAIT_API void advance(std::uint64_t draws);
  PLAIT_API engine_state state() const;
  PLAIT_API static engine from_state(const engine_state& s);

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
  template <class T = double>
  array<T> standard_gamma(const parameter& k, const extents& shape) {
    return gamma_of<T>(k, &shape);
  }
  template <class T = double>
  array<T> standard_gamma(const parameter& k) {
    return gamma_of<T>(k, nullptr);
  }
  array<double> standard_cauchy(const extents& shape) {
    return array<double>(draw(law::standard_cauchy, &shape));
  }
  // Parameters are NumPy's, in its order; without a shape, an array of theirs. Each throws
  // ValueError for parameters that no such distribution has.
#define PLAIT_LAW_1(result, name, a)                             \
  array<result> name(const parameter& a, const extents& shape) { \
    return array<result>(draw(law::name, &shape, a));            \
  }                                                              \
  array<result> name(const parameter& a) { return array<result>(draw(law::name, nullptr, a)); }
#define PLAIT_LAW_2(result, name, a, b)                                              \
  array<result> name(const parameter& a, const parameter& b, const extents& shape) { \
    return array<result>(draw(law::name, &shape, a, b));                             \
  }                                                                                  \
  array<result> name(const parameter& a, const parameter& b) {                       \
    return array<result>(draw(law::name, nullptr, a, b));                            \
  }
#define PLAIT_LAW_3(result, name, a, b, c)                                         \
  array<result> name(const parameter& a, const parameter& b, const parameter& c,   \
                     const extents& shape) {                                       \
    return array<result>(draw(law::name, &shape, a, b, c));                        \
  }                                                                                \
  array<result> name(const parameter& a, const parameter& b, const parameter& c) { \
    return array<result>(draw(law::name, nullptr, a, b, c));                       \
  }
  PLAIT_LAW_2(double, uniform, low, high)
  PLAIT_LAW_2(double, normal, mean, deviation)
  PLAIT_LAW_1(double, exponential, scale)
  PLAIT_LAW_2(double, gamma, k, scale)
  PLAIT_LAW_2(double, beta, a, b)
  PLAIT_LAW_1(double, chisquare, degrees)
  PLAIT_LAW_2(double, noncentral_chisquare, degrees, noncentrality)
  PLAIT_LAW_2(double, f, degrees, other_degrees)
  PLAIT_LAW_3(double, noncentral_f, degrees, other_degrees, noncentrality)
  PLAIT_LAW_1(double, standard_t, degrees)
  PLAIT_LAW_2(double, lognormal, mean, deviation)
  PLAIT_LAW_2(double, laplace, location, scale)
  PLAIT_LAW_2(double, logistic, location, scale)
  PLAIT_LAW_2(double, gumbel, location, scale)
  PLAIT_LAW_1(double, rayleigh, scale)
  PLAIT_LAW_1(double, weibull, a)
  PLAIT_LAW_1(double, pareto, a)
  PLAIT_LAW_1(double, power, a)
  PLAIT_LAW_3(double, triangular, left, mode, right)
  PLAIT_LAW_2(double, vonmises, mode, kappa)
  PLAIT_LAW_2(double, wald, mean, scale)
  PLAIT_LAW_1(std::int64_t, poisson, mean)
  PLAIT_LAW_1(std::int64_t, geometric, p)
  PLAIT_LAW_1(std::int64_t, logseries, p)
  PLAIT_LAW_1(std::int64_t, zipf, a)
  PLAIT_LAW_2(std::int64_t, negative_binomial, n, p)
  PLAIT_LAW_2(std::int64_t, binomial, n, p)
  PLAIT_LAW_3(std::int64_t, hypergeometric, good, bad, sample)
#undef PLAIT_LAW_1
#undef PLAIT_LAW_2
#undef PLAIT_LAW_3

  // Vectors along a last axis, which the shape does not name.
  array<double> multivariate_normal(const array<double>& mean, const array<double>& covariance,
                                    const extents& shape = {}, factor how = factor::svd) {
    return array<double>(normals(mean.handle(), covariance.handle(), shape, how));
  }
  array<std::int64_t> multinomial(std::int64_t n, const array<double>& p,
                                  const extents& shape = {}) {
    return array<std::int64_t>(counts(n, p.handle(), shape));
  }
  // `by_counts`: NumPy's method="count", whose numbers are others.
  array<std::int64_t> multivariate_hypergeometric(const array<std::int64_t>& colors,
                                                  std::int64_t sample, const extents& shape = {},
                                                  bool by_counts = false) {
    return array<std::int64_t>(colors_of(colors.handle(), sample, shape, by_counts));
  }
  array<double> dirichlet(const array<double>& alpha, const extents& shape = {}) {
    return array<double>(parts(alpha.handle(), shape));
  }

  // In [low, high), or [low, high] with `endpoint`, as NumPy's with dtype=I, whose numbers are
  // others for each. Throws ValueError where there are none, and where I does not hold them.
  template <class I = std::int64_t>
  array<I> integers(const parameter& low, const parameter& high, const extents& shape,
                    bool endpoint = false) {
    return integers_of<I>(low, high, &shape, endpoint);
  }
  template <class I = std::int64_t>
  array<I> integers(const parameter& low, const parameter& high) {
    return integers_of<I>(low, high, nullptr, false);
  }
  array<std::uint8_t> bytes(std::int64_t n) { return array<std::uint8_t>(drawn_bytes(n)); }

  // The indices below n, or the sub-arrays along an axis, in random order; in place.
  template <class I = std::int64_t>
  array<I> permutation(std::int64_t n) {
    return array<I>(permuted_indices(n, dtype_of_v<I>));
  }
  template <class T>
  array<T> permutation(const array<T>& a, int axis = 0) {
    return take(a, permutation(detail::extent(a.handle(), axis)), axis);
  }
  template <class T>
  void shuffle(array<T>& a, int axis = 0) {
    a.assign(permutation(a, axis));
  }
  // All elements in random order, or those along each line of an axis in an order of its own.
  template <class T>
  array<T> permuted(const array<T>& a) {
    return take(a, permutation(static_cast<std::int64_t>(a.size()))).reshape(a.shape());
  }
  template <class T>
  array<T> permuted(const array<T>& a, int axis) {
    return take_along_axis(a, array<std::int64_t>(permuted_lines(a.handle(), axis)), axis);
  }
  // Some of the indices below `population`, or of the sub-arrays along an axis; with probabilities,
  // one for each index, where these are given.
  template <class I = std::int64_t>
  array<I> choice(std::int64_t population, const extents& shape, bool replace = true) {
    return array<I>(chosen(population, shape, replace, nullptr, dtype_of_v<I>));
  }
  template <class I = std::int64_t>
  array<I> choice(std::int64_t population, const extents& shape, bool replace,
                  const array<double>& p) {
    return array<I>(chosen(population, shape, replace, &p.handle(), dtype_of_v<I>));
  }
  template <class T>
  array<T> choice(const array<T>& a, const extents& shape, bool replace = true, int axis = 0) {
    return take(a, choice(detail::extent(a.handle(), axis), shape, replace), axis);
  }
  template <class T>
  array<T> choice(const array<T>& a, const extents& shape, bool replace, const array<double>& p,
                  int axis = 0) {
    return take(a, choice(detail::extent(a.handle(), axis), shape, replace, p), axis);
  }

 private:
  enum class law : std::uint8_t {
    uniform,
    normal,
    exponential,
    gamma,
    standard_gamma,
    standard_cauchy,
    beta,
    chisquare,
    noncentral_chisquare,
    f,
    noncentral_f,
    standard_t,
    lognormal,
    laplace,
    logistic,
    gumbel,
    rayleigh,
    weibull,
    pareto,
    power,
    triangular,
    vonmises,
    wald,
    poisson,
    geometric,
    logseries,
    zipf,
    negative_binomial,
    binomial,
    hypergeometric,
  };
  template <class T>
  array<T> standard(law l, const extents& shape) {
    static_assert(std::is_floating_point_v<T>, "plait: the engine draws float or double");
    return array<T>(draw_standard(l, shape, dtype_of_v<T>));
  }
  template <class T>
  array<T> gamma_of(const parameter& k, const extents* shape) {
    static_assert(std::is_floating_point_v<T>, "plait: the engine draws float or double");
    return array<T>(dtype_of_v<T> == dtype::float32 ? draw_gamma_float(k, shape)
                                                    : draw(law::standard_gamma, shape, k));
  }
  template <class I>
  array<I> integers_of(const parameter& low, const parameter& high, const extents* shape,
                       bool endpoint) {
    static_assert(std::is_same_v<I, bool> || detail::is_integer(dtype_of_v<I>),
                  "plait: the engine draws integers of bool and of integer types");
    return array<I>(draw_integers(low, high, shape, endpoint, dtype_of_v<I>));
  }
  struct stream;
  PLAIT_API detail::Handle draw(law l, const extents* shape, const parameter& a = 0,
                                const parameter& b = 0, const parameter& c = 0);
  PLAIT_API detail::Handle draw_standard(law l, const extents& shape, dtype t);
  PLAIT_API detail::Handle draw_gamma_float(const parameter& k, const extents* shape);
  PLAIT_API detail::Handle draw_integers(const parameter& low, const parameter& high,
                                         const extents* shape, bool endpoint, dtype t);
  PLAIT_API detail::Handle normals(const detail::Handle& mean, const detail::Handle& covariance,
                                   const extents& shape, factor how);
  PLAIT_API detail::Handle counts(std::int64_t n, const detail::Handle& p, const extents& shape);
  PLAIT_API detail::Handle colors_of(const detail::Handle& colors, std::int64_t sample,
                                     const extents& shape, bool by_counts);
  PLAIT_API detail::Handle parts(const detail::Handle& alpha, const extents& shape);
  PLAIT_API detail::Handle drawn_bytes(std::int64_t n);
  PLAIT_API detail::Handle permuted_indices(std::int64_t n, dtype t);
  PLAIT_API detail::Handle permuted_lines(const detail::Handle& a, int axis);
  PLAIT_API detail::Handle chosen(std::int64_t population, const extents& shape, bool replace,
                                  const detail::Handle* p, dtype t);
  stream& own() const;
  stream* stream_;
};

}  // namespace plait::random
