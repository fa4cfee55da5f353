// Functions that sequential kernels call: of the C library those whose bits Python's `math` gives
// (it has a hypot and gamma of its own), and of core/heap.hpp and
// core/key_table.hpp what has effects.
#pragma once
#include <span>
#include <string_view>

#include "core/dtype.hpp"

namespace plait::ir {

struct ExternalFunction {
  std::string_view name;
  int arity;
  DType operands[3], result;
  // Every call happens, in the place where it is written. One without effects is what its operands
  // make it, and reads and writes no memory.
  bool has_effects;
  const void* address;
  // Calls it as a function of these types: where its operands lie, and where the result goes.
  void (*call)(const void* address, const void* const* operands, void* result);
};

// A kernel and its code on disk have a function's number: new ones come last, and where a number
// gets another meaning, serialize.cpp's digit rises.
std::span<const ExternalFunction> externals();
// Its number, or -1.
int external(std::string_view name);

}  // namespace plait::ir
