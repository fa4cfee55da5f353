// How a kernel is changed once it is built: the passes of the planner and of the backends use these
// and nothing else. Every edit keeps the scalar meaning of the nest; that it may be made (that two
// loops have one range, that a row is read again) is its caller's to know.
#pragma once
#include <algorithm>

#include "ir.hpp"

namespace plait::ir {

// Equal in every call.
inline bool same(const Coeff& a, const Coeff& b) {
  return a.param == b.param && (a.param != kNoParam || a.value == b.value);
}
inline bool same(const Access& a, const Access& b) {
  return same(a.offset, b.offset) && std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(),
                                                b.terms.end(), [](const Term& x, const Term& y) {
                                                  return x.var == y.var && same(x.stride, y.stride);
                                                });
}

// Instructions of loop `l`'s blocks and of all loops nested in it, in order.
template <class F>
void for_each_inst(const Kernel& k, std::int32_t l, F&& f) {
  for (const std::vector<Val>* block : {&k.loops[l].body, &k.loops[l].otherwise})
    for (Val v : *block) {
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

// --- scopes: the loop is a vector loop, or none any longer.
void set_lanes(Kernel& k, std::int32_t l, bool lanes);

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

// --- stage: a row that is read again is kept nearer, in a local.
// Instruction `load` of `loop`, or of a loop in it, reads the row's element of the loop's
// iteration.
struct RowReader {
  std::int32_t loop;
  Val load;
};
struct Row {
  std::vector<RowReader> readers;  // in order; all read the same
  std::int32_t home;               // the loop whose iterations have a row each
  Coeff count;                     // elements
  // An instruction of `home`'s body in front of which a loop copies the row. kNone: the first
  // reader stores it as it goes, and the others follow.
  Val before = kNone;
  std::int32_t local = -1;  // that it goes to; -1: a new one
};
// Returns the local.
std::int32_t stage(Kernel& k, const Row& row);

}  // namespace plait::ir
