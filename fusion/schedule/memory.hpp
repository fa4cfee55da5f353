// What is in memory, and in whose, between the steps of a plan.
#pragma once
#include <span>
#include <vector>

#include "../plan.hpp"

namespace plait::fusion {

class Memory {
 public:
  Memory(const PlanGraph& g, const std::vector<std::int32_t>& canon);

  // To before the first step of a plan that stores these; past the next step.
  void restart(const std::vector<bool>& roots);
  void after(const Step& s);

  const std::vector<bool>& loadable() const { return loadable_; }
  // The first node whose memory a node has. Chains of updates in place share that of their first
  // version; one that writes to fresh memory leaves the version before it as it is.
  std::span<const std::int32_t> owners() const { return owners_; }
  bool same(std::int32_t a, std::int32_t b) const { return owners_[a] == owners_[b]; }
  // Whether everything that reads the old contents goes into the value of this very update, or is
  // in memory by then; what somebody computes from them after the run, too.
  bool may_take_over(std::int32_t update, std::int32_t old);

 private:
  bool asked_for_later(const std::vector<std::int32_t>& computed);
  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  std::vector<std::vector<std::int32_t>> readers_;  // of each node
  std::vector<std::int32_t> own_, owners_;          // at first, and now
  std::vector<bool> loadable_, roots_;
  std::vector<int> seen_;  // in which walk
  int walk_ = 0;
};

}  // namespace plait::fusion
