// Builds a kernel one instruction at a time; loops open and close like brackets.
#pragma once
#include "ir.hpp"

namespace plait::ir {

// Where an index of an array leads: a negative one counts from the end. Written in one way, which
// passes know again (ir/ranges.hpp): `index` is where(i < 0, i + extent, i), `outside` is
// uint64(index) >= uint64(extent). An extent that is a parameter is not negative.
struct CheckedIndex {
  Val index, outside;
};

class Builder {
 public:
  explicit Builder(std::string name);  // opens the grid loop
  Kernel finish();                     // closes it

  Val grid_var() const;
  Val constant(const Scalar& s);
  Val constant_index(std::int64_t v);  // Int64 constant
  Val param(std::int32_t index);       // params[index]
  std::int32_t new_param();
  Val arg(DType t);  // a new scalar argument
  std::int32_t buffer(const BufferParam& b);
  std::int32_t buffer(DType t, bool written) { return buffer({t, written}); }
  std::int32_t local(Local l);  // belongs to the innermost open loop
  std::int32_t local(DType t, Coeff count) { return local({t, count, 0}); }
  Val apply(OpId fn, DType result, std::initializer_list<Val> operands);
  Val cast(Val v, DType to);
  Val load(std::int32_t buffer, Access a);
  // The element `index` (an Int64 value) times `stride` bytes beyond the access.
  Val gather(std::int32_t buffer, Access a, Val index, Coeff stride);
  void store(std::int32_t buffer, Access a, Val v, bool nontemporal = false);
  void scatter(OpId fn, std::int32_t buffer, Access a, Val index, Coeff stride, Val v);
  Val load_local(std::int32_t local, Access a, Val stage = kNone);
  void store_local(std::int32_t local, Access a, Val v, Val stage = kNone);
  // The accesses of `p` are the three that follow it.
  void fragment(Fragment p, Access a, Access b, Access c, Val m, Val n, Val k);
  // An AsyncCopy. The accesses of `c` are the two that follow it.
  void copy(Copy c, Access from, Access to, Val rows, Val columns, Val stage = kNone);
  void barrier(Val stage = kNone);
  // What a sequential kernel alone has. Reads and writes go to any byte offset.
  void sequential() { k_.sequential = true; }
  // A constant, parameter or argument at the beginning of the kernel: it is visible everywhere.
  Val number(const Inst& i);
  Val new_arg(DType t);                               // the same of a new scalar argument
  std::int32_t variable(DType t, Coeff count = {1});  // a local that belongs to the grid
  CheckedIndex index(Val i, Val extent);
  std::int32_t open_if(Val condition);
  void otherwise();  // the innermost loop, an If, goes on with its other block
  std::int32_t open_repeat();
  void close_repeat(Val condition);
  void leave(std::int32_t loop, Val condition = kNone);  // a Break
  std::int32_t innermost() const { return open_.back(); }
  // Opens a loop and returns its index; var(loop) is its variable.
  std::int32_t open_for(Val begin, Val end);
  std::int32_t open_reduce(Val begin, Val end);
  Val var(std::int32_t loop) const;
  // The fold of that number of the innermost loop, so far; its Reduction goes to close().
  Val running(DType t, std::int32_t fold);
  Val carried(DType t, std::int32_t fold);           // the same of one that the loop carries
  void close();                                      // a For
  std::vector<Val> close(std::vector<Reduction> r);  // a Reduce: its results
  Loop& loop(std::int32_t index);
  DType type(Val v) const;
  const Kernel& kernel() const { return k_; }  // so far
  Val push(Inst i);                            // whatever has no function of its own
  Val push(Inst i, Access a);
  void scalars(const std::vector<DType>& all) { k_.scalars = all; }

 private:
  Kernel k_;
  std::vector<std::int32_t> open_;
  std::vector<char> in_otherwise_{false};  // of each loop that is open
  std::vector<Val> numbers_;
  std::int32_t open(Op op, Val begin, Val end);
};

}  // namespace plait::ir
