// The registers that a tier computes in: their bytes, and how many there are to compute in at a
// time.
#pragma once
#if defined(__x86_64__)
#include "x86_64/width.hpp"
#elif defined(__aarch64__)
#include "aarch64/width.hpp"
#endif
