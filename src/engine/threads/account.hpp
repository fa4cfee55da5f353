// What a team of threads has brought so far, in seconds of the callers of its loops. It may run up
// a small debt, which time pays off slowly: where helpers lose their cores in the middle of a
// piece, loops run alone but for a few that look whether that is still so.
#pragma once
#include <algorithm>

namespace plait::engine {

class Account {
 public:
  // Whether a loop may be shared, at a time in seconds.
  bool open(double at) {
    if (balance_ < 0) balance_ = std::min(0.0, balance_ + kShare * (at - seen_));
    seen_ = at;
    return balance_ >= 0;
  }
  // A loop that was shared, and what the caller would have computed alone, going by its part of it:
  // not more than all threads were there for. What was predicted does not count: on another machine
  // than that of the table, or in fresh memory, it is several times off.
  void add(double took, double alone, int threads) {
    const double gain = std::min(alone, took * threads) * delay_ - took;
    balance_ = std::clamp(balance_ + gain, -kMostDebt, kCredit);
  }
  // A loop that ran alone: how much longer loops take than they compute, because others use the
  // processors too.
  void learn(double took, double computed) {
    constexpr double kKept = 0.95;
    took_ = kKept * took_ + took;
    computed_ = kKept * computed_ + computed;
    delay_ = std::max(1.0, took_ / computed_);
  }

 private:
  // What may be lost: the credit, and then a share of the time that passes.
  static constexpr double kCredit = 1e-3, kMostDebt = 10e-3, kShare = 0.05;
  double balance_ = kCredit / 4, seen_ = 0;
  double took_ = 1e-3, computed_ = 1e-3, delay_ = 1;
};

}  // namespace plait::engine
