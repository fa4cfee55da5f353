// What the code generators ask of a tier.
#pragma once
#include <array>
#include <cstddef>

namespace plait {

struct TierInfo {
  const char* name;    // in settings
  const char* target;  // in exported programs
  int vector_bytes;    // of a register
  bool fused;          // multiply-add in vectors
  bool converts_half;  // between float16 and float32
  int masked_bytes;  // elements of this size and wider can be loaded and stored by a mask; 0: none
  // OpenBLAS's name of the cores whose kernels it is to take, where it errs, and of those whose
  // kernels run on every processor of the tier.
  const char *blas, *oldest_blas;
};

}  // namespace plait
