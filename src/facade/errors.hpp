// Errors as a C++ program meets them: with the name of the function in front, and without Python's
// words.
#pragma once

namespace plait::detail {

// Throws the error that is being handled again, as one of the same type.
[[noreturn]] void rethrow_of(const char* function);

// f(), whose errors are the function's.
template <class F>
decltype(auto) named(const char* function, F&& f) {
  try {
    return f();
  } catch (...) {
    rethrow_of(function);
  }
}

}  // namespace plait::detail
