// A block of threads that takes an iteration together, because it multiplies fragments, runs a
// sequence of phases: loops that its threads share, products, and what all of them do alike. They
// wait for each other between two phases where one writes what the other touches.
#pragma once
#include <vector>

#include "mapping.hpp"

namespace plait::mapping {

// What instructions read and write that threads of a block share: each local; each buffer that the
// kernel reads and writes; the memory that partial folds are exchanged in.
struct Touched {
  std::vector<bool> reads, writes;
  Touched& operator+=(const Touched& o);
  bool conflicts(const Touched& o) const;
};
Touched touched(const ir::Kernel& k, const NestFacts& n, Val v);  // by an instruction and all in it
Touched touched(const ir::Kernel& k, const NestFacts& n, std::int32_t loop);  // by a loop's body

// Where barriers have to be, asked in the order of the program.
class Phases {
 public:
  // Whether a barrier has to stand before what touches that.
  bool follow(const Touched& next);
  // A loop's body starts: what is there may follow anything in it.
  void enter(const Touched& body) { since_ += body; }
  // It has ended, or has never been run since it was as before.
  const Touched& since() const { return since_; }
  void leave(const Touched& before) { since_ += before; }

 private:
  Touched since_;  // the last barrier
};

}  // namespace plait::mapping
