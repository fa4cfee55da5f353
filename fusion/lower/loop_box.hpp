// Loops over a box of an iteration space, as they are planned, and the index that they make.
#pragma once
#include <vector>

#include "nest.hpp"

namespace plait::fusion {

struct LoopBox {
  // A loop: the dimension of the index that it steps along, and how far apart its iterations are in
  // scratch, and in a second local.
  struct Level {
    int axis = 0;
    ExprId place = 1, extent = 1;
    Val begin = kNone, end = kNone;  // kNone: all of the dimension
    double trips = 1;
    // One of several loops over a range [low, high) of merged dimensions, of which loops around it
    // leave a part: how many of them an iteration has, and the level of the last of these loops.
    Val low = kNone, high = kNone;
    ExprId inner = 1;
    int around = -1;
    ExprId second = 0;
    bool unrolled = false;
  };
  // Which axis has several iterations at a time, one after the other: an axis of so many as a known
  // multiple of these, that only the second local is along. -1: none.
  struct Unroll {
    int axis = -1;
    std::int64_t iterations = 1;
  };

  // `idx`: of axes that no level has; `extents`: of all axes.
  void start(const Index& at, const std::vector<Level>& loops, const std::vector<ExprId>& counts) {
    idx = at;
    levels = loops;
    extents = counts;
    arrays_axis = static_cast<int>(idx.size());
    folded = arrays_axis + 1;
    extents.resize(static_cast<std::size_t>(folded), 1);
  }

  std::vector<Level> levels;
  Index idx;
  // Of the axes of the loops, of the arrays, of digits, then of folds.
  std::vector<ExprId> extents;
  int arrays_axis = 0, folded = 0;  // the second of these, and the first axis of the last
  bool fills = false;               // scratch; else they are those of a region's roots
  bool repeated = false;            // computed again for every block, which is known to cost less
};

}  // namespace plait::fusion
