// What a generated program takes from CUDA, for running it on the CPU one thread after the other:
// programs have no barriers and share no memory.
#pragma once
#include <cmath>
#include <cstring>

#define PLAIT_EMULATED
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(n)

struct Dim {
  unsigned x;
};
inline Dim gridDim, blockDim, blockIdx, threadIdx;

template <class To, class From>
To same_bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
inline float __uint_as_float(unsigned v) { return same_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return same_bits<unsigned>(v); }
inline double __longlong_as_double(long long v) { return same_bits<double>(v); }
inline long long __double_as_longlong(double v) { return same_bits<long long>(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline float half_to_float(unsigned short h) { return same_bits<_Float16>(h); }
template <class T>
unsigned short to_half(T v) {
  return same_bits<unsigned short>(static_cast<_Float16>(v));
}

// Runs every thread of a launch; threads of a grid in reverse too, as no order is promised.
template <class Arguments>
void launch(void (*kernel)(Arguments), const void* arguments, unsigned grid, unsigned block,
            bool reversed) {
  Arguments a;
  std::memcpy(&a, arguments, sizeof a);
  gridDim.x = grid;
  blockDim.x = block;
  for (unsigned n = 0; n < grid * block; ++n) {
    const unsigned thread = reversed ? grid * block - 1 - n : n;
    blockIdx.x = thread / block;
    threadIdx.x = thread % block;
    kernel(a);
  }
}
