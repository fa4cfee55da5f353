// How a kernel is changed once it is built: the passes of the planner and of the backends use these
// and nothing else. Every edit keeps the scalar meaning of the nest; that it may be made (that two
// loops have one range, that a row is read again) is its caller's to know.
#pragma once
#include "ir.hpp"

namespace plait::ir {

// Equal in every call.
inline bool same(const Coeff& a, const Coeff& b) {
  return a.param == b.param && (a.param != kNoParam || a.value == b.value);
}
bool same(const Access& a, const Access& b);

// Instructions of loop `l`'s body and of all loops nested in it, in order.
template <class F>
void for_each_inst(const Kernel& k, std::int32_t l, F&& f) {
  for (Val v : k.loops[l].body) {
    f(v, l);
    if (opens_loop(k.insts[v])) for_each_inst(k, k.insts[v].index, f);
  }
}

// --- parts: what they give stands in no body yet
Val append(Kernel& k, const Inst& i);
std::int32_t append(Kernel& k, Access a);
// A loop from 0 to `end` with its variable.
std::int32_t append_loop(Kernel& k, Val end);
// The element of a row at the loop's iteration.
Access element(const Kernel& k, std::int32_t loop);

// --- places: `at` stands in the body
void insert_before(Loop& l, Val at, Val v);
void insert_after(Loop& l, Val at, Val v);

// --- replace: in the nest of loop `l`, operands, addresses, bounds and folds that name `from` name
// `to`.
void replace_uses(Kernel& k, std::int32_t l, Val from, Val to);

// --- fuse: loop `inner`, an instruction of `outer`'s body, becomes its body; of what stood around
// it only numbers of the call stay. `outer` then counts the iterations of both: addresses step as
// they do along `inner`. Its range is the caller's to set.
void fuse(Kernel& k, std::int32_t outer, Val inner);

// --- join: the loop of instruction `second` becomes the end of the loop of `first`, beside it and
// over one range; results are renumbered. `second` is to be dropped from its body.
void join(Kernel& k, Val first, Val second);

// --- stage: what is read again is kept nearer.
// A local of `home` with room for the row that loop `row` walks over.
std::int32_t append_row(Kernel& k, DType t, Coeff count, std::int32_t home);
// Instruction `value` of `row`'s body goes to the local as well.
void store_row(Kernel& k, std::int32_t local, std::int32_t row, Val value);
// Instruction `load` of `row` (or of a loop in it) reads the local instead of its buffer.
void read_row(Kernel& k, std::int32_t local, std::int32_t row, Val load);
// A loop to `end` that copies what `load` reads along `row` to the local; to be put in front of
// what reads it.
Val copy_row(Kernel& k, std::int32_t local, std::int32_t row, Val load, Val end);

}  // namespace plait::ir
