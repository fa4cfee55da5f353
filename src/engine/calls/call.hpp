// What computes the rows of the table of calls: a function each, over strided operands in memory.
// It knows nothing of graphs and arrays.
#pragma once
#include <cstddef>
#include <span>

#include "core/call_table.hpp"

namespace plait::engine {

// A value in memory of the host, its element (0, 0, ...) at `data`; strides are in bytes, may be 0
// or negative in inputs, and need not be multiples of the element there.
struct Operand {
  std::byte* data = nullptr;
  DType dtype = DType::Float64;
  Dims shape, strides;
  std::uint64_t contents = 0;  // a number that stands for them: see packed_operands.hpp
};

// One run of a call. The results' memory is there, overlaps nothing, and holds anything; results of
// several are C-contiguous, a single one is laid out as its recorder chose. No operand is empty
// unless all results are.
struct CallRun {
  std::span<const Operand> inputs;
  std::span<const Operand> results;
  const CallAttributes& attributes;
};

// Throws plait errors, std::bad_alloc and Interrupted (see look_around() in interruption.hpp), and
// may use the team. The recorder's lock is free where the work is long.
using CallFn = void (*)(const CallRun&);

#define PLAIT_CALL(id, name, fewest, most, results, rule, run, ns, flags) void run(const CallRun&);
#include "core/calls.def"
#undef PLAIT_CALL

CallFn call_function(CallId id);

}  // namespace plait::engine
