#include "random_laws.hpp"

#include <cmath>
#include <string>

#include "plait/error.hpp"

namespace plait::random {

namespace {

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

}  // namespace

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

}  // namespace plait::random
