// Random arrays by an engine, whose numbers are NumPy's.
#pragma once
#include "plait/indexing.hpp"

namespace plait::random {

/// A parameter of a distribution: a number, or an array of them, which broadcasts against the
/// other parameters and the shape.
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

/// What an engine draws without a shape: an array of the parameters' shape, and of numbers, which
/// have none, one number that it converts to: double x = engine.normal(0, 1).
template <class T>
class drawn : public array<T> {
 public:
  explicit drawn(detail::Handle h) : array<T>(std::move(h)) {}
  operator T() const { return this->item(); }
};

}  // namespace plait::random
namespace plait::detail {
template <class T>
struct is_array_type<random::drawn<T>> : std::true_type {};
}  // namespace plait::detail
namespace plait::random {

/// What NumPy's PCG64 has as its state, in words of 64 bits.
struct engine_state {
  std::uint64_t high, low, increment_high, increment_low;
  bool has_uint32;         // half of the last word is left over
  std::uint32_t uinteger;  // that half
};

/// What multivariate_normal makes of a covariance: a matrix that, times its transpose, is it.
enum class factor : std::uint8_t { svd, eigh, cholesky };

/// numpy.random.default_rng(seed): the same numbers for the same calls, bit for bit. For one
/// thread at a time; what draws many shares them among the library's threads. Parameters are
/// NumPy's, in its order; without a shape, an array of theirs. ValueError for parameters that no
/// such distribution has. Two draws in one expression come in C++'s order, which is unspecified.
class engine {
 public:
  /// From what the system has of chance.
  PLAIT_API engine();
  /// From a seed, or several words of one.
  PLAIT_API explicit engine(std::uint64_t seed);
  PLAIT_API explicit engine(const std::vector<std::uint64_t>& seed);
  PLAIT_API ~engine();
  engine(engine&& o) noexcept : stream_(o.stream_) { o.stream_ = nullptr; }
  engine& operator=(engine&& o) noexcept {
    std::swap(stream_, o.stream_);
    return *this;
  }

  /// Engines whose numbers are independent of this one's and of each other's: for threads, for
  /// parts of a program (numpy.random.Generator.spawn).
  PLAIT_API std::vector<engine> spawn(std::int64_t n);
  /// An engine whose numbers are far ahead (numpy.random.PCG64.jumped).
  PLAIT_API engine jumped(std::int64_t jumps = 1) const;
  /// As if so many words of 64 bits had been drawn (numpy.random.PCG64.advance).
  PLAIT_API void advance(std::uint64_t draws);
  /// To go on from here later, by from_state() (numpy.random.PCG64.state).
  PLAIT_API engine_state state() const;
  /// An engine that goes on where that one was.
  PLAIT_API static engine from_state(const engine_state& s);

