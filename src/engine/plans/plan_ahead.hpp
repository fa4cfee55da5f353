// Plans made in the background for graphs that have come by before, so that the next one like them
// finds its plan.
#pragma once
#include <atomic>
#include <memory>

#include "fusion/graph/graph.hpp"

namespace plait::engine {

// A plan that was asked for; empty: none was.
class PlanAhead {
 public:
  PlanAhead() = default;
  explicit PlanAhead(std::shared_ptr<const std::atomic<bool>> done) : done_(std::move(done)) {}
  explicit operator bool() const { return done_ != nullptr; }
  bool on_its_way() const { return done_ && !*done_; }  // else it was made, or there will be none

 private:
  std::shared_ptr<const std::atomic<bool>> done_;
};

// Plans a graph like this one in a thread of low priority, on a copy of what planning reads of it.
// Empty when that cannot be: too many are waiting, or no thread starts. The recorder's lock is
// held.
PlanAhead plan_ahead(const fusion::Graph& g);
void wait_for_plans();  // tests: until nothing waits. The recorder's lock is not held.

}  // namespace plait::engine
