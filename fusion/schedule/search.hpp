// One way through the offers of the rules. The first candidate has as little in memory as the graph
// itself asks for; rules then offer changes, and each is taken if it costs less. Where there was a
// choice the other way stays to be explained; where the figures are close the offer stays open, and
// another search, which takes it the other way, may end in a better plan (beam.hpp).
#pragma once
#include <vector>

#include "rule.hpp"

namespace plait::fusion {

// An offer that is taken or not, whatever its figures.
struct Decision {
  Edit offered;  // the first of its edits
  bool take;
  double stake = 0;  // seconds that the dearer way costs
};

class Search final : public Offers {
 public:
  explicit Search(const Problem& p, Rules rules = all_rules(), std::vector<Decision> decided = {});

  const Candidate& candidate() const { return *best_; }
  Candidate& candidate() { return *best_; }
  // Of the candidate, once no rule has a better one.
  std::vector<Step> regions();
  // Choices by cost, those that were rejected and those that were taken.
  const std::vector<Choice>& considered() const { return considered_; }

  const std::vector<Decision>& decided() const { return decided_; }
  // Offers whose figures are close, each the other way.
  const std::vector<Decision>& open() const { return open_; }

  bool make(const Offer& o) override;

 private:
  void start();
  void leave_open(const Offer& o, bool taken);

  const Problem& problem_;
  const Rules rules_;
  std::optional<Candidate> best_;
  std::set<std::int32_t> parted_;
  const std::vector<Decision> decided_;
  std::vector<Decision> open_;
  bool changed_ = false;
  std::vector<Choice> considered_;
};

}  // namespace plait::fusion
