// NumPy's summation tree, walked leaf by leaf. Its shape depends on the number of elements only.
#pragma once
#include <cstdint>

#include "core/summation_tree.hpp"

namespace plait::interp {

class TreeWalk {
 public:
  // Sums of finished left halves that can be open at once, for any n up to 2^46.
  static constexpr int kMaxSums = 40;

  // Stops at subtrees of at most `limit` elements (no less than the shape's own leaves).
  void start(TreeShape shape, std::int64_t n, std::int64_t limit) {
    shape_ = shape;
    limit_ = limit;
    depth_ = 0;
    descend(n);
  }
  std::int64_t leaf() const { return leaf_; }
  TreeShape shape() const { return shape_; }
  // The current leaf is summed: how many open left sums are to be added in front of it, newest
  // first.
  int joins() {
    int n = 0;
    while (depth_ > 0 && pending_[depth_ - 1] == 0) --depth_, ++n;
    return n;
  }
  // After joins(): goes to the next leaf, the sum so far being an open left sum; false at the end.
  bool next() {
    if (depth_ == 0) return false;
    std::int64_t right = pending_[depth_ - 1];
    pending_[depth_ - 1] = 0;
    descend(right);
    return true;
  }

 private:
  TreeShape shape_;
  std::int64_t limit_ = 0, leaf_ = 0;
  int depth_ = 0;
  std::int64_t pending_[64];  // right halves to come; 0 once inside

  void descend(std::int64_t n) {
    while (n > limit_) {
      std::int64_t left = shape_.left(n);
      pending_[depth_++] = n - left;
      n = left;
    }
    leaf_ = n;
  }
};

}  // namespace plait::interp
