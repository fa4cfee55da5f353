// The floating-point exceptions of an operation, reported as NumPy does.
#pragma once
#include "core/processor/float_unit.hpp"
#include "tracer/context.hpp"

namespace plait::engine {

inline constexpr unsigned kFlags = kInvalid | kDivide | kOver | kUnder;
inline void clear_flags() {
  const unsigned now = float_exceptions();
  if (now & kFlags) set_float_exceptions(now & ~kFlags);
}
inline unsigned raised_flags() { return float_exceptions() & kFlags; }
inline void raise_flags(unsigned flags) {  // as if what raises them had run on this thread
  const unsigned now = float_exceptions();
  if (flags & ~now) set_float_exceptions(now | flags);
}

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
