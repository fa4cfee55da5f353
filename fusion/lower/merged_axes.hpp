// Loops over an axis that a view makes of several: of dimensions of a copy, of arrays that it shows
// interleaved, or of any value that is computed where it is packed.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "loop_box.hpp"

namespace plait::fusion {

class MergedLoops : NestPart {
 public:
  MergedLoops(Nest& nest, LoopBox& box) : NestPart(nest), box_(box) {}

  // Loops over merged dimensions of a copy are loops over each of them; the index is that of what
  // the view shows then.
  std::vector<LoopBox::Level> split_copy(std::int32_t view,
                                         const std::vector<LoopBox::Level>& levels, Index& idx);
  // The iterations of such a loop, in the loops that are open.
  std::pair<Val, Val> range_of(LoopBox::Level& l);

  // The elements of several arrays, interleaved. Whether what steps along the merged axis of such a
  // view can be two loops, which split_interleaved() makes of it.
  bool interleave(std::int32_t view, const AffineIndex& along);
  void split_interleaved();
  // The index in the arrays that such a view shows, if these loops have them one after the other.
  std::optional<Index> deinterleaved(std::int32_t view, const Index& idx) const;
  template <class X>
  static std::vector<X> of_base(const Dims& by, const std::vector<X>& idx) {
    std::vector<X> at(static_cast<std::size_t>(by.size()));
    for (int d = 0; d < by.size(); ++d)
      if (by[d] >= 0) at[static_cast<std::size_t>(d)] = idx[static_cast<std::size_t>(by[d])];
    return at;
  }
  // The axis is that of a loop over interleaved elements: it is at an array's.
  void bind(AxisIndex& x, int axis) const {
    if (axis != interleaved_.axis) return;
    x.step = interleaved_.arrays;
    x.at = k_.loops[box_.idx[static_cast<std::size_t>(box_.arrays_axis)].loop].var;
  }

  // Loops over digits of an axis, for views that merge axes. Which digits there are is known when
  // the reads are: split_for() adds some, and the loops start again.
  void start(std::int32_t operand, const std::vector<LoopBox::Level>& levels);
  // An axis whose narrowest digit is unrolled; roll(): it cannot be.
  void unroll(LoopBox::Unroll u) { unroll_ = u; }
  void split_unrolled() {
    if (unrolls()) splits_[unroll_.axis].inner = {unroll_.iterations};
  }
  bool unrolls() const { return unroll_.axis >= 0; }
  void roll();
  std::vector<AffineIndex> walks(std::int32_t operand) const;
  Index index_of_operand(const Index& all);
  bool merges(std::int32_t view) const;
  std::optional<std::vector<AffineIndex>> digits(std::int32_t view, std::vector<AffineIndex> at);
  bool split_for(std::int32_t view, const std::vector<AffineIndex>& at);
  // Where a view merges axes, at an index that is a sum over these loops: each axis of what it
  // shows has loops of its own.
  std::optional<Index> at_digits(std::int32_t view, const Index& idx);

 private:
  // An axis whose loops are loops over its digits, widest first: the axis of each, and what a step
  // of it counts. `inner`: what the digits but the widest count, ascending.
  struct Digit {
    int axis;
    std::int64_t counts;
  };
  struct Split {
    std::vector<std::int64_t> inner;
    std::vector<Digit> digits;
  };
  void split_level(std::int32_t operand, const LoopBox::Level& l, Split& s);
  std::int64_t extent_of(int axis) const;
  std::optional<AffineIndex> walk_of(const AxisIndex& x) const;

  LoopBox& box_;
  // The axis whose elements are those of several arrays, interleaved: loops over these, and inside
  // over the elements of each. The index's last axis counts the arrays.
  struct Interleaved {
    int axis = -1;
    ExprId arrays = 1, each = 1;
  } interleaved_;
  std::map<int, Split> splits_;  // by axis of the operand
  LoopBox::Unroll unroll_;
};

}  // namespace plait::fusion
