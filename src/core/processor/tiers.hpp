// The levels of processors that precompiled loops and JIT kernels are built for, lowest first, and
// what each has. kConvertsToSmallest: whether the conversion of a float that a signed integer does
// not hold gives the smallest integer by itself.
#pragma once
#if defined(__x86_64__)
#include "x86_64/tiers.hpp"
#elif defined(__aarch64__)
#include "aarch64/tiers.hpp"
#else
#error "no processor/tiers.hpp for this processor: docs/platforms.md says what one needs"
#endif