  /// Uniform in [0, 1), of double or float, whose numbers are others
  /// (numpy.random.Generator.random).
  template <class T = double>
  array<T> random(const extents& shape) {
    return standard<T>(law::uniform, shape);
  }
  template <class T = double>
  drawn<T> random() {
    return drawn<T>(random<T>(extents()).handle());
  }
  /// Standard normal, of double or float (numpy.random.Generator.standard_normal).
  template <class T = double>
  array<T> standard_normal(const extents& shape) {
    return standard<T>(law::normal, shape);
  }
  template <class T = double>
  drawn<T> standard_normal() {
    return drawn<T>(standard_normal<T>(extents()).handle());
  }
  /// Exponential of mean 1, of double or float (numpy.random.Generator.standard_exponential).
  template <class T = double>
  array<T> standard_exponential(const extents& shape) {
    return standard<T>(law::exponential, shape);
  }
  template <class T = double>
  drawn<T> standard_exponential() {
    return drawn<T>(standard_exponential<T>(extents()).handle());
  }
  /// Gamma of shape k and scale 1, of double or float (numpy.random.Generator.standard_gamma).
  template <class T = double>
  array<T> standard_gamma(const parameter& k, const extents& shape) {
    return gamma_of<T>(k, &shape);
  }
  template <class T = double>
  drawn<T> standard_gamma(const parameter& k) {
    return drawn<T>(gamma_of<T>(k, nullptr).handle());
  }
  /// Cauchy (numpy.random.Generator.standard_cauchy).
  array<double> standard_cauchy(const extents& shape) {
    return array<double>(draw(law::standard_cauchy, &shape));
  }
  drawn<double> standard_cauchy() { return drawn<double>(draw(law::standard_cauchy, nullptr)); }
  /// Uniform in [low, high) (numpy.random.Generator.uniform).
  array<double> uniform(const parameter& low, const parameter& high, const extents& shape) {
    return array<double>(draw(law::uniform, &shape, low, high));
  }
  drawn<double> uniform() { return random(); }
  drawn<double> uniform(const parameter& low, const parameter& high) {
    return drawn<double>(draw(law::uniform, nullptr, low, high));
  }
  /// Normal, of a mean and a standard deviation (numpy.random.Generator.normal).
  array<double> normal(const parameter& mean, const parameter& deviation, const extents& shape) {
    return array<double>(draw(law::normal, &shape, mean, deviation));
  }
  drawn<double> normal() { return standard_normal(); }
  drawn<double> normal(const parameter& mean, const parameter& deviation) {
    return drawn<double>(draw(law::normal, nullptr, mean, deviation));
  }
  /// Exponential, of a mean (numpy.random.Generator.exponential).
  array<double> exponential(const parameter& scale, const extents& shape) {
    return array<double>(draw(law::exponential, &shape, scale));
  }
  drawn<double> exponential(const parameter& scale) {
    return drawn<double>(draw(law::exponential, nullptr, scale));
  }
  /// Gamma, of shape k (numpy.random.Generator.gamma).
  array<double> gamma(const parameter& k, const parameter& scale, const extents& shape) {
    return array<double>(draw(law::gamma, &shape, k, scale));
  }
  drawn<double> gamma(const parameter& k, const parameter& scale) {
    return drawn<double>(draw(law::gamma, nullptr, k, scale));
  }
  /// Beta (numpy.random.Generator.beta).
  array<double> beta(const parameter& a, const parameter& b, const extents& shape) {
    return array<double>(draw(law::beta, &shape, a, b));
  }
  drawn<double> beta(const parameter& a, const parameter& b) {
    return drawn<double>(draw(law::beta, nullptr, a, b));
  }
  /// Chi-square, of so many degrees of freedom (numpy.random.Generator.chisquare).
  array<double> chisquare(const parameter& degrees, const extents& shape) {
    return array<double>(draw(law::chisquare, &shape, degrees));
  }
  drawn<double> chisquare(const parameter& degrees) {
    return drawn<double>(draw(law::chisquare, nullptr, degrees));
  }
  /// Noncentral chi-square (numpy.random.Generator.noncentral_chisquare).
  array<double> noncentral_chisquare(const parameter& degrees, const parameter& noncentrality,
                                     const extents& shape) {
    return array<double>(draw(law::noncentral_chisquare, &shape, degrees, noncentrality));
  }
  drawn<double> noncentral_chisquare(const parameter& degrees, const parameter& noncentrality) {
    return drawn<double>(draw(law::noncentral_chisquare, nullptr, degrees, noncentrality));
  }
  /// Fisher's F (numpy.random.Generator.f).
  array<double> f(const parameter& degrees, const parameter& other_degrees, const extents& shape) {
    return array<double>(draw(law::f, &shape, degrees, other_degrees));
  }
  drawn<double> f(const parameter& degrees, const parameter& other_degrees) {
    return drawn<double>(draw(law::f, nullptr, degrees, other_degrees));
  }
  /// Noncentral F (numpy.random.Generator.noncentral_f).
  array<double> noncentral_f(const parameter& degrees, const parameter& other_degrees,
                             const parameter& noncentrality, const extents& shape) {
    return array<double>(draw(law::noncentral_f, &shape, degrees, other_degrees, noncentrality));
  }
  drawn<double> noncentral_f(const parameter& degrees, const parameter& other_degrees,
                             const parameter& noncentrality) {
    return drawn<double>(draw(law::noncentral_f, nullptr, degrees, other_degrees, noncentrality));
  }
  /// Student's t (numpy.random.Generator.standard_t).
  array<double> standard_t(const parameter& degrees, const extents& shape) {
    return array<double>(draw(law::standard_t, &shape, degrees));
  }
  drawn<double> standard_t(const parameter& degrees) {
    return drawn<double>(draw(law::standard_t, nullptr, degrees));
  }
  /// What has a normal logarithm, of that mean and standard deviation
  /// (numpy.random.Generator.lognormal).
  array<double> lognormal(const parameter& mean, const parameter& deviation, const extents& shape) {
    return array<double>(draw(law::lognormal, &shape, mean, deviation));
  }
  drawn<double> lognormal(const parameter& mean, const parameter& deviation) {
    return drawn<double>(draw(law::lognormal, nullptr, mean, deviation));
  }
  /// Laplace: the double exponential (numpy.random.Generator.laplace).
  array<double> laplace(const parameter& location, const parameter& scale, const extents& shape) {
    return array<double>(draw(law::laplace, &shape, location, scale));
  }
  drawn<double> laplace(const parameter& location, const parameter& scale) {
    return drawn<double>(draw(law::laplace, nullptr, location, scale));
  }
  /// Logistic (numpy.random.Generator.logistic).
  array<double> logistic(const parameter& location, const parameter& scale, const extents& shape) {
    return array<double>(draw(law::logistic, &shape, location, scale));
  }
  drawn<double> logistic(const parameter& location, const parameter& scale) {
    return drawn<double>(draw(law::logistic, nullptr, location, scale));
  }
  /// Gumbel: of extreme values (numpy.random.Generator.gumbel).
  array<double> gumbel(const parameter& location, const parameter& scale, const extents& shape) {
    return array<double>(draw(law::gumbel, &shape, location, scale));
  }
  drawn<double> gumbel(const parameter& location, const parameter& scale) {
    return drawn<double>(draw(law::gumbel, nullptr, location, scale));
  }
  /// Rayleigh (numpy.random.Generator.rayleigh).
  array<double> rayleigh(const parameter& scale, const extents& shape) {
    return array<double>(draw(law::rayleigh, &shape, scale));
  }
  drawn<double> rayleigh(const parameter& scale) {
    return drawn<double>(draw(law::rayleigh, nullptr, scale));
  }
  /// Weibull, of shape a (numpy.random.Generator.weibull).
  array<double> weibull(const parameter& a, const extents& shape) {
    return array<double>(draw(law::weibull, &shape, a));
  }
  drawn<double> weibull(const parameter& a) {
    return drawn<double>(draw(law::weibull, nullptr, a));
  }
  /// Pareto II, or Lomax, of shape a (numpy.random.Generator.pareto).
  array<double> pareto(const parameter& a, const extents& shape) {
    return array<double>(draw(law::pareto, &shape, a));
  }
  drawn<double> pareto(const parameter& a) { return drawn<double>(draw(law::pareto, nullptr, a)); }
  /// In [0, 1], of density a * x ** (a - 1) (numpy.random.Generator.power).
  array<double> power(const parameter& a, const extents& shape) {
    return array<double>(draw(law::power, &shape, a));
  }
  drawn<double> power(const parameter& a) { return drawn<double>(draw(law::power, nullptr, a)); }
  /// Between `left` and `right`, most often at `mode` (numpy.random.Generator.triangular).
  array<double> triangular(const parameter& left, const parameter& mode, const parameter& right,
                           const extents& shape) {
    return array<double>(draw(law::triangular, &shape, left, mode, right));
  }
  drawn<double> triangular(const parameter& left, const parameter& mode, const parameter& right) {
    return drawn<double>(draw(law::triangular, nullptr, left, mode, right));
  }
  /// Von Mises, on the circle: in [-pi, pi] (numpy.random.Generator.vonmises).
  array<double> vonmises(const parameter& mode, const parameter& kappa, const extents& shape) {
    return array<double>(draw(law::vonmises, &shape, mode, kappa));
  }
  drawn<double> vonmises(const parameter& mode, const parameter& kappa) {
    return drawn<double>(draw(law::vonmises, nullptr, mode, kappa));
  }
  /// Wald, or inverse Gaussian (numpy.random.Generator.wald).
  array<double> wald(const parameter& mean, const parameter& scale, const extents& shape) {
    return array<double>(draw(law::wald, &shape, mean, scale));
  }
  drawn<double> wald(const parameter& mean, const parameter& scale) {
    return drawn<double>(draw(law::wald, nullptr, mean, scale));
  }
  /// Poisson, of a mean (numpy.random.Generator.poisson).
  array<std::int64_t> poisson(const parameter& mean, const extents& shape) {
    return array<std::int64_t>(draw(law::poisson, &shape, mean));
  }
  drawn<std::int64_t> poisson(const parameter& mean) {
    return drawn<std::int64_t>(draw(law::poisson, nullptr, mean));
  }
  /// How many trials there are up to the first success, of probability p each
  /// (numpy.random.Generator.geometric).
  array<std::int64_t> geometric(const parameter& p, const extents& shape) {
    return array<std::int64_t>(draw(law::geometric, &shape, p));
  }
  drawn<std::int64_t> geometric(const parameter& p) {
    return drawn<std::int64_t>(draw(law::geometric, nullptr, p));
  }
  /// Logarithmic series (numpy.random.Generator.logseries).
  array<std::int64_t> logseries(const parameter& p, const extents& shape) {
    return array<std::int64_t>(draw(law::logseries, &shape, p));
  }
  drawn<std::int64_t> logseries(const parameter& p) {
    return drawn<std::int64_t>(draw(law::logseries, nullptr, p));
  }
  /// Zipf, or zeta (numpy.random.Generator.zipf).
  array<std::int64_t> zipf(const parameter& a, const extents& shape) {
    return array<std::int64_t>(draw(law::zipf, &shape, a));
  }
  drawn<std::int64_t> zipf(const parameter& a) {
    return drawn<std::int64_t>(draw(law::zipf, nullptr, a));
  }
  /// How many failures there are before n successes, of probability p each
  /// (numpy.random.Generator.negative_binomial).
  array<std::int64_t> negative_binomial(const parameter& n, const parameter& p,
                                        const extents& shape) {
    return array<std::int64_t>(draw(law::negative_binomial, &shape, n, p));
  }
  drawn<std::int64_t> negative_binomial(const parameter& n, const parameter& p) {
    return drawn<std::int64_t>(draw(law::negative_binomial, nullptr, n, p));
  }
  /// How many of n trials succeed, of probability p each (numpy.random.Generator.binomial).
  array<std::int64_t> binomial(const parameter& n, const parameter& p, const extents& shape) {
    return array<std::int64_t>(draw(law::binomial, &shape, n, p));
  }
  drawn<std::int64_t> binomial(const parameter& n, const parameter& p) {
    return drawn<std::int64_t>(draw(law::binomial, nullptr, n, p));
  }
  /// How many of a sample are good, of so many good ones and bad ones
  /// (numpy.random.Generator.hypergeometric).
  array<std::int64_t> hypergeometric(const parameter& good, const parameter& bad,
                                     const parameter& sample, const extents& shape) {
    return array<std::int64_t>(draw(law::hypergeometric, &shape, good, bad, sample));
  }
  drawn<std::int64_t> hypergeometric(const parameter& good, const parameter& bad,
                                     const parameter& sample) {
    return drawn<std::int64_t>(draw(law::hypergeometric, nullptr, good, bad, sample));
  }

