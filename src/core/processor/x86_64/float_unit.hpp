#pragma once
#include <xmmintrin.h>

namespace plait {

// All loops compute in vector registers: MXCSR alone is read and written. fenv would take the state
// of the x87 unit too, which costs ten times more.
inline constexpr unsigned kInvalid = 0x01, kDivide = 0x04, kOver = 0x08, kUnder = 0x10;

// Those of the four above, and any others that are kept beside them.
PLAIT_FLOAT_UNIT unsigned float_exceptions() { return _mm_getcsr() & 0x3fU; }
PLAIT_FLOAT_UNIT void set_float_exceptions(unsigned e) { _mm_setcsr((_mm_getcsr() & ~0x3fU) | e); }

PLAIT_FLOAT_UNIT unsigned float_control() { return _mm_getcsr() & ~0x3fU; }
PLAIT_FLOAT_UNIT void set_float_control(unsigned control) {
  if (float_control() != control) _mm_setcsr(control);
}

}  // namespace plait
