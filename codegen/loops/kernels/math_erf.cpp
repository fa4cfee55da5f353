// erf and erfc: libm's, an element at a time.
#include <cmath>

#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <double (*scalar)(double)>
struct EachLane {
  static PLAIT_INLINE vd f(vd x) {
    for (int i = 0; i < kLanes; ++i) x[i] = scalar(x[i]);
    return x;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) { return EachLane::f(x); }
  };
};
double erf(double x) { return std::erf(x); }
double erfc(double x) { return std::erfc(x); }

}  // namespace

Found error_function(OpId op, DType t) {
  switch (op) {
    case OpId::Erf:
      return unary_math<EachLane<erf>>(t);
    case OpId::Erfc:
      return unary_math<EachLane<erfc>>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
