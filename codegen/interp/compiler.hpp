// Allocates registers and emits instructions: control and folds in compile.cpp, what touches memory
// in compile_memory.cpp.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "lower.hpp"
#include "plait/error.hpp"

namespace plait::interp {

using ir::kNone;
using ir::Op;
using ir::Val;

class Compiler {
 public:
  Compiler(const ir::Kernel& k, CpuTier tier, const std::vector<SharedTiles>& shared);
  Program run();

 private:
  const ir::Kernel k_;
  const ir::Analysis a_;
  const Liveness live_;
  const CpuTier tier_;
  Program p_;
  std::vector<std::int32_t> free_tiles_;
  std::size_t widest_ = 1;

  // The block being compiled: its instructions, and the tiles to give back after each item.
  struct Block {
    std::int32_t loop;
    std::vector<Instr> code;
    std::vector<std::vector<RegId>> expire;
    bool lanes;
    std::vector<Fold>* folds = nullptr;
  };

  RegId new_reg(Home home, std::int32_t index, std::int64_t stride) {
    p_.regs.push_back({home, index, stride});
    return static_cast<RegId>(p_.regs.size() - 1);
  }
  RegCode scalar() { return {Home::Scalar, p_.scalars++, 0}; }
  RegCode tile(DType t) {
    widest_ = std::max(widest_, itemsize(t));
    std::int32_t index;
    if (free_tiles_.empty()) {
      index = p_.tiles++;
    } else {
      index = free_tiles_.back();
      free_tiles_.pop_back();
    }
    return {Home::Tile, index, static_cast<std::int64_t>(itemsize(t))};
  }
  RegCode cold_tile(DType t) {
    return {Home::ColdTile, p_.cold_tiles++, static_cast<std::int64_t>(itemsize(t))};
  }
  RegCode slot(bool lanes, DType t) { return lanes ? tile(t) : scalar(); }
  RegId new_reg(const RegCode& r) { return new_reg(r.home, r.index, r.stride); }
  void release(RegId r) {
    if (p_.regs[r].home == Home::Tile) free_tiles_.push_back(p_.regs[r].index);
  }
  void expire(Block& b, std::int32_t position, RegId r) { b.expire[position].push_back(r); }

  bool numbers_rows(std::int32_t loop) const {
    return std::any_of(p_.shared.begin(), p_.shared.end(),
                       [&](const SharedTiles& s) { return s.outer == loop; });
  }
  RegId reg(Val v) const { return static_cast<RegId>(v); }
  // Where addresses read a value: a loop's variable, or the first of a tile of it, is a scalar.
  RegId address_reg(Val v) const {
    const ir::Inst& i = k_.insts[v];
    return i.op == Op::Var ? p_.loops[i.index].var : reg(v);
  }

  loops::LoopFn elementwise(OpId op, DType t) const { return elementwise_loop(op, t, tier_); }
  loops::LoopFn join(ReduceKind kind, DType t) const { return join_loop(kind, t, tier_); }
  loops::LoopFn cast(DType from, DType to) const { return cast_loop(from, to, tier_); }

  void block(std::int32_t loop, std::vector<Fold> folds);
  void item(Block& b, std::int32_t position, Val v);
  Instr call(Val v);
  bool contiguous(const ir::Inst& i) const;
  void load(Block& b, std::int32_t position, Val v);
  void store(Block& b, Val v);
  void scatter(Block& b, const ir::Inst& i);
  void running(Block& b, std::int32_t position, Val v);
  void result(Block& b, std::int32_t position, Val v);
  void release_dying(Block& b, std::int32_t position, const Instr& c, DType t);
  std::vector<Fold> accumulators(Block& b, std::int32_t position, Val reduce);
  void find_own_place(const Block& b, Fold& f, const std::vector<Fold>& before);
  void complete(Block& b, Fold& f, const ir::Reduction& r);
  std::int32_t access(const ir::Inst& i);
  std::int32_t access(const ir::Access& a, AccessCode c);
  RegId number(const ir::Coeff& c);
  void gather(Block& b, std::int32_t position, Val v);
  void fragment(Block& b, const ir::Inst& i);
  void finish();
};

}  // namespace plait::interp
