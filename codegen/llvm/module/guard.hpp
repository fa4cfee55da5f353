// LLVM ends the process where an allocation fails or where it cannot go on, and it has no way back:
// its objects are in no state to be destroyed then. Inside a guard both come back to the caller
// instead, without unwinding; what was held in between is lost.
#pragma once
#include <cstddef>

namespace plait::jit {

enum class Ending {
  Whole,
  NotBegun,     // the memory that it may need is not there
  OutOfMemory,  // in the middle; locks may be held, so LLVM must not be entered again
  GaveUp,       // LLVM says why in *reason, which is valid until the next call
};

// Calls f(context) with `reserve` bytes of address space held for the moment that an allocation
// fails. One call at a time; exceptions of f pass. Tests: the allocation number `fail_at` fails
// whatever there is, if it is not 0.
Ending guarded(void (*f)(void* context), void* context, std::size_t reserve, const char** reason,
               int fail_at = 0);

}  // namespace plait::jit
