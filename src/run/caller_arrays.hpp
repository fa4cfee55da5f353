// The arrays of a call of an exported program, in the caller's memory: checked, read and stored to.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/programs/program.hpp"
#include "plait_run.h"

namespace plait::run {

// Of an array in memory, whose bytes a caller may have claimed.
std::size_t bytes_of(const Dims& shape, DType t);

// Memory of the caller's.
struct Range {
  std::byte* first = nullptr;
  std::size_t bytes = 0;

  bool meets(const Range& r) const {
    return first && r.first && std::less<>()(first, r.first + r.bytes) &&
           std::less<>()(r.first, first + bytes);
  }
  bool aligned(DType t) const {
    const std::size_t item = itemsize(t) / (is_complex(t) ? 2 : 1);
    return reinterpret_cast<std::uintptr_t>(first) % item == 0;
  }
};

// An argument of a call.
class Argument {
 public:
  // Throws ValueError and DTypeError where the array does not fit.
  Argument(const plait_array& a, const engine::ProgramArgument& of, bool written);

  const Dims& shape() const { return shape_; }
  const Range& memory() const { return range_; }
  // Its elements in C order, aligned.
  engine::NodeMemory readable() const;
  void store(std::byte* from) const { transfer(from, false); }

 private:
  // Copies the elements between here and memory in C order.
  void transfer(std::byte* memory, bool out) const;
  // Whether two elements may share memory: each axis has to step over what those of shorter steps
  // span.
  bool lies_over_itself() const;

  const DType type_;
  const std::string& name_;
  Dims shape_, strides_;
  std::byte* first_ = nullptr;
  Range range_;
  bool dense_ = true;  // in C order
};

// A call's arrays in the caller's memory.
class Places {
 public:
  // Throws ValueError where arguments share memory that may not.
  Places(const engine::Program& program, const std::vector<Argument>& arguments);

  // The next result is wanted in r; with no memory, anywhere. What the program may store there
  // before it has read all: nothing, where that is an argument's or not aligned.
  engine::NodeMemory place(const Range& r);
  const Range& result(std::size_t i) const { return results_[i]; }

 private:
  const engine::Program& program_;
  const std::vector<Argument>& arguments_;
  std::vector<Range> results_;
};

}  // namespace plait::run
