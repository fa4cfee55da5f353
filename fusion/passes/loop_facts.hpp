// What the choices of loops for lanes and for tiles ask of a lowered nest.
#pragma once
#include "passes.hpp"

namespace plait::fusion {

// A chunk of a chunked region has about so many elements, or one iteration of the split loop.
inline constexpr std::int64_t kChunkElements = 32768;

class LoopFacts {
 public:
  LoopFacts(const LoweringInput& in, const LoweredKernel& lk) : in_(in), lk_(lk), k_(lk.kernel) {}

  // Iterations of one run of the loop, at least 1; of a grid over chunks, an estimate.
  double trips(std::int32_t l) const;
  std::int64_t value(const ir::Coeff& c) const;
  // Bytes from one iteration of `l` to the next.
  std::int64_t stride(const ir::Inst& access, std::int32_t l) const;
  // Whether a gather's index may differ from one iteration of loop `l` to the next.
  bool index_moves(const ir::Inst& gather, std::int32_t l) const;
  bool depends(const ir::Inst& access, std::int32_t l) const;
  std::int32_t parent(std::int32_t l) const;
  // Whether several iterations may run side by side. A grid over chunks is no place for that: its
  // loops' bounds differ from one to the next. Nor is a loop whose iterations all store to one
  // place, one that multiplies fragments, one whose scans keep what they have so far, or one that
  // decides where loops inside begin and end.
  bool may_be_lanes(std::int32_t l) const;

  template <class F>
  void for_each_loop(std::int32_t l, F&& f) const {
    f(l);
    for (ir::Val v : k_.loops[l].body)
      if (opens_loop(k_.insts[v])) for_each_loop(k_.insts[v].index, f);
  }

 private:
  bool keeps_windows(std::int32_t l) const;
  bool follows(ir::Val v, std::int32_t l) const;

  const LoweringInput& in_;
  const LoweredKernel& lk_;
  const ir::Kernel& k_;
};

}  // namespace plait::fusion
