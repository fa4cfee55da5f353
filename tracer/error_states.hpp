// Which state of floating-point errors an operation is recorded under.
#pragma once
#include "context.hpp"

namespace plait::tracer {

// A state that is in the context's table; what is asked of it at every operation.
struct KnownErrorState {
  ErrorState state;
  std::uint8_t index = 0;
  bool surfaces = false;  // raises or calls
  bool heard = true;      // not everything is ignored
};
KnownErrorState known_error_state(const ErrorState& s);
// For what this thread records from now on.
void record_under(const KnownErrorState& s);
const KnownErrorState& recorded_under();
// Whether warnings are being caught, which concerns all threads: where a state is heard, operations
// are evaluated before they return. What it was.
bool set_warnings_caught(bool on);

}  // namespace plait::tracer
