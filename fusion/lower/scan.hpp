// Scans in a region: folds of a loop that stands in all others, in order. What reads a scan at its
// own index is computed in that loop. What reads it further along the axis waits for a block of it,
// which lies in a window of scratch with as much of the blocks before as is still to be read.
#pragma once
#include <map>
#include <set>
#include <utility>

#include "values.hpp"

namespace plait::fusion {

class Scans : NestPart {
 public:
  Scans(Nest& nest, Values& values, const RegionSpec& region)
      : NestPart(nest), values_(values), region_(region) {}

  // Which scans the roots read, and how far ahead of their own index. False where no loop of the
  // region scans what a root of that shape reads: it is needed in memory.
  bool plan(const Numbers& shape);
  int axis() const { return axis_; }         // that is scanned; -1: none
  bool windows() const { return windows_; }  // something is read further along the axis
  // A scan up to the index, in the loop over its axis.
  Val running(std::int32_t id, const Node& n, const Index& idx);
  // Of what a window has; kNone for anything else.
  Val window_value(std::int32_t id, const Index& idx);
  // Scans blocks of the axis into windows, and stores the roots from there. The index has
  // everything but the axis.
  void run_windows(Index& idx, ExprId extent, std::int32_t ctx);

 private:
  bool find(std::int32_t id, ExprId shift);
  bool refuse(std::int32_t id);
  bool contains(std::int32_t id) const;
  int looped_axis(std::int32_t id) const;
  bool in_groups(std::int32_t id);
  Val carried(DType t, ReduceKind kind);

  Values& values_;
  const RegionSpec& region_;
  std::map<std::int32_t, std::set<ExprId>> shifts_;  // of each scan: how far ahead it is read
  std::set<std::pair<std::int32_t, ExprId>> seen_;   // nodes at a shift
  std::int32_t first_ = -1;
  int axis_ = -1;
  bool windows_ = false;
  std::map<std::int32_t, std::int32_t> window_of_;  // complete ones: their locals
  // The loops of a block that scan, and that read.
  std::int32_t loop_ = -1, reader_ = -1;
  Val base_ = kNone;  // of a block: an index of the axis and this is one of a window
};

}  // namespace plait::fusion
