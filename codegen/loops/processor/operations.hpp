// What GCC's vector types have no operators for, on the types of vector.hpp.
#pragma once
#if defined(__x86_64__)
#include "x86_64/operations.hpp"
#elif defined(__aarch64__)
#include "aarch64/operations.hpp"
#endif
