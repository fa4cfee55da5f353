// The distributions that random::engine draws numbers of: their parameters, what these may be, and
// how a number is drawn.
#pragma once
#include <cstdint>

#include "numpy_compat/distributions.hpp"

namespace plait::random {

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

extern const Law kLaws[];  // in the order of engine::law

// Throws ValueError, in NumPy's words, where the parameter may not be `v`.
void check(const Parameter& p, double v, bool in_array);
void require(bool possible, const char* problem);

}  // namespace plait::random
