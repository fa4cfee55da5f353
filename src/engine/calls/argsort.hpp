// Stable argsort by sorting words: the upper bits of a word are of the element's key, the lower
// ones its index, so equal keys stay in order. Where key and index do not fit, keys are taken
// relative to the least one, and shortened; what is equal then is sorted again by what was left
// out.
#pragma once
#include <memory>

#include "lines.hpp"

namespace plait::engine {

class ArgsortLine {
 public:
  // Throws std::bad_alloc; reserves what lines of n elements need.
  ArgsortLine(DType t, std::int64_t n);
  ~ArgsortLine();
  // The order of the line's elements to `out`: n indices. Long lines are sorted by the team.
  void run(const Line& line, std::int64_t* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plait::engine
