// Kernel -> Program, in two steps: Liveness decides what is evaluated where and how long it lives,
// compile() allocates registers and emits instructions.
#pragma once
#include "ir/analysis.hpp"
#include "program.hpp"

namespace plait::interp {

// Positions count the items of a block. A use inside a nested loop counts where that loop stands; a
// reduced value is used at the end of its block.
class Liveness {
 public:
  Liveness(const ir::Kernel& k, const ir::Analysis& a);
  // The block's instructions without those that were moved into the store that takes their result.
  const std::vector<ir::Val>& items(std::int32_t loop) const { return items_[loop]; }
  // The operation whose result goes straight to memory instead of through a tile; kNone: a copy.
  ir::Val stored_by(ir::Val store) const { return fused_[store]; }
  std::int32_t last_use(ir::Val v) const { return last_[v]; }
  bool used_as_value(ir::Val v) const { return value_uses_[v] > 0; }
  // Whether a load is only copied from memory to memory.
  bool only_stored(ir::Val load) const;
  // Whether memory that a load read may have changed before the loaded value is last used.
  bool clobbered(ir::Val load) const;

 private:
  const ir::Kernel& k_;
  const ir::Analysis& a_;
  std::vector<std::vector<ir::Val>> items_;
  std::vector<ir::Val> fused_;
  std::vector<std::int32_t> position_, last_, uses_, value_uses_;
  std::vector<ir::Val> loop_inst_;

  void count(ir::Val v, std::int32_t user_block, bool as_value);
  void extend(ir::Val v, std::int32_t block, std::int32_t position);
  template <class F>
  void each_operand(ir::Val v, F visit) const;  // visit(operand, used as a value)
  bool writes(ir::Val item, bool local, std::int32_t index) const;
};

// A load in a loop that another serial loop repeats, inside the vector loop, reads the same strided
// lanes again each time. The rewritten kernel reads them once a tile, into a local. `rows` receives
// the new locals; empty when there is no such load.
ir::Kernel keep_rows(const ir::Kernel& k, std::vector<ir::Local>& rows);

// Rows of a few elements: a tile has those of several iterations of the loop around the vector loop
// (ir::row_loop). The rewritten kernel computes in the vector loop what was computed once a row,
// and `shared` receives the pairs of loops.
ir::Kernel share_tiles(ir::Kernel k, std::vector<SharedTiles>& shared);
// Values that differ from row to row vary along the vector loop, too.
ir::Analysis analyse(const ir::Kernel& k, const std::vector<SharedTiles>& shared);

// The precompiled loops; InternalError where there is none.
loops::LoopFn elementwise_loop(OpId op, DType t, CpuTier tier);
loops::LoopFn join_loop(ReduceKind kind, DType t, CpuTier tier);
loops::LoopFn cast_loop(DType from, DType to, CpuTier tier);

// How fold number `n` of a loop goes, and in what; how its values are joined.
FoldKind fold_kind(const ir::Kernel& k, std::int32_t loop, std::size_t n);
DType accumulator_type(ReduceKind k, DType t);
void join_values(Fold& f, ReduceKind kind, DType t, CpuTier tier);

Program compile(const ir::Kernel& k, CpuTier tier, const std::vector<SharedTiles>& shared = {});

}  // namespace plait::interp
