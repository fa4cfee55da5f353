// What an evaluation throws when its user has asked for an end (Ctrl-C, a cancel_token).
#pragma once
#include "plait/error.hpp"

namespace plait::tracer {

struct Interrupted : Cancelled {
  using Cancelled::Cancelled;
};

}  // namespace plait::tracer
