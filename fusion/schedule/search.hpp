// One way through the offers of the rules. The first candidate has as little in memory as the graph
// itself asks for; rules then offer changes, and each is taken if it costs less. Where there was a
// choice the other way stays to be explained; where the figures are close a fork is left: the
// candidate as it was, from which another search goes on with that offer the other way (beam.hpp).
#pragma once
#include <memory>
#include <vector>

#include "rule.hpp"

namespace plait::fusion {

// An offer that is taken or not, whatever its figures.
struct Decision {
  Edit offered;  // the first of its edits
  bool take;
};

// How far a search is: which rule it asks next.
struct Position {
  enum Phase : std::uint8_t { Begin, Visit, Revise, Regions } phase = Begin;
  std::int32_t node = 0;  // Visit
  std::size_t rule = 0;
};

struct Fork {
  std::unique_ptr<Candidate> candidate;
  Position at;
  std::vector<int> depth;
  std::vector<Choice> considered;
  std::vector<Decision> decided;  // the last one is what makes it another way
  double stake;                   // seconds that the dearer way costs
};

class Search final : public Offers {
 public:
  explicit Search(const Problem& p, Rules rules = all_rules());
  Search(const Problem& p, Rules rules, Fork from);

  const Candidate& candidate() const { return *best_; }
  Candidate& candidate() { return *best_; }
  // Of the candidate, once no rule has a better one.
  std::vector<Step> regions();
  // Choices by cost, those that were rejected and those that were taken.
  const std::vector<Choice>& considered() const { return considered_; }

  // The offer that this search took another way than the one that it left; none: the first search.
  const std::optional<Decision>& left_at() const { return left_at_; }
  // Offers whose figures are close, each the other way.
  std::vector<Fork> take_forks() { return std::move(forks_); }

  bool make(const Offer& o) override;
  bool make_exact(const Edit& e, const Costs& c) override;
  void begin_with(const Edit& e) override { best_->apply(e); }
  void require(const Edit& e) override;
  void withdraw(const Edit& e) override { withdrawn_ = e; }

 private:
  void start();
  void go_on();
  template <class Ask>
  void ask_rules(Ask&& ask);
  bool answer(const Offer& o, bool take);
  const Decision* decided(const Edit& offered) const;
  void leave_fork(const Offer& o, bool taken);

  const Problem& problem_;
  const Rules rules_;
  std::unique_ptr<Candidate> best_;
  Position at_;
  std::vector<int> depth_;
  std::vector<Decision> decided_;  // for good, then those of the rule that is being asked
  std::size_t for_good_ = 0;
  std::optional<Decision> left_at_;
  std::vector<Fork> forks_;
  bool changed_ = false;
  std::optional<Edit> withdrawn_;
  std::vector<Choice> considered_;
};

}  // namespace plait::fusion
