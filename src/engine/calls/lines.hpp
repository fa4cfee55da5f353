// Lines: the elements of an operand along one axis. Calls that work along an axis run over them.
#pragma once
#include <functional>

#include "call.hpp"
#include "core/buffer.hpp"

namespace plait::engine {

struct Line {
  std::byte* data;
  std::int64_t n, stride;  // in bytes
};

class Lines {
 public:
  Lines(const Operand& o, int axis);
  std::int64_t count() const { return count_; }
  Line operator[](std::int64_t i) const;

 private:
  std::byte* data_;
  std::int64_t count_ = 1, n_, stride_;
  Dims shape_, strides_;  // of the other axes
};

// A piece of work on a team, which may throw; `seconds` is what one thread takes for all of it.
// Between pieces of `unit` iterations at least it looks around for interrupts.
void run_pieces(std::int64_t extent, double seconds, std::int64_t unit,
                const std::function<void(std::int64_t begin, std::int64_t end)>& piece);

// Copies between strided memory and memory without gaps.
void gather_line(const Line& from, std::size_t item, std::byte* to);
void scatter_line(const std::byte* from, std::size_t item, const Line& to);

}  // namespace plait::engine
