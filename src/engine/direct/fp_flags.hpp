// The floating-point exceptions of an operation, reported as NumPy does.
#pragma once
#include <cfenv>

#include "tracer/context.hpp"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace plait::engine {

#if defined(__SSE2__)
// All loops compute in vector registers: MXCSR alone is read, fenv's x87 state costs ten times
// more.
inline constexpr unsigned kFlags = 0x1d;  // invalid, divide by zero, overflow, underflow
inline void clear_flags() {
  const unsigned csr = _mm_getcsr();
  if (csr & kFlags) _mm_setcsr(csr & ~kFlags);
}
inline unsigned raised_flags() { return _mm_getcsr() & kFlags; }
inline void raise_flags(unsigned flags) {  // as if what raises them had run on this thread
  if (flags & ~_mm_getcsr()) _mm_setcsr(_mm_getcsr() | flags);
}
inline constexpr unsigned kInvalid = 0x01, kDivide = 0x04, kOver = 0x08, kUnder = 0x10;
#else
inline constexpr unsigned kInvalid = FE_INVALID, kDivide = FE_DIVBYZERO, kOver = FE_OVERFLOW,
                          kUnder = FE_UNDERFLOW;
inline void clear_flags() { std::feclearexcept(FE_ALL_EXCEPT); }
inline unsigned raised_flags() {
  return static_cast<unsigned>(
      std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW));
}
inline void raise_flags(unsigned flags) {
  if (flags) std::feraiseexcept(static_cast<int>(flags));
}
#endif

// In the order in which NumPy looks at them.
inline void report_flags(unsigned flags, std::string_view own_name, const tracer::Node& n) {
  if (!flags) return;
  const std::string_view op_name = tracer::warning_name(own_name, n);
  if (op_name.empty()) return;
  if (flags & kDivide) tracer::report_fp(tracer::FpEvent::Divide, op_name, n);
  if (flags & kOver) tracer::report_fp(tracer::FpEvent::Over, op_name, n);
  if (flags & kUnder) tracer::report_fp(tracer::FpEvent::Under, op_name, n);
  if (flags & kInvalid) tracer::report_fp(tracer::FpEvent::Invalid, op_name, n);
}

}  // namespace plait::engine
