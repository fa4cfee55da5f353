// float16 as stored. Rounding is to nearest even, from double in one step.
#ifndef PLAIT_EMULATED
PLAIT_INLINE float half_to_float(uint16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
PLAIT_INLINE uint16 to_half(float f) {
  uint16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
PLAIT_INLINE uint16 to_half(double d) {
  uint16 h;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(d));
  return h;
}
#endif
PLAIT_INLINE float widen(float16 h) { return half_to_float(h.bits); }
PLAIT_INLINE float16 narrow(float f) { return {to_half(f)}; }
PLAIT_INLINE float16 narrow(double d) { return {to_half(d)}; }
PLAIT_INLINE float16 operator+(float16 a, float16 b) { return narrow(widen(a) + widen(b)); }

namespace np {

// The neighbours of a float16 are not those of the float.
PLAIT_INLINE bool isnan(float16 h) { return (h.bits & 0x7fff) > 0x7c00; }
PLAIT_INLINE float16 neighbour(float16 h, bool up) {
  if ((h.bits & 0x7fff) == 0) return {uint16(up ? 0x0001 : 0x8001)};
  return {uint16(up == ((h.bits & 0x8000) == 0) ? h.bits + 1 : h.bits - 1)};
}
PLAIT_INLINE float16 nextafter(float16 a, float16 b) {
  if (isnan(a)) return a;
  if (isnan(b)) return b;
  const float x = widen(a), y = widen(b);
  return x == y ? a : neighbour(a, y > x);
}
// The distance to the next number above, whatever the sign: so does NumPy for this dtype.
PLAIT_INLINE float16 spacing(float16 a) {
  if ((a.bits & 0x7c00) == 0x7c00) return {0x7e00};
  if (a.bits == 0x7bff) return {0x7c00};
  return narrow(widen(neighbour(a, true)) - widen(a));
}

}  // namespace np
