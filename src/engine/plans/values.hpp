// What becomes of the values that steps store. Those that somebody can ask for go to the recorded
// graph; the rest is the run's own, goes when it was read last, and is computed anew if the run
// does not come to its end. Once a step has written over memory that the run was given, that is no
// longer possible: from then on what steps to come read is secured in the recorded graph.
#pragma once
#include <span>
#include <vector>

#include "recording.hpp"

namespace plait::engine {

class Values {
 public:
  Values(Bindings& b, Recording& r) : bindings_(b), recording_(r) {}

  // After a step: which of its values stay, and whose memory they took over.
  void stored(std::span<const Root> roots, fusion::UpdateMode update);
  // Nobody reads them any more.
  void drop(std::span<const std::int32_t> nodes);
  // Nothing is half done. Everything in memory that the steps to come read can be had again if one
  // of them ends early.
  void secure();

 private:
  Slot& slot(std::int32_t node) { return bindings_.slots[static_cast<std::size_t>(node)]; }

  Bindings& bindings_;
  Recording& recording_;
  bool overwritten_ = false;        // memory that the run was given
  std::vector<const Root*> own_;    // values of the run, if they are still alive
  std::vector<std::int32_t> dead_;  // secured ones
  std::size_t dead_bytes_ = 0;
};

}  // namespace plait::engine
