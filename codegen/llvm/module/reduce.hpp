// One Reduce loop: its accumulators live on the stack until SROA makes them registers.
#pragma once
#include "emitter.hpp"

namespace plait::jit {

class ReduceEmitter {
 public:
  ReduceEmitter(Emitter& e, std::int32_t loop);
  std::vector<Value> run();  // one value a reduction
  // Folds the body's value into the accumulator of that number, and gives what it has now.
  Value running(std::int32_t fold);
  Value carried(std::int32_t fold);  // what the accumulator has

 private:
  struct Acc {
    const ir::Reduction* r;
    DType type;        // of the reduced value
    llvm::Type* slot;  // what one accumulator holds: lanes of `type` or one
    int regs;
    bool varying = false;                  // an accumulator has lanes
    bool runs = false;                     // an instruction of the body folds
    Value value;                           // what the body just emitted gives
    std::vector<llvm::AllocaInst*> best;   // the fold; Pairwise: the leaf's result
    std::vector<llvm::AllocaInst*> index;  // ArgMin, ArgMax
    llvm::AllocaInst* leaf = nullptr;      // Pairwise: NumPy's accumulators
    llvm::AllocaInst* left = nullptr;      // Pairwise: results of left halves
    bool pairwise() const { return r->order == ir::Order::Pairwise; }
    bool ordered() const { return r->order == ir::Order::Sequential; }
    bool arg() const { return is_arg(r->kind); }
  };

  Emitter& e_;
  llvm::IRBuilder<>& b_;
  const std::int32_t loop_;
  const ir::Loop& l_;
  const bool vector_;  // lanes run along this loop
  llvm::Value *begin_ = nullptr, *end_ = nullptr;
  std::vector<Acc> accs_;

  // reduce_fold.cpp
  Acc open(const ir::Reduction& r);
  llvm::Constant* identity(const Acc& a);
  llvm::Value* start(const Acc& a, int r);
  llvm::Constant* spread(const Acc& a, llvm::Constant* c);  // in the shape of a slot
  llvm::Value* combine(const Acc& a, llvm::Value* x, llvm::Value* y);
  llvm::Value* value(const Acc& a, int r);  // register r of what the body gives
  void fold(const Acc& a);                  // ... joins the accumulators
  void body();                              // the body once, folded into all but pairwise sums
  Value close(const Acc& a);
  llvm::Value* across(const Acc& a);  // the lanes and registers of a vector loop's fold, joined
  void emit_serial();
  void strip(llvm::Value* begin, llvm::Value* end, Look look);
  void emit_until(bool value);
  llvm::Value* holds(const Acc& a, bool value);  // whether the fold of Bool values has met `value`
  bool unrolled() const;
  llvm::Value* get(llvm::AllocaInst* a) { return b_.CreateLoad(a->getAllocatedType(), a); }
  // reduce_arg.cpp
  void fold_arg(const Acc& a);
  llvm::Value* better(const Acc& a, llvm::Value* x, llvm::Value* best);
  void fold_guarded(const Acc& a);
  void take(const Acc& a, int r, llvm::Value* x, llvm::Value* mask);
  llvm::Value* across_arg(const Acc& a);
  // reduce_pairwise.cpp
  void emit_tree();
  void leaf(llvm::Value* begin, llvm::Value* n);
  void vector_leaf(llvm::Value* begin, llvm::Value* n);
  void serial_leaf(llvm::Value* begin, llvm::Value* n);
  void compact_leaf(llvm::Value* begin, llvm::Value* n);
  int lanes() const { return e_.tree_lanes(loop_); }
  llvm::Value* slot(llvm::AllocaInst* a, const Acc& acc, llvm::Value* n, int r);
  void join_leaf(const Acc& a);
};

}  // namespace plait::jit
