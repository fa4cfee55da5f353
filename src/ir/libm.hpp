// Functions of the C library that sequential kernels call: those whose bits Python's `math` gives
// (it has a hypot and gamma of its own).
#pragma once
#include <cmath>
#include <string_view>

namespace plait::ir {

struct LibmFunction {
  std::string_view name;
  int arity;
  double (*unary)(double);
  double (*binary)(double, double);
  const void* address() const {
    return arity == 1 ? reinterpret_cast<const void*>(unary)
                      : reinterpret_cast<const void*>(binary);
  }
};

inline const LibmFunction kLibm[] = {
    {"sin", 1, ::sin, nullptr},     {"cos", 1, ::cos, nullptr},     {"tan", 1, ::tan, nullptr},
    {"asin", 1, ::asin, nullptr},   {"acos", 1, ::acos, nullptr},   {"atan", 1, ::atan, nullptr},
    {"sinh", 1, ::sinh, nullptr},   {"cosh", 1, ::cosh, nullptr},   {"tanh", 1, ::tanh, nullptr},
    {"asinh", 1, ::asinh, nullptr}, {"acosh", 1, ::acosh, nullptr}, {"atanh", 1, ::atanh, nullptr},
    {"exp", 1, ::exp, nullptr},     {"expm1", 1, ::expm1, nullptr}, {"log", 1, ::log, nullptr},
    {"log1p", 1, ::log1p, nullptr}, {"log2", 1, ::log2, nullptr},   {"log10", 1, ::log10, nullptr},
    {"exp2", 1, ::exp2, nullptr},   {"cbrt", 1, ::cbrt, nullptr},   {"erf", 1, ::erf, nullptr},
    {"erfc", 1, ::erfc, nullptr},   {"pow", 2, nullptr, ::pow},     {"atan2", 2, nullptr, ::atan2},
    {"fmod", 2, nullptr, ::fmod},   {"hypot", 2, nullptr, ::hypot},
};
inline constexpr int kLibmCount = sizeof kLibm / sizeof kLibm[0];

// Its number, or -1.
inline int libm_function(std::string_view name) {
  for (int n = 0; n < kLibmCount; ++n)
    if (kLibm[n].name == name) return n;
  return -1;
}

}  // namespace plait::ir
