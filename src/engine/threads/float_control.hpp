// Rounding and the treatment of subnormal numbers, which are a thread's own:
// helpers take those of the caller of a loop.
#pragma once
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace plait::engine {

#if defined(__SSE2__)
inline unsigned float_control() { return _mm_getcsr() & ~0x3fU; }
inline void set_float_control(unsigned control) {
  if (float_control() != control) _mm_setcsr(control);
}
#else
inline unsigned float_control() { return 0; }
inline void set_float_control(unsigned) {}
#endif

// What a thread of the application finds again after it has computed for a
// loop: control and the exceptions raised so far.
class FloatStateKept {
 public:
  FloatStateKept() = default;
  FloatStateKept(const FloatStateKept&) = delete;
  FloatStateKept& operator=(const FloatStateKept&) = delete;
#if defined(__SSE2__)
  ~FloatStateKept() { _mm_setcsr(before_); }

 private:
  const unsigned before_ = _mm_getcsr();
#endif
};

}  // namespace plait::engine
