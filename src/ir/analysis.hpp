// Facts about a kernel that every backend needs.
#pragma once
#include <optional>

#include "ir.hpp"

namespace plait::ir {

struct Analysis {
  std::vector<std::int32_t> parent;       // of each loop: the loop around it; -1 for the grid
  std::vector<std::int32_t> vector_loop;  // of each loop: itself or the loop around it that is the
                                          // vector loop; -1 when there is none
  std::vector<std::int32_t>
      block;  // of each value: the loop whose body defines it (a Var: its loop)
  // Of each value: whether it may differ from lane to lane of the vector loop around its block.
  std::vector<char> varies;

  // Whether every lane of the vector loop around loop `l` folds for itself.
  bool folds_apart(std::int32_t l, const Reduction& r) const {
    if (r.kind == ReduceKind::Last) return vector_loop[l] >= 0;
    return varies[r.value] || (r.init != kNone && varies[r.init]);
  }
  // Whether every lane has its own copy of the local.
  bool per_lane(const Local& l) const { return vector_loop[l.home] >= 0; }
};

// The kernel must be structurally sound, as verify() checks first.
Analysis analyse(const Kernel& k);

inline bool addresses_buffer(const Inst& i) {
  return i.op == Op::Load || i.op == Op::Gather || i.op == Op::Store || i.op == Op::Scatter;
}
// What a Scatter may combine by.
inline bool combines(OpId fn, DType t) {
  return (fn == OpId::Add || fn == OpId::Multiply || fn == OpId::Minimum || fn == OpId::Maximum) &&
         (is_integer(t) || t == DType::Float32 || t == DType::Float64);
}

// The accesses of an instruction: of a load or store its own, of a fragment three, of a copy two.
// The kernel is const or not, and so is what `f` gets.
template <class K, class F>
void for_each_access(K& k, const Inst& i, F&& f) {
  if (i.access >= 0) f(i.access);
  if (i.op == Op::Fragment) {
    auto& p = k.fragments[i.index];
    f(p.a.access);
    f(p.b.access);
    f(p.access);
  } else if (i.op == Op::AsyncCopy) {
    auto& c = k.copies[i.index];
    f(c.from);
    f(c.to);
  }
}
// The values that an instruction names beside its operands and addresses: a fragment's block, and
// its stages, which may be kNone.
template <class K, class F>
void for_each_value_beside(K& k, const Inst& i, F&& f) {
  if (i.op != Op::Fragment) return;
  auto& p = k.fragments[i.index];
  f(p.block);
  f(p.a.stage);
  f(p.b.stage);
}

// The Running that reads the fold of that number in the loop's body; kNone: its iterations may fold
// apart from each other.
Val running(const Kernel& k, std::int32_t loop, std::size_t fold);
// Whether the loop's iterations follow each other: one reads what the folds have so far.
bool scans(const Kernel& k, std::int32_t loop);
bool carries(const Kernel& k, std::int32_t loop);  // any of its folds is Last
// The same of the loop and all inside it.
bool scans_inside(const Kernel& k, std::int32_t loop);

// Whether warps take the iterations of a loop of the block: loops inside are of their threads.
bool over_warps(const Kernel& k, std::int32_t loop);

// Whether the loop, or one inside it, multiplies fragments.
bool multiplies(const Kernel& k, std::int32_t loop);

// The same value wherever it stands.
inline bool is_number(const Inst& i) {
  return i.op == Op::Const || i.op == Op::Param || i.op == Op::Arg;
}

// The loop that is all that `loop` does but for what it computes once a row, where each iteration
// of the two says only which elements it reads and writes: they can run in any order, as one. Else
// -1.
std::int32_t row_loop(const Kernel& k, std::int32_t loop);

// Whether a Repeat leaves where a variable is zero that loses a bit in every round: x &= x - 1. It
// is over after 64 rounds.
bool loses_bits(const Kernel& k, std::int32_t loop);

// What a Reduce loop over elements in memory may stop at: once its fold is that value, no later one
// changes it (any, all, extrema of Bool and the first of them). A loop that computes does not stop,
// because what it computes may raise floating-point flags.
std::optional<bool> deciding_value(const Kernel& k, std::int32_t loop);

// Elements of a local for these parameters.
std::int64_t local_count(const Local& l, const std::int64_t* params);
// Bytes from the start of scratch to each local, then the total, in the layout that scratch_bytes()
// counts: locals in order, each aligned to 64 bytes, per-lane ones [count][lanes].
std::vector<std::size_t> local_offsets(const Kernel& k, const std::int64_t* params, int lanes);

// Of each local: whether every lane has its own copy.
std::vector<bool> per_lane_locals(const Kernel& k);
// The same bytes for who calls a kernel often, and asks the former once.
std::size_t scratch_bytes(const Kernel& k, const std::vector<bool>& per_lane,
                          const std::int64_t* params, int lanes);

}  // namespace plait::ir
