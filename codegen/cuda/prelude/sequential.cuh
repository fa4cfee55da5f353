// What programs of Python's loops need: a thread runs an iteration by itself.
namespace np {

// Whether the exact result has more than 64 bits.
PLAIT_INLINE bool add_overflows(int64 a, int64 b) {
  const int64 r = add(a, b);
  return ((a ^ r) & (b ^ r)) < 0;
}
PLAIT_INLINE bool subtract_overflows(int64 a, int64 b) {
  const int64 r = subtract(a, b);
  return ((a ^ b) & (a ^ r)) < 0;
}
PLAIT_INLINE bool multiply_overflows(int64 a, int64 b) {
  return __mul64hi(a, b) != multiply(a, b) >> 63;
}

}  // namespace np

PLAIT_INLINE int64 float_bits(double x) { return int64(to_bits(x)); }
PLAIT_INLINE double bits_float(int64 x) { return from_bits(uint64(x)); }

// Of an iteration that fails: the least one stays.
PLAIT_INLINE void note_failure(char* least, int64 iteration) {
  atomicMin(reinterpret_cast<unsigned long long*>(least), uint64(iteration));
}
