// A function that was exported: plans with machine code, and what a call has to fill in. It runs
// without what recorded, planned and compiled it. Files of programs: program_file.hpp.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/jit.hpp"
#include "engine/plans/bindings.hpp"
#include "engine/plans/call_cache.hpp"
#include "fusion/plan.hpp"

namespace plait::engine {

using Extents = std::vector<std::int64_t>;

// A number that follows from extents which differ from call to call: by Newton's formula, over a
// grid of the values that it had at extents one after the other. An extent's points are 1 to 3, so
// that it counts to the second power at most. The first extent changes slowest.
struct Number {
  std::vector<std::int64_t> differences;  // one: a constant
  std::int64_t at(std::span<const std::int64_t> from_base,
                  std::span<const std::int32_t> points) const;
};

// A scalar of the recording: as it was, a number, or something divided by one.
struct NumberScalar {
  enum class Kind : std::uint8_t { Constant, Number, Quotient } kind;
  DType dtype;
  Scalar value;  // Constant; Quotient: of what, Float64
  Number number;
};

// Of code for several processors, each step's.
struct ProgramKernel {
  std::string ir;
  std::vector<std::string> code;  // of each target
};

// What a call does whose extents are between bounds.
struct Variant {
  struct Bound {
    std::int64_t least, most;
  };
  std::vector<Bound> bounds;
  std::vector<std::int64_t> base;     // of each extent: the first point of the grid
  std::vector<std::int32_t> points;   // and how many
  std::vector<Number> numbers;        // of the plan's sources and of its answers', in their order
  std::vector<NumberScalar> scalars;  // that the steps name, one after the other
  struct Leaf {
    std::int32_t node;
    enum class Kind : std::uint8_t { Argument, Constant, Unwritten } kind;
    std::int32_t number;  // of the argument, or the constant
    DType dtype;          // Unwritten
    std::vector<Number> shape;
    bool exclusive;
  };
  std::vector<Leaf> leaves;
  std::int32_t nodes = 0;
  struct Result {
    std::int32_t node;  // -1: it has no elements
    std::vector<Number> shape;
  };
  std::vector<Result> results;       // the program's, then those of the demands, and what it writes
  std::vector<std::string> demands;  // IndexErrors, where the Bool that stands for one is false
  std::vector<std::int32_t> kernels;  // of each step; -1: an operation
  fusion::Plan plan;
};

struct ProgramArgument {
  std::string name;
  DType dtype;
  Extents shape;
  std::vector<std::int32_t> dynamic;  // of each axis: the number of the extent, or -1
};

struct ProgramData {
  std::string manifest;  // JSON, for people and other languages
  std::vector<std::string> targets;
  std::vector<std::string> extents;  // names
  std::vector<ProgramArgument> arguments;
  struct Result {
    DType dtype;
    std::int32_t ndim;
  };
  std::vector<Result> results;
  std::vector<std::int32_t> writes;    // arguments that it stores to
  std::vector<std::string> constants;  // bytes
  std::vector<ProgramKernel> kernels;
  std::vector<Variant> variants;
};

class Program {
 public:
  // For this processor. Throws ValueError where it has none of the targets, or an operation that
  // this library does not have.
  explicit Program(ProgramData data);

  const ProgramData& data() const { return data_; }

  // The extents by name that these shapes stand for. Throws ValueError where one is not what the
  // program was exported for.
  Extents extents_of(std::span<const Dims> shapes) const;

  // Extents of a result's; -1: it differs from call to call.
  Extents result_extents(std::size_t result) const;

  // What is recorded holds for arguments of which none shares memory with one that is written:
  // throws ValueError where `meet` says so of two.
  void check_apart(const std::function<bool(std::size_t, std::size_t)>& meet) const;

  struct Value {
    NodeMemory memory;  // C-contiguous
    Dims shape;
  };
  std::vector<Dims> result_shapes(const Extents& extents);
  // Also gives what it writes to arguments, behind the results: the caller stores it there.
  // `arguments`: C-contiguous, aligned. `into`: memory apart from theirs that results are wanted
  // in, one each, or empty; a result is there or elsewhere. The recorder's lock is held. Throws
  // ValueError where no variant is for these extents, IndexError, std::bad_alloc, Interrupted.
  std::vector<Value> run(std::span<const NodeMemory> arguments, const Extents& extents,
                         std::span<const NodeMemory> into = {});

 private:
  class Taken;
  struct Ready {
    Extents extents;
    const Variant* variant;
    std::vector<Dims> results;
    RunInputs given;
    std::unique_ptr<Bindings> bindings;
  };
  std::unique_ptr<Ready> ready(const Extents& extents);
  std::unique_ptr<Ready> prepared(const Extents& extents);

  ProgramData data_;
  std::vector<NodeMemory> constants_;
  CallCache<std::unique_ptr<Ready>, 4> idle_;  // of calls that have ended
};

// What the processor runs, and the names of tiers in files.
std::string target_name(CpuTier tier);

}  // namespace plait::engine
