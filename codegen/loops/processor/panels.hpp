// Products of bytes and of bfloat16 by instructions of their own; null where there are none.
#pragma once
#include "codegen/loops/panels_of_groups.hpp"
#if defined(__x86_64__)
#include "x86_64/panels.hpp"
#else
#include "no_panels.hpp"
#endif