  /// Normal vectors along a last axis, which the shape does not name
  /// (numpy.random.Generator.multivariate_normal).
  array<double> multivariate_normal(const array<double>& mean, const array<double>& covariance,
                                    const extents& shape = {}, factor how = factor::svd) {
    return array<double>(normals(mean.handle(), covariance.handle(), shape, how));
  }
  /// How often each of the outcomes comes in n trials, along a last axis
  /// (numpy.random.Generator.multinomial).
  array<std::int64_t> multinomial(std::int64_t n, const array<double>& p,
                                  const extents& shape = {}) {
    return array<std::int64_t>(counts(n, p.handle(), shape));
  }
  /// How many of each colour are in a sample, along a last axis. `by_counts`: by the method that
  /// NumPy calls count, whose numbers are others
  /// (numpy.random.Generator.multivariate_hypergeometric).
  array<std::int64_t> multivariate_hypergeometric(const array<std::int64_t>& colors,
                                                  std::int64_t sample, const extents& shape = {},
                                                  bool by_counts = false) {
    return array<std::int64_t>(colors_of(colors.handle(), sample, shape, by_counts));
  }
  /// Parts of 1, along a last axis (numpy.random.Generator.dirichlet).
  array<double> dirichlet(const array<double>& alpha, const extents& shape = {}) {
    return array<double>(parts(alpha.handle(), shape));
  }

