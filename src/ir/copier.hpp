// Makes a sequential kernel from another, an instruction at a time: passes over such kernels derive
// from it and say what they do otherwise.
#pragma once
#include "builder.hpp"

namespace plait::ir {

class Copier {
 public:
  explicit Copier(const Kernel& k);
  virtual ~Copier() = default;
  Kernel run();

 protected:
  virtual void copy(Val v);  // one instruction, with all that is inside it
  virtual void copy_block(const std::vector<Val>& block);
  // The copy of a value; kNone of none.
  Val mapped(Val v) const { return v == kNone ? kNone : values_[v]; }
  void map(Val v, Val to) { values_[v] = to; }
  // With copies of its operands and access.
  Val push(const Inst& i);

  const Kernel& k_;
  Builder out_;

 private:
  void copy_loop(const Inst& i);
  void copy_reduce(const Inst& i);

  std::vector<Val> values_;
  std::vector<std::int32_t> loops_;
  std::vector<std::vector<Val>> results_;  // of each Reduce
};

}  // namespace plait::ir
