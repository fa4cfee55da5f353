// Which candidate becomes the plan. The first is the greedy one: as little in memory as the graph
// itself asks for. Rules then offer changes; each is taken if it costs less, and where there was a
// choice the other way stays to be explained.
#pragma once
#include <vector>

#include "rule.hpp"

namespace plait::fusion {

class Search final : public Offers {
 public:
  explicit Search(const Problem& p, Rules rules = all_rules());

  const Candidate& candidate() const { return *best_; }
  Candidate& candidate() { return *best_; }
  // Of the candidate, once no rule has a better one.
  std::vector<Step> regions();
  // Choices by cost, those that were rejected and those that were taken.
  const std::vector<Choice>& considered() const { return considered_; }

  bool make(const Offer& o) override;

 private:
  void start();

  const Problem& problem_;
  const Rules rules_;
  std::optional<Candidate> best_;
  std::set<std::int32_t> parted_;
  bool changed_ = false;
  std::vector<Choice> considered_;
};

}  // namespace plait::fusion
