// Scalars that the dtype they are converted to cannot hold: NumPy's casts report them, before
// anything is computed.
#include <cmath>
#include <complex>

#include "graph.hpp"

namespace plait::tracer {

namespace {

double smallest_normal(DType t) { return t == DType::Float16 ? 0x1p-14 : 0x1p-126; }

// A finite number that became infinite; a number whose last bits were lost among the subnormals.
bool overflows(double from, double to) { return std::isinf(to) && !std::isinf(from); }
bool underflows(double from, double to, DType t) {
  return std::abs(to) < smallest_normal(t) && to != from;
}

}  // namespace

void report_narrowing(const Scalar& s, Weak weak, DType to) {
  const auto from = cast(s, DType::Complex128).as<std::complex<double>>();
  const auto made = cast(cast(s, to), DType::Complex128).as<std::complex<double>>();
  const double imag = is_complex(to) ? from.imag() : 0;
  if (overflows(from.real(), made.real()) || overflows(imag, made.imag()))
    report_fp(FpEvent::Over, "cast");
  if (weak == Weak::None &&
      (underflows(from.real(), made.real(), to) || underflows(imag, made.imag(), to)))
    report_fp(FpEvent::Under, "cast");
}

Scalar reported_cast(const Operand& scalar, DType to) {
  report_cast(scalar.scalar, scalar.weak, to);
  return cast(scalar.scalar, to);
}

}  // namespace plait::tracer
