// Marks the definition of a function in whose place libplait_run, which runs exported programs, has
// another: src/run/parts.cpp.
#pragma once

#define PLAIT_REPLACEABLE __attribute__((weak))