  /// Integers in [low, high), or [low, high] with `endpoint`, as NumPy's with dtype=I, whose
  /// numbers are others for each (numpy.random.Generator.integers). ValueError where there are
  /// none, and where I does not hold them.
  template <class I = std::int64_t>
  array<I> integers(const parameter& low, const parameter& high, const extents& shape,
                    bool endpoint = false) {
    return integers_of<I>(low, high, &shape, endpoint);
  }
  template <class I = std::int64_t>
  drawn<I> integers(const parameter& low, const parameter& high) {
    return drawn<I>(integers_of<I>(low, high, nullptr, false).handle());
  }
  /// n random bytes (numpy.random.Generator.bytes).
  array<std::uint8_t> bytes(std::int64_t n) { return array<std::uint8_t>(drawn_bytes(n)); }

  /// The indices below n, or the sub-arrays along an axis, in random order
  /// (numpy.random.Generator.permutation).
  template <class I = std::int64_t>
  array<I> permutation(std::int64_t n) {
    return array<I>(permuted_indices(n, dtype_of_v<I>));
  }
  template <class T>
  array<T> permutation(const array<T>& a, int axis = 0) {
    return take(a, permutation(detail::extent(a.handle(), axis)), axis);
  }
  /// The same in place (numpy.random.Generator.shuffle).
  template <class T>
  void shuffle(array<T>& a, int axis = 0) {
    a.assign(permutation(a, axis));
  }
  /// All elements in random order, or those along each line of an axis in an order of its own
  /// (numpy.random.Generator.permuted).
  template <class T>
  array<T> permuted(const array<T>& a) {
    return take(a, permutation(static_cast<std::int64_t>(a.size()))).reshape(a.shape());
  }
  template <class T>
  array<T> permuted(const array<T>& a, int axis) {
    return take_along_axis(a, array<std::int64_t>(permuted_lines(a.handle(), axis)), axis);
  }
  /// Some of the indices below `population`, or of the sub-arrays along an axis; with
  /// probabilities, one for each index, where these are given (numpy.random.Generator.choice).
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
