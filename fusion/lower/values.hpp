// What the parts of the lowering ask of each other: whoever builds the loops of a block asks for
// values there, and whoever computes a value asks what the block has of it.
#pragma once
#include "cut_loops.hpp"

namespace plait::fusion {

// Computes nodes in the loops that are open.
class Values {
 public:
  virtual ~Values() = default;
  // A node at an index, in the outermost loop that binds it.
  virtual Val emit(std::int32_t id, const Index& idx, std::int32_t ctx) = 0;
  // The same from its operands, wherever else it is.
  virtual Val compute(std::int32_t id, const Index& idx, std::int32_t ctx) = 0;
  // What a reduction folds.
  virtual Val operand_value(std::int32_t reduction, const Index& idx, std::int32_t ctx) = 0;
  virtual void store_root(std::int32_t root, const Index& idx, std::int32_t ctx) = 0;
  // A node is not computed here; a region that is lowered has it.
  virtual void need(std::int32_t id, const char* why) = 0;
  // A root has only those beside it that walk their operands as it does.
  virtual void need_alike(std::int32_t root, bool one_walk) = 0;
  // An operand at loops over all levels, for whoever puts it somewhere (CutLoops::fill); of
  // `unroll` several iterations at a time.
  virtual void fill(std::int32_t operand, const Index& idx,
                    const std::vector<CutLoops::Level>& levels, std::int32_t ctx, bool repeated,
                    CutLoops::Unroll unroll, const CutLoops::Put& put) = 0;
};

// Values that a block has at hand, in scratch.
class BlockValues {
 public:
  virtual ~BlockValues() = default;
  // At an index; kNone: it is loaded, or computed, as elsewhere.
  virtual Val value(std::int32_t id, const Index& idx, std::int32_t ctx) = 0;
  // Whether it shows what changes while the block is computed: memory that has it has the last.
  virtual bool changes(std::int32_t id) const = 0;
};

}  // namespace plait::fusion
