// Neighbouring axes of a node, as a block has them: how many lines these are, the loops over them,
// and the place of each in a local.
#pragma once
#include <vector>

#include "nest.hpp"

namespace plait::fusion {

// Of the axes [first, last) a block has [begin, end) of the axis `split`, all of those behind it,
// and one index of each in front of it.
struct AxisTile {
  Nest* nest = nullptr;
  std::int32_t of = -1;
  int first = 0, split = 0, last = 0;
  ExprId inner = 1, most = 1;      // lines of an index of `split`; indices of it in a block
  Val begin = kNone, end = kNone;  // kNone: all of the axis
  double trips = 1;                // indices of it, altogether
  Index at = {};                   // those in front of it

  AxisTile() = default;
  // All of so many axes.
  AxisTile(Nest& n, std::int32_t node, int first_axis, int count);
  // Those of them that a block of so many lines has whole, from the last one on: short ones, and
  // one that is longer.
  static AxisTile block(Nest& n, std::int32_t node, int first_axis, int count, std::int64_t most);

  ExprId extent(int axis) const { return nest->ex_.source({of, Field::Shape, axis}); }
  ExprId lines() const { return nest->ex_.mul(nest->ex_.least(most, extent(split)), inner); }
  Val lines_now() const;
  // Lines from an index of the axis to the next.
  ExprId stride(int axis) const;
  // The first line of the block, counted from the first of all.
  Val first_line() const;
  void set_block(Val number);
  // The blocks, one after another; returns the innermost of the loops.
  std::int32_t open_blocks(std::int32_t ctx, std::vector<std::int32_t>& opened);
  // The lines of the block.
  std::int32_t open(std::int32_t ctx, std::vector<std::int32_t>& opened) const;
  // The place of an index of the lines in a local, `step` elements from line to line.
  void add_terms(ir::Access& a, const Index& idx, ExprId step) const;
};

}  // namespace plait::fusion
