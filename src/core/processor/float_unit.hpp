// The state of a thread's floating-point unit: exceptions raised so far, and control, which is
// rounding and the treatment of subnormal numbers.
#pragma once
// Kernels of every tier call these, and of functions that are not inlined the linker keeps one
// tier's for all.
#define PLAIT_FLOAT_UNIT inline __attribute__((always_inline))
#if defined(__x86_64__)
#include "x86_64/float_unit.hpp"
#elif defined(__aarch64__)
#include "aarch64/float_unit.hpp"
#else
#error "no processor/float_unit.hpp for this processor: docs/platforms.md says what one needs"
#endif

namespace plait {

// The exceptions raised so far, found again at the end: for comparisons, which NumPy has quiet, by
// whichever instruction is fastest.
class QuietFlags {
 public:
  PLAIT_FLOAT_UNIT QuietFlags() : saved_(float_exceptions()) {}
  PLAIT_FLOAT_UNIT ~QuietFlags() {
    if (float_exceptions() != saved_) set_float_exceptions(saved_);
  }
  QuietFlags(const QuietFlags&) = delete;
  QuietFlags& operator=(const QuietFlags&) = delete;

 private:
  unsigned saved_;
};

}  // namespace plait
