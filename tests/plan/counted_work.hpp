// What running a plan costs, counted from its loop IR: instructions executed times their cost, and
// bytes that come through memory. It knows nothing of how the planner estimates; the unit is the
// nanosecond of one thread, from measurements, so that the two kinds of work can be compared.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "fusion/plan.hpp"

namespace plait::test {

// Measured on a Sapphire Rapids core: operations as the difference between chains of five and of
// one of them over rows of 256 doubles; memory by streaming (benchmarks/reuse.cpp prints both).
// Nanoseconds a vector of eight doubles, or a scalar instruction.
struct Measured {
  double instruction = 0.35;
  std::map<OpId, double> apply{
      {OpId::Divide, 5.4}, {OpId::Sqrt, 8.1}, {OpId::Exp, 10}, {OpId::Sin, 28}, {OpId::Tanh, 46}};
  std::set<OpId> simple{OpId::Add,     OpId::Subtract, OpId::Multiply,
                        OpId::Maximum, OpId::Minimum,  OpId::Absolute};
  double loop_entry = 1.5;
  double cache_byte = 0.015, memory_byte = 0.035;
  double evaluation = 600, region = 400;  // to look a plan up; to launch one of its regions
};
inline constexpr double kCacheBytes = 1 << 20;
inline constexpr double kLanes = 8;

class CountedWork {
 public:
  CountedWork(const fusion::LoweredKernel& l, const std::vector<std::int64_t>& values)
      : l_(l), k_(l.kernel), values_(values), parent_(k_.loops.size(), -1) {
    for (std::size_t p = 0; p < k_.loops.size(); ++p)
      for (ir::Val v : k_.loops[p].body)
        if (is_loop(v)) parent_[k_.insts[v].index] = static_cast<std::int32_t>(p);
  }

  double nanoseconds() {
    instructions(0, 1, false);
    double moved = 0;
    for (const auto& [buffer, bytes] : traffic_) moved += bytes;
    return std::max(work_, moved) + m_.region;
  }

 private:
  bool is_loop(ir::Val v) const { return opens_loop(k_.insts[v]); }
  double extent(std::int32_t l) const {
    constexpr double kChunks = 64;
    const bool chunked = !l_.partials.empty();
    const auto grid = static_cast<double>(values_[l_.grid_extent]);
    if (l == 0) return chunked ? kChunks : grid;
    const ir::Loop& loop = k_.loops[l];
    if (loop.begin != ir::kNone) return grid / kChunks;
    const ir::Inst& end = k_.insts[loop.end];
    if (end.op == ir::Op::Const) return static_cast<double>(end.imm.as<std::int64_t>());
    if (end.op == ir::Op::Param) return static_cast<double>(values_[l_.params[end.index]]);
    throw std::logic_error("a loop's end is neither constant nor parameter");
  }
  double stride(const ir::Coeff& c) const {
    return static_cast<double>(c.param == ir::kNoParam ? c.value : values_[l_.params[c.param]]);
  }
  double stride_along(const ir::Access& a, std::int32_t loop) const {
    for (const ir::Term& t : a.terms)
      if (t.var == k_.loops[loop].var) return stride(t.stride);
    return 0;
  }

  double cost(const ir::Inst& i) const {
    if (i.op != ir::Op::Apply || m_.simple.count(i.fn)) return m_.instruction;
    const auto it = m_.apply.find(i.fn);
    if (it == m_.apply.end()) throw std::logic_error("an operation that was not measured");
    return it->second;
  }

  // `times`: how often the loop's body is entered; lanes count in vectors.
  void instructions(std::int32_t l, double entries, bool in_vector) {
    const ir::Loop& loop = k_.loops[l];
    const double trips = loop.lanes() ? std::ceil(extent(l) / kLanes) : extent(l);
    const double times = entries * trips;
    work_ += entries * m_.loop_entry +
             times * static_cast<double>(loop.reductions.size()) * m_.instruction;
    in_vector |= loop.lanes();
    for (ir::Val v : loop.body) {
      const ir::Inst& i = k_.insts[v];
      if (is_loop(v)) {
        instructions(i.index, times, in_vector);
        continue;
      }
      if (i.op == ir::Op::Const || i.op == ir::Op::Param || i.op == ir::Op::Arg) continue;
      double lanes = 1;
      if (i.access >= 0) {
        if (i.op == ir::Op::Load || i.op == ir::Op::Store) {
          memory(i, l);
          for (std::int32_t up = l; in_vector && up >= 0; up = parent_[up])
            if (k_.loops[up].lanes()) {
              const double along = std::abs(stride_along(k_.accesses[i.access], up));
              if (along != 0 && along != static_cast<double>(itemsize(i.type))) lanes = kLanes;
            }
        }
      }
      work_ += times * lanes * cost(i);
    }
  }

  // Bytes of one access that come through memory: what a loop touches again is only free when the
  // loops inside it leave it in the cache. Accesses of one buffer at shifted addresses are one
  // stream.
  void memory(const ir::Inst& i, std::int32_t l) {
    const ir::Access& a = k_.accesses[i.access];
    const auto item = static_cast<double>(itemsize(i.type));
    double touched = item, moved = item;
    for (; l >= 0; l = parent_[l]) {
      const double trips = extent(l);
      const bool walks = stride_along(a, l) != 0;
      if (walks || touched > kCacheBytes) moved *= trips;
      if (walks) touched *= trips;
    }
    const double byte = touched <= kCacheBytes ? m_.cache_byte : m_.memory_byte;
    double& stream = traffic_[i.index];
    stream = std::max(stream, moved * byte);
  }

  const Measured m_;
  const fusion::LoweredKernel& l_;
  const ir::Kernel& k_;
  const std::vector<std::int64_t>& values_;
  std::vector<std::int32_t> parent_;
  double work_ = 0;
  std::map<std::int32_t, double> traffic_;
};

// The whole plan, for the graph that `values` were bound to.
inline double counted_work(const fusion::Plan& plan, const std::vector<std::int64_t>& values) {
  double sum = Measured().evaluation;
  for (const fusion::Step& s : plan.steps) {
    if (s.kind != fusion::StepKind::Kernel) throw std::logic_error("not a loop nest");
    sum += CountedWork(s.lowered, values).nanoseconds();
  }
  return sum;
}

}  // namespace plait::test
