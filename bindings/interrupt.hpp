#pragma once
#include "python.hpp"

namespace plait::py {

void install_interrupt_hook();

// Without the GIL, for what cannot be made again from its beginning: handlers of signals take it
// back for as long as they run, and only one that raises ends what is computed.
class GilParked {
 public:
  GilParked();
  ~GilParked();
  GilParked(const GilParked&) = delete;
  GilParked& operator=(const GilParked&) = delete;

 private:
  void* state_;
};

}  // namespace plait::py
