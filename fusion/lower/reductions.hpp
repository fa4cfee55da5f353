// Reductions: under the loop that binds their index, in NumPy's order of summation.
#pragma once
#include <vector>

#include "values.hpp"

namespace plait::fusion {

// Iterations [begin, end) of a loop.
struct Chunk {
  Val begin = kNone, end = kNone;
};

class Reductions : NestPart {
 public:
  Reductions(Nest& nest, Values& values, const RegionSpec& region)
      : NestPart(nest), values_(values), region_(region) {}

  // Opened under the loop that binds the index, wherever it was asked for.
  Val value(std::int32_t id, const Node& n, const Index& idx);
  // What it folds, at an index of its operand.
  Val operand_value(std::int32_t id, const Index& oi, std::int32_t ctx);
  // The fold of a chunk of the outermost of these axes; of an arg-reduction also the extreme value.
  struct Folded {
    Val value, extreme;
  };
  Folded fold_chunk(std::int32_t id, Index& idx, const std::vector<int>& reduced, std::int32_t ctx,
                    const Chunk& chunk);
  // Whether stepping through those axes, widest first, is one walk through memory for all that the
  // value of `id` loads.
  bool one_walk(std::int32_t id, const std::vector<int>& axes) const;
  // NumPy sums pairwise along the axis of the smallest stride, and row by row along the others.
  bool pairwise_axis(const Node& n, std::int32_t operand, int d) const;

 private:
  // Of a survey: whether it is worth reducing where it is asked for.
  bool reduced_here(std::int32_t id, const Node& n, const Index& idx, std::int32_t at);
  Val reduce_at(std::int32_t id, const Node& n, std::int32_t operand, const Index& idx,
                std::int32_t at);
  // NumPy's sums start from +0.0, the folds of the loop IR from -0.0: a sum of negative zeros shows
  // it.
  Val from_zero(std::int32_t id, Val v);
  // Products start from 1, as the folds of the loop IR do: 1 * (nan + 0j) is nan + nanj.
  Val from_one(const Node& n, Val v);
  // NumPy sums axes that are contiguous together as one: a short block is unrolled whole, a longer
  // one becomes loops that collapse into one.
  Val short_block(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t at);
  // Folds the operand over those axes; of the outermost, if there is one, over the chunk.
  Val fold(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t ctx,
           const Chunk* chunk);
  // The loops of fold() from axis reduced[i] on.
  Val reduce_loops(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::size_t i,
                   std::int32_t ctx, const Chunk* chunk);
  // An arg-reduction looks through the monotone root in front of a non-negative value.
  Val arg_value(std::int32_t id, const Index& oi, std::int32_t ctx, bool& guarded);
  Val fold_terms(const Node& n, const std::vector<Val>& t, bool pairwise);

  Values& values_;
  const RegionSpec& region_;
  bool loops_only_ = false;  // no unrolling inside the block that is being summed
  Val extreme_ = kNone;      // of the chunk that was folded last
};

}  // namespace plait::fusion
