// What a team of threads has brought so far, in seconds of the callers of its loops. It earns
// credit, which a helper that loses its core in the middle of a piece may cost again. In debt,
// loops run alone until a share of the time that passes has paid it off. That costs up to half of
// their time, so the share is a half at first. It halves with each debt, until the team has earned
// full credit: where helpers keep losing their cores, little more time is lost than on one thread.
#pragma once
#include <algorithm>

namespace plait::engine {

class Account {
 public:
  // Whether a loop may be shared, at a time in seconds.
  bool open(double at) {
    if (balance_ < 0) balance_ = std::min(0.0, balance_ + share_ * (at - seen_));
    seen_ = at;
    return balance_ >= 0;
  }
  // A loop that was shared, and what the caller would have computed alone, going by its part of it:
  // not more than all threads were there for. What was predicted does not count: on another machine
  // than that of the table, or in fresh memory, it is several times off.
  void add(double took, double alone, int threads) {
    const double gain = std::min(alone, took * threads) * delay_ - took;
    const bool in_debt = balance_ < 0;
    balance_ = std::clamp(balance_ + gain, -kMost, kMost);
    if (balance_ == kMost)
      share_ = kMostShare;
    else if (!in_debt && balance_ < 0)
      share_ = std::max(kLeastShare, share_ / 2);
  }
  // A loop that ran alone: how much longer loops take than they compute, because others use the
  // processors too. Short loops are rarely stopped, and then for long: what counts is a span of
  // time, not a number of loops.
  void learn(double took, double computed) {
    const double kept = kSpan / (kSpan + took);
    took_ = kept * took_ + took;
    computed_ = kept * computed_ + computed;
    delay_ = std::max(1.0, took_ / computed_);
  }

 private:
  // Credit and debt are at most what a core that is lost for long costs.
  static constexpr double kMost = 20e-3, kMostShare = 1, kLeastShare = 1.0 / 32;
  double balance_ = 0.25e-3, seen_ = 0;
  double share_ = kMostShare;           // each debt halves it, the first one, too
  static constexpr double kSpan = 0.1;  // seconds of loops that are remembered
  double took_ = 1e-3, computed_ = 1e-3, delay_ = 1;
};

}  // namespace plait::engine
