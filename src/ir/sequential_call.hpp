// How a sequential kernel is called where its caller may stop it.
#pragma once
#include "ir.hpp"

namespace plait::ir {

// What CallArgs::stop of a sequential kernel is true for is asked for here first, as such a kernel
// cannot be run again: whether to return.
struct SequentialCall {
  CallArgs args;
  bool (*returns)(SequentialCall&) = [](SequentialCall&) { return true; };
};

}  // namespace plait::ir
