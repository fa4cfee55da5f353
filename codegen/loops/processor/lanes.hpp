// The first lanes of a register. What fma() makes of the others is not stored, and raises no flag
// that they do not: they are left out, or repeat the first lane.
#pragma once
#if defined(__x86_64__)
#include "x86_64/lanes.hpp"
#elif defined(__aarch64__)
#include "aarch64/lanes.hpp"
#endif
