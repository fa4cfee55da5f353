// PLAIT_API marks what the shared library exports; everything else in it is hidden.
#pragma once

#if defined(_WIN32)
#define PLAIT_API
#else
#define PLAIT_API __attribute__((visibility("default")))
#endif
