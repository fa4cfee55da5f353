// Conversions between float16 and float32 by instructions, so many elements at once; 0: none.
#pragma once
#if defined(__x86_64__)
#include "x86_64/halves.hpp"
#elif defined(__aarch64__)
#include "aarch64/halves.hpp"
#endif
