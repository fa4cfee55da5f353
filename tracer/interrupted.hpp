// What an evaluation throws when its user has asked for an end (Ctrl-C).
#pragma once
#include "plait/error.hpp"

namespace plait::tracer {

struct Interrupted : Error {
  using Error::Error;
};

}  // namespace plait::tracer
