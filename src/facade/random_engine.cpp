#include <cmath>
#include <string>

#include "box.hpp"
#include "numpy_compat/distributions.hpp"
#include "numpy_compat/random_fill.hpp"
#include "plait/linalg.hpp"
#include "plait/random.hpp"

namespace plait::random {

namespace {

using Stream = numpy::RandomStream;

// What a law draws from: the binomial law keeps what it worked out for its last parameters.
struct Source {
  Stream& stream;
  numpy::Binomial& binomial;
};
union Number {
  double real;
  std::int64_t whole;
};

// What a parameter may be.
enum class Rule : std::uint8_t {
  any,
  not_negative,
  positive,
  positive_not_nan,
  probability,
  positive_probability,
  probability_below_1,
  above_1,
  poisson,
};
struct Parameter {
  const char* name = "";
  Rule rule = Rule::any;
  bool whole = false;  // integers
};
using DrawReal = double (*)(const Source&, const Number*);
using DrawWhole = std::int64_t (*)(const Source&, const Number*);
struct Law {
  const char* name;
  int parameters;
  Parameter parameter[3];
  DrawReal real;  // one of the two
  DrawWhole whole;
  void (*check)(const Number*) = nullptr;  // of the parameters together
};

// Above it, numbers may not fit an int64.
const double kGreatestMean = 0x1p63 - std::sqrt(0x1p63) * 10;

// What of NumPy's words says that `v` is none, with % for the parameter's name; or null.
const char* refusal(Rule rule, double v, bool in_array) {
  switch (rule) {
    case Rule::any:
      return nullptr;
    case Rule::not_negative:
      return !std::isnan(v) && std::signbit(v) ? "% < 0" : nullptr;
    case Rule::positive_not_nan:
      if (std::isnan(v)) return "% must not be NaN";
      [[fallthrough]];
    case Rule::positive:
      return v <= 0 ? "% <= 0" : nullptr;
    case Rule::probability:
      if (v >= 0 && v <= 1) return nullptr;
      return in_array ? "% < 0, % > 1 or % contains NaNs" : "% < 0, % > 1 or % is NaN";
    case Rule::positive_probability:
      return v > 0 && v <= 1 ? nullptr : "% <= 0, % > 1 or % contains NaNs";
    case Rule::probability_below_1:
      if (v >= 0 && v < 1) return nullptr;
      return in_array ? "% < 0, % >= 1 or % contains NaNs" : "% < 0, % >= 1 or % is NaN";
    case Rule::above_1:
      if (v > 1) return nullptr;
      return in_array ? "% <= 1 or % contains NaNs" : "% <= 1 or % is NaN";
    case Rule::poisson:
      if (!(v >= 0)) return in_array ? "% < 0 or % contains NaNs" : "% < 0 or % is NaN";
      return v <= kGreatestMean ? nullptr : "% value too large";
  }
  return nullptr;
}
void check(const Parameter& p, double v, bool in_array) {
  const char* words = refusal(p.rule, v, in_array);
  if (!words) return;
  std::string text;
  for (; *words; ++words) *words == '%' ? text += p.name : text += *words;
  throw ValueError(text);
}
void require(bool possible, const char* problem) {
  if (!possible) throw ValueError(problem);
}

// In the order of engine::law.
const Law kLaws[] = {
    {"uniform",
     2,
     {{"low"}, {"high"}},
     [](const Source& s, const Number* p) {
       return p[0].real + (p[1].real - p[0].real) * s.stream.uniform();
     },
     nullptr,
     [](const Number* p) {
       const double range = p[1].real - p[0].real;
       if (!std::isfinite(range)) throw OverflowError("high - low range exceeds valid bounds");
       require(range >= 0, "high - low < 0");
     }},
    {"normal",
     2,
     {{"loc"}, {"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) { return p[0].real + p[1].real * s.stream.normal(); }},
    {"exponential",
     1,
     {{"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) { return p[0].real * s.stream.exponential(); }},
    {"gamma",
     2,
     {{"shape", Rule::not_negative}, {"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[1].real * numpy::standard_gamma(s.stream, p[0].real);
     }},
    {"standard_gamma",
     1,
     {{"shape", Rule::not_negative}},
     [](const Source& s, const Number* p) { return numpy::standard_gamma(s.stream, p[0].real); }},
    {"standard_cauchy",
     0,
     {},
     [](const Source& s, const Number*) {
       const double x = s.stream.normal();
       return x / s.stream.normal();
     }},
    {"beta",
     2,
     {{"a", Rule::positive}, {"b", Rule::positive}},
     [](const Source& s, const Number* p) { return numpy::beta(s.stream, p[0].real, p[1].real); }},
    {"chisquare",
     1,
     {{"df", Rule::positive}},
     [](const Source& s, const Number* p) { return numpy::chisquare(s.stream, p[0].real); }},
    {"noncentral_chisquare",
     2,
     {{"df", Rule::positive}, {"nonc", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return numpy::noncentral_chisquare(s.stream, p[0].real, p[1].real);
     }},
    {"f",
     2,
     {{"dfnum", Rule::positive}, {"dfden", Rule::positive}},
     [](const Source& s, const Number* p) {
       const double x = numpy::chisquare(s.stream, p[0].real) * p[1].real;
       return x / (numpy::chisquare(s.stream, p[1].real) * p[0].real);
     }},
    {"noncentral_f",
     3,
     {{"dfnum", Rule::positive}, {"dfden", Rule::positive}, {"nonc", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       const double x = numpy::noncentral_chisquare(s.stream, p[0].real, p[2].real) * p[1].real;
       return x / (numpy::chisquare(s.stream, p[1].real) * p[0].real);
     }},
    {"standard_t",
     1,
     {{"df", Rule::positive}},
     [](const Source& s, const Number* p) {
       const double x = s.stream.normal(), half = p[0].real / 2;
       return std::sqrt(half) * x / std::sqrt(numpy::standard_gamma(s.stream, half));
     }},
    {"lognormal",
     2,
     {{"mean"}, {"sigma", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return std::exp(p[0].real + p[1].real * s.stream.normal());
     }},
    {"laplace",
     2,
     {{"loc"}, {"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[0].real + p[1].real * numpy::laplace(s.stream);
     }},
    {"logistic",
     2,
     {{"loc"}, {"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[0].real + p[1].real * numpy::logistic(s.stream);
     }},
    {"gumbel",
     2,
     {{"loc"}, {"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[0].real + p[1].real * numpy::gumbel(s.stream);
     }},
    {"rayleigh",
     1,
     {{"scale", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[0].real * std::sqrt(2 * s.stream.exponential());
     }},
    {"weibull",
     1,
     {{"a", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return p[0].real == 0 ? 0 : std::pow(s.stream.exponential(), 1 / p[0].real);
     }},
    {"pareto",
     1,
     {{"a", Rule::positive}},
     [](const Source& s, const Number* p) {
       return std::expm1(s.stream.exponential() / p[0].real);
     }},
    {"power",
     1,
     {{"a", Rule::positive}},
     [](const Source& s, const Number* p) {
       return std::pow(-std::expm1(-s.stream.exponential()), 1 / p[0].real);
     }},
    {"triangular",
     3,
     {{"left"}, {"mode"}, {"right"}},
     [](const Source& s, const Number* p) {
       return numpy::triangular(s.stream, p[0].real, p[1].real, p[2].real);
     },
     nullptr,
     [](const Number* p) {
       require(!(p[0].real > p[1].real), "left > mode");
       require(!(p[1].real > p[2].real), "mode > right");
       require(p[0].real != p[2].real, "left == right");
     }},
    {"vonmises",
     2,
     {{"mu"}, {"kappa", Rule::not_negative}},
     [](const Source& s, const Number* p) {
       return numpy::vonmises(s.stream, p[0].real, p[1].real);
     }},
    {"wald",
     2,
     {{"mean", Rule::positive}, {"scale", Rule::positive}},
     [](const Source& s, const Number* p) { return numpy::wald(s.stream, p[0].real, p[1].real); }},
    {"poisson",
     1,
     {{"lam", Rule::poisson}},
     nullptr,
     [](const Source& s, const Number* p) { return numpy::poisson(s.stream, p[0].real); }},
    {"geometric",
     1,
     {{"p", Rule::positive_probability}},
     nullptr,
     [](const Source& s, const Number* p) { return numpy::geometric(s.stream, p[0].real); }},
    {"logseries",
     1,
     {{"p", Rule::probability_below_1}},
     nullptr,
     [](const Source& s, const Number* p) { return numpy::logseries(s.stream, p[0].real); }},
    {"zipf",
     1,
     {{"a", Rule::above_1}},
     nullptr,
     [](const Source& s, const Number* p) { return numpy::zipf(s.stream, p[0].real); }},
    {"negative_binomial",
     2,
     {{"n", Rule::positive_not_nan}, {"p", Rule::positive_probability}},
     nullptr,
     [](const Source& s, const Number* p) {
       const double mean = (1 - p[1].real) / p[1].real * numpy::standard_gamma(s.stream, p[0].real);
       return numpy::poisson(s.stream, mean);
     },
     [](const Number* p) {
       const double greatest =
           (1 - p[1].real) / p[1].real * (p[0].real + 10 * std::sqrt(p[0].real));
       require(!(greatest > kGreatestMean), "n too large or p too small");
     }},
    {"binomial",
     2,
     {{"n", Rule::not_negative, true}, {"p", Rule::probability}},
     nullptr,
     [](const Source& s, const Number* p) { return s.binomial(s.stream, p[0].whole, p[1].real); }},
    {"hypergeometric",
     3,
     {{"ngood", Rule::not_negative, true},
      {"nbad", Rule::not_negative, true},
      {"nsample", Rule::not_negative, true}},
     nullptr,
     [](const Source& s, const Number* p) {
       return numpy::hypergeometric(s.stream, p[0].whole, p[1].whole, p[2].whole);
     },
     [](const Number* p) {
       require(p[0].whole < 1000000000 && p[1].whole < 1000000000,
               "both ngood and nbad must be less than 1000000000");
       require(p[0].whole + p[1].whole >= p[2].whole, "ngood + nbad < nsample");
     }},
};

// Parameters for a number of the result after the other.
class Parameters {
 public:
  Parameters(const Parameter* kinds, const parameter* const* given, int n, const extents* shape)
      : kinds_(kinds), n_(n) {
    std::vector<detail::Handle> arrays;
    for (int i = 0; i < n; ++i)
      if (given[i]->array) arrays.push_back(given[i]->array);
    has_arrays_ = !arrays.empty();
    shape_ = detail::common_shape(arrays.data(), static_cast<int>(arrays.size()));
    if (shape) {
      const shape_type wanted(shape->data(), shape->data() + shape->size());
      if (has_arrays_) {
        arrays.push_back(detail::empty(detail::span_of(*shape), dtype::bool_));
        const shape_type all = detail::common_shape(arrays.data(), static_cast<int>(arrays.size()));
        if (all != wanted)
          throw ValueError("Output size " + to_string(wanted) +
                           " is not compatible with broadcast dimensions of inputs " +
                           to_string(all) + ".");
      }
      shape_ = wanted;
    }
    for (int i = 0; i < n; ++i) add(kinds[i], *given[i]);
  }
  const shape_type& shape() const { return shape_; }
  bool has_arrays() const { return has_arrays_; }
  // Of the i-th number. Valid until the next call.
  const Number* operator[](std::int64_t i) {
    for (int k = 0; k < n_; ++k)
      if (elements_[k]) now_[k] = elements_[k][i];
    return now_;
  }

 private:
  void add(const Parameter& kind, const parameter& given) {
    const auto k = kept_.size();
    if (!given.array) {
      if (kind.whole && !given.is_whole)
        throw DTypeError(
            "Cannot cast scalar from dtype('float64') to dtype('int64') according to "
            "the rule 'safe'");
      if (kind.whole)
        now_[k].whole = given.whole;
      else
        now_[k].real = given.real;
      check(kind, given.real, false);
      kept_.emplace_back();
      return;
    }
    const dtype t = detail::dtype_of(given.array);
    if (kind.whole && !detail::is_integer(t) && t != dtype::bool_)
      throw DTypeError("Cannot cast array data from dtype('" + std::string(name(detail::core(t))) +
                       "') to dtype('int64') according to the rule 'safe'");
    const detail::Handle numbers =
        detail::astype(given.array, kind.whole ? dtype::int64 : dtype::float64);
    const detail::Span shape{shape_.data(), static_cast<int>(shape_.size())};
    kept_.push_back(detail::copy(detail::broadcast_to(numbers, shape)));
    elements_[k] = static_cast<const Number*>(detail::data(kept_.back()));
    for (std::int64_t i = 0; i < detail::size_of(kept_.back()); ++i)
      check(kind, kind.whole ? static_cast<double>(elements_[k][i].whole) : elements_[k][i].real,
            true);
  }
  static std::string to_string(const shape_type& s) {
    std::string text = "(";
    for (std::size_t i = 0; i < s.size(); ++i) text += (i ? ", " : "") + std::to_string(s[i]);
    return text + (s.size() == 1 ? ",)" : ")");
  }
  const Parameter* kinds_;
  int n_;
  bool has_arrays_ = false;
  shape_type shape_;
  std::vector<detail::Handle> kept_;
  const Number* elements_[3] = {};
  Number now_[3] = {};
};

// A new array of T that fill(memory, n) fills, in C order.
template <class T, class Fill>
detail::Handle made(const extents& shape, Fill&& fill) {
  detail::start();
  const detail::OnHost host;
  const detail::Handle h = detail::empty(detail::span_of(shape), dtype_of_v<T>);
  if (const std::int64_t n = detail::size_of(h); n > 0)
    fill(static_cast<T*>(detail::mutable_data(h)), n);
  return host.placed(h);
}
// The same, whose i-th element is next(i).
template <class T, class F>
detail::Handle filled(const extents& shape, F&& next) {
  return made<T>(shape, [&](T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = next(i);
  });
}

detail::Handle as(detail::Handle h, dtype t) {
  return t == dtype::int64 ? h : detail::astype(h, t);
}

// Elements in C order.
template <class T>
std::vector<T> list(const detail::Handle& a) {
  std::vector<T> out(static_cast<std::size_t>(detail::size_of(a)));
  if (!out.empty()) detail::compute_into(a, out.data());
  return out;
}
// NumPy's errors for a shape, before anything is drawn.
std::int64_t count_of(const extents& shape) {
  std::int64_t n = 1;
  for (int i = 0; i < shape.size(); ++i) {
    require(shape.data()[i] >= 0, "negative dimensions are not allowed");
    n *= shape.data()[i];
  }
  return n;
}
extents with_last(const extents& shape, std::int64_t last) {
  shape_type all(shape.data(), shape.data() + shape.size());
  all.push_back(last);
  return all;
}
double compensated_sum(const double* values, std::int64_t n) {  // Kahan's
  double sum = n > 0 ? values[0] : 0, lost = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const double y = values[i] - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum;
}

}  // namespace

struct engine::stream : Stream {
  explicit stream(numpy::SeedSequence s) : Stream(s), seeds(std::move(s)) {}
  numpy::SeedSequence seeds;
  numpy::Binomial binomial;
};

engine::engine() : stream_(new stream(numpy::SeedSequence::of_chance())) {}
engine::engine(std::uint64_t seed) : engine(std::vector<std::uint64_t>{seed}) {}
engine::engine(const std::vector<std::uint64_t>& seed)
    : stream_(new stream(numpy::SeedSequence(seed))) {}
engine::~engine() { delete stream_; }
engine::stream& engine::own() const {
  if (!stream_) detail::throw_moved_from();
  return *stream_;
}

std::vector<engine> engine::spawn(std::int64_t n) {
  if (n < 0) throw ValueError("spawn: n_children must be non-negative");
  std::vector<engine> children;
  for (numpy::SeedSequence& s : own().seeds.spawn(n)) {
    children.emplace_back(0);
    *children.back().stream_ = stream(std::move(s));
  }
  return children;
}
engine engine::jumped(std::int64_t jumps) const {
  constexpr numpy::Wide kJump =
      numpy::Wide{0x9e3779b97f4a7c15} << 64 | numpy::Wide{0xf39cc0605cedc835};
  engine ahead;
  numpy::Pcg64 g = own().own().generator;
  g.advance(kJump * static_cast<numpy::Wide>(jumps));
  ahead.stream_->own() = {g};
  return ahead;
}
void engine::advance(std::uint64_t draws) {
  Stream::State& s = own().own();
  s.generator.advance(draws);
  s = {s.generator};
}
engine_state engine::state() const {
  const Stream::State& s = own().own();
  const numpy::Wide state = s.generator.state(), increment = s.generator.increment();
  return {static_cast<std::uint64_t>(state >> 64),
          static_cast<std::uint64_t>(state),
          static_cast<std::uint64_t>(increment >> 64),
          static_cast<std::uint64_t>(increment),
          s.has_half,
          s.half};
}
engine engine::from_state(const engine_state& s) {
  engine made;
  const auto wide = [](std::uint64_t high, std::uint64_t low) {
    return numpy::Wide{high} << 64 | low;
  };
  made.stream_->own() = {numpy::Pcg64(wide(s.high, s.low), wide(s.increment_high, s.increment_low)),
                         s.has_uint32, s.uinteger};
  return made;
}

detail::Handle engine::draw_standard(law l, const extents& shape, dtype t) {
  stream& s = own();
  const auto fill = [&](auto* out, std::int64_t n) {
    l == law::uniform  ? numpy::fill_uniform(s, out, n)
    : l == law::normal ? numpy::fill_normal(s, out, n)
                       : numpy::fill_exponential(s, out, n);
  };
  return t == dtype::float32 ? made<float>(shape, fill) : made<double>(shape, fill);
}

detail::Handle engine::draw(law l, const extents* shape, const parameter& a, const parameter& b,
                            const parameter& c) {
  const Law& law_of = kLaws[static_cast<int>(l)];
  stream& s = own();
  const Source source{s, s.binomial};
  return detail::named(law_of.name, [&] {
    const parameter* const given[] = {&a, &b, &c};
    Parameters p(law_of.parameter, given, law_of.parameters, shape);
    const extents to(p.shape());
    const std::int64_t n = count_of(to);
    if (law_of.check)
      for (std::int64_t i = 0; i < (p.has_arrays() ? n : 1); ++i) law_of.check(p[i]);
    if (!p.has_arrays()) {
      const Number* const v = p[0];
      if (l == law::uniform)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_uniform(s, out, size, {v[0].real, v[1].real - v[0].real});
        });
      if (l == law::normal)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_normal(s, out, size, {v[0].real, v[1].real});
        });
      if (l == law::exponential)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_exponential(s, out, size, {-0.0, v[0].real});
        });
    }
    if (law_of.real)
      return filled<double>(to, [&](std::int64_t i) { return law_of.real(source, p[i]); });
    return filled<std::int64_t>(to, [&](std::int64_t i) { return law_of.whole(source, p[i]); });
  });
}

detail::Handle engine::draw_gamma_float(const parameter& k, const extents* shape) {
  return detail::named("standard_gamma", [&] {
    const Parameter kind{"shape", Rule::not_negative};
    const parameter* const given[] = {&k};
    Parameters p(&kind, given, 1, shape);
    return filled<float>(p.shape(), [&](std::int64_t i) {
      return numpy::standard_gamma_float(own(), static_cast<float>(p[i]->real));
    });
  });
}

detail::Handle engine::draw_integers(const parameter& low, const parameter& high,
                                     const extents* shape, bool endpoint, dtype t) {
  return detail::named("integers", [&] {
    stream& s = own();
    const Parameter kinds[] = {{"low", Rule::any, true}, {"high", Rule::any, true}};
    const parameter* const given[] = {&low, &high};
    Parameters p(kinds, given, 2, shape);
    const extents to(p.shape());
    const std::int64_t n = count_of(to);
    for (std::int64_t i = 0; i < (p.has_arrays() ? n : 1); ++i)
      detail::check_integers(p[i][0].whole, p[i][1].whole, endpoint, t);
    const auto first = [&](const Number* v) { return static_cast<std::uint64_t>(v[0].whole); };
    const auto most = [&](const Number* v) {
      return static_cast<std::uint64_t>(v[1].whole) - first(v) - (endpoint ? 0 : 1);
    };
    numpy::NarrowIntegers narrow(s, t == dtype::bool_ ? 1 : std::min(detail::bits_of(t), 16));
    const auto parts = [&](auto element) {
      using T = decltype(element);
      return filled<T>(to, [&](std::int64_t i) {
        const Number* const v = p[i];
        return static_cast<T>(first(v) + narrow.below_or_at(static_cast<std::uint32_t>(most(v))));
      });
    };
    const auto wide = [&](auto element) {
      using T = decltype(element);
      if (p.has_arrays())
        return filled<T>(to, [&](std::int64_t i) {
          const Number* const v = p[i];
          return static_cast<T>(first(v) + s.below_or_at(most(v)));
        });
      return made<T>(to, [&](T* out, std::int64_t size) {
        numpy::fill_integers(s, out, size, first(p[0]), most(p[0]));
      });
    };
    switch (t) {
      case dtype::bool_:
        return parts(bool());
      case dtype::int8:
        return parts(std::int8_t());
      case dtype::uint8:
        return parts(std::uint8_t());
      case dtype::int16:
        return parts(std::int16_t());
      case dtype::uint16:
        return parts(std::uint16_t());
      case dtype::int32:
        return wide(std::int32_t());
      case dtype::uint32:
        return wide(std::uint32_t());
      case dtype::int64:
        return wide(std::int64_t());
      case dtype::uint64:
        return wide(std::uint64_t());
      default:
        return detail::astype(parts(std::int8_t()), t);  // of fewer bits: NumPy has none
    }
  });
}

detail::Handle engine::normals(const detail::Handle& mean, const detail::Handle& covariance,
                               const extents& shape, factor how) {
  return detail::named("multivariate_normal", [&] {
    const detail::Span m = detail::shape_of(mean), c = detail::shape_of(covariance);
    require(m.size == 1, "mean must be 1 dimensional");
    require(c.size == 2 && c.data[0] == c.data[1], "cov must be 2 dimensional and square");
    require(m.data[0] == c.data[0], "mean and cov must have same length");
    const array<double> x(draw_standard(law::normal, with_last(shape, m.data[0]), dtype::float64));
    const array<double> given(covariance);
    array<double> root;
    if (how == factor::cholesky) {
      root = linalg::cholesky(given);
    } else if (how == factor::eigh) {
      const auto [values, vectors] = linalg::eigh(given);
      root = vectors * sqrt(abs(values));
    } else {
      const auto [u, s, vh] = linalg::svd(given);
      root = u * sqrt(s);
    }
    return (array<double>(mean) + matmul(x, transpose(root))).handle();
  });
}

detail::Handle engine::counts(std::int64_t n, const detail::Handle& p, const extents& shape) {
  return detail::named("multinomial", [&] {
    stream& s = own();
    const detail::Span given = detail::shape_of(p);
    require(given.size == 1 && given.data[0] > 0,
            "pvals must have 1 dimension, which must be greater than 0.");
    const std::vector<double> probabilities = list<double>(p);
    const auto kinds = static_cast<std::int64_t>(probabilities.size());
    for (const double v : probabilities) check({"pvals", Rule::probability}, v, true);
    require(!(compensated_sum(probabilities.data(), kinds - 1) > 1.0 + 1e-12),
            "sum(pvals[:-1]) > 1.0");
    check({"n", Rule::not_negative}, static_cast<double>(n), false);
    return made<std::int64_t>(with_last(shape, kinds), [&](std::int64_t* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      for (std::int64_t i = 0; i < size; i += kinds)
        numpy::multinomial(s, s.binomial, n, probabilities.data(), kinds, out + i);
    });
  });
}

detail::Handle engine::colors_of(const detail::Handle& colors, std::int64_t sample,
                                 const extents& shape, bool by_counts) {
  return detail::named("multivariate_hypergeometric", [&] {
    require(sample >= 0, "nsample must be nonnegative.");
    const std::vector<std::int64_t> each = list<std::int64_t>(colors);
    bool valid = detail::shape_of(colors).size == 1;
    std::int64_t total = 0;
    bool fits = true;
    for (const std::int64_t v : each) {
      valid &= v >= 0;
      fits &= !__builtin_add_overflow(total, v, &total);
    }
    require(valid,
            "colors must be a one-dimensional sequence of nonnegative integers not "
            "exceeding 9223372036854775807.");
    if (by_counts)
      require(fits,
              "sum(colors) must not exceed the maximum value of a 64 bit signed integer "
              "(9223372036854775807)");
    else
      require(fits && total < 1000000000,
              "When method is \"marginals\", sum(colors) must be less than 1000000000.");
    require(sample <= total, "nsample > sum(colors)");
    const auto kinds = static_cast<std::int64_t>(each.size());
    return made<std::int64_t>(with_last(shape, kinds), [&](std::int64_t* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      numpy::multivariate_hypergeometric(own(), each, sample, by_counts, size / kinds, out);
    });
  });
}

detail::Handle engine::parts(const detail::Handle& alpha, const extents& shape) {
  return detail::named("dirichlet", [&] {
    require(detail::shape_of(alpha).size == 1, "object of too small depth for desired array");
    const std::vector<double> each = list<double>(alpha);
    for (const double v : each) require(!(v < 0), "alpha < 0");
    const auto kinds = static_cast<std::int64_t>(each.size());
    return made<double>(with_last(shape, kinds), [&](double* out, std::int64_t size) {
      std::fill_n(out, size, 0);
      numpy::dirichlet(own(), each, size / kinds, out);
    });
  });
}

detail::Handle engine::drawn_bytes(std::int64_t n) {
  require(n >= 0, "bytes: negative dimensions are not allowed");
  stream& s = own();
  std::uint32_t word = 0;
  return filled<std::uint8_t>(n, [&](std::int64_t i) {
    word = i % 4 == 0 ? s.half() : word >> 8;
    return static_cast<std::uint8_t>(word);
  });
}

namespace {
// In place, with the bits that NumPy's shuffle() takes.
void exchange(Stream& s, std::int64_t* values, std::int64_t n, std::int64_t stride) {
  for (std::int64_t i = n; i-- > 1;)
    std::swap(values[i * stride],
              values[static_cast<std::int64_t>(s.masked(static_cast<std::uint64_t>(i))) * stride]);
}
}  // namespace

detail::Handle engine::permuted_indices(std::int64_t n, dtype t) {
  require(n >= 0, "permutation: negative dimensions are not allowed");
  return as(made<std::int64_t>(n,
                               [&](std::int64_t* out, std::int64_t) {
                                 for (std::int64_t i = 0; i < n; ++i) out[i] = i;
                                 exchange(own(), out, n, 1);
                               }),
            t);
}

detail::Handle engine::permuted_lines(const detail::Handle& a, int axis) {
  const std::int64_t length = detail::extent(a, axis);
  const detail::Span s = detail::shape_of(a);
  const shape_type shape(s.data, s.data + s.size);
  std::int64_t below = 1;
  for (int k = axis < 0 ? axis + s.size : axis; ++k < s.size;)
    below *= shape[static_cast<std::size_t>(k)];
  return made<std::int64_t>(shape, [&](std::int64_t* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = i / below % length;
    for (std::int64_t above = 0; above < n; above += length * below)
      for (std::int64_t line = 0; line < below; ++line)
        exchange(own(), out + above + line, length, below);
  });
}

namespace {

// The index whose share of [0, 1) each number is in.
std::vector<std::int64_t> places(const std::vector<double>& p, const std::vector<double>& numbers) {
  std::vector<double> ends(p.size());
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) ends[i] = sum += p[i];
  for (double& e : ends) e /= sum;
  std::vector<std::int64_t> out;
  for (const double v : numbers)
    out.push_back(std::upper_bound(ends.begin(), ends.end(), v) - ends.begin());
  return out;
}

void check_probabilities(const std::vector<double>& p, int ndim, std::int64_t population) {
  require(ndim == 1, "p must be 1-dimensional");
  require(static_cast<std::int64_t>(p.size()) == population, "a and p must have same size");
  const double sum = compensated_sum(p.data(), population);
  require(!std::isnan(sum), "Probabilities contain NaN");
  for (const double v : p) require(!(v < 0), "Probabilities are not non-negative");
  constexpr double kTolerance = 0x1p-26;  // the root of what doubles resolve
  require(std::fabs(sum - 1) <= kTolerance,
          "Probabilities do not sum to 1. See Notes section of docstring for more information.");
}

}  // namespace

detail::Handle engine::chosen(std::int64_t population, const extents& shape, bool replace,
                              const detail::Handle* p, dtype t) {
  return detail::named("choice", [&] {
    stream& s = own();
    const std::int64_t n = count_of(shape);
    require(population > 0 || n == 0, "a must be a positive integer unless no samples are taken");
    std::vector<double> weights;
    if (p) {
      weights = list<double>(*p);
      check_probabilities(weights, detail::shape_of(*p).size, population);
    }
    const auto numbers = [&](std::int64_t count) {
      std::vector<double> all(static_cast<std::size_t>(count));
      if (count > 0) numpy::fill_uniform(s, all.data(), count);
      return all;
    };
    std::vector<std::int64_t> drawn;
    if (replace) {
      if (!p)
        return as(
            draw_integers(0, std::max<std::int64_t>(population, 1), &shape, false, dtype::int64),
            t);
      drawn = places(weights, numbers(n));
    } else {
      require(n <= population, "Cannot take a larger sample than population when replace is False");
      if (!p) {
        drawn = s.sample(population, n);
      } else {
        require(std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }) >= n,
                "Fewer non-zero entries in p than size");
        // What was drawn cannot be drawn again, in this round or in one of the next.
        while (static_cast<std::int64_t>(drawn.size()) < n) {
          const std::vector<double> round = numbers(n - static_cast<std::int64_t>(drawn.size()));
          for (const std::int64_t i : places(weights, round))
            if (std::find(drawn.begin(), drawn.end(), i) == drawn.end()) drawn.push_back(i);
          for (const std::int64_t i : drawn) weights[static_cast<std::size_t>(i)] = 0;
        }
      }
    }
    return as(filled<std::int64_t>(
                  shape, [&](std::int64_t i) { return drawn[static_cast<std::size_t>(i)]; }),
              t);
  });
}

}  // namespace plait::random
