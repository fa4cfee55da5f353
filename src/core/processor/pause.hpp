// What a thread does in a loop that waits for another one.
#pragma once
#if defined(__x86_64__)
#include "x86_64/pause.hpp"
#elif defined(__aarch64__)
#include "aarch64/pause.hpp"
#else
#error "no processor/pause.hpp for this processor: docs/platforms.md says what one needs"
#endif
