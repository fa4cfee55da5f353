#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "ir/analysis.hpp"
#include "loop_facts.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

// Reductions of rows far apart: bytes between them, instructions, and registers side by side.
constexpr std::int64_t kFarRow = 256;
constexpr int kSmallBody = 24;
// A long walk over rows that are read as they lie in memory: bytes of a row, rows. Eight registers
// gain 15 % where rows lie a power of two of bytes apart, and lose 20 % elsewhere.
constexpr std::int64_t kNearRow = 512;
constexpr double kLongWalk = 1024;
constexpr double kRowRegisters = 4;
// Iterations of a loop, and bytes that loops around it read on, that are a stream from memory.
constexpr double kLongLoop = 2048, kLongStream = 64 << 10;
// Bytes of a part of a row, and rows from one that is packed to the one that is prefetched.
constexpr double kLeastPart = 64;
constexpr int kRowsAhead = 16;
// Instructions: of a body that is not repeated for a second register, of an exponential or
// logarithm, and how many of one iteration the processor holds while the next is to overlap it.
constexpr int kLongBody = 200, kCallInsts = 20, kLookAhead = 120;
// Instructions of the longest body that is repeated because its values wait, and registers for what
// such bodies hold.
constexpr int kLongestBody = 600, kSideBySide = 16;
constexpr double kAlignedTrips = 128;  // pay for an incomplete first step
class Vectorize {
 public:
  Vectorize(const LoweringInput& in, LoweredKernel& lk)
      : facts_(in, lk), cost_(in.target.machine->code), k_(lk.kernel) {
    for (const Loop& l : k_.loops) before_.push_back(l.scope);
    lanes_ = 16;
    for_each_inst(k_, 0, [&](Val v, std::int32_t) {
      const Inst& i = k_.insts[v];
      if (i.op == Op::Load || i.op == Op::Gather || i.op == Op::Apply)
        if (i.type == DType::Float64 || i.type == DType::Complex64 || i.type == DType::Complex128)
          lanes_ = 8;
    });
  }

  void run() {
    decide(0);
    facts_.for_each_loop(0, [&](std::int32_t l) {
      if (k_.loops[l].lanes()) tune(l);
    });
  }

 private:
  // Cheapest cost of one run of loop `l`, with the choice recorded in the loops below it.
  double decide(std::int32_t l) {
    double scalar = 0;
    std::vector<std::int32_t> children;
    for (Val v : k_.loops[l].body) {
      const Inst& i = k_.insts[v];
      if (opens_loop(i)) {
        children.push_back(i.index);
        scalar += decide(i.index);
      } else {
        scalar += scalar_cost(i);
      }
    }
    // Few iterations whose number is known are no loop any more.
    const bool unrolled =
        l > 0 && facts_.trips(l) <= lanes_ && k_.insts[k_.loops[l].end].op == Op::Const;
    const double loop = unrolled ? 0 : cost_.loop;
    scalar = std::max(scalar, latency(l)) * facts_.trips(l) + loop;
    const double ordered = scans(k_, l) ? (latency(l) + cost_.take_lane) * facts_.trips(l) : 0;
    const double vec = std::ceil(facts_.trips(l) / lanes_) * nest_cost(l, l) + ordered + loop +
                       cost_.fold_lanes * static_cast<double>(k_.loops[l].reductions.size()) +
                       (unrolled || std::fmod(facts_.trips(l), lanes_) == 0 ? 0 : cost_.tail);
    if (!facts_.may_be_lanes(l) || scalar <= vec ||
        (in_order(l) && scalar <= latency(l) * facts_.trips(l) + vec))
      return scalar;
    facts_.for_each_loop(l, [&](std::int32_t c) { k_.loops[c].scope = before_[c]; });
    k_.loops[l].scope = Scope::Lanes;
    return vec;
  }

  double nest_cost(std::int32_t l, std::int32_t vector) const {
    double c = 0;
    // Registers side by side wait at the same time.
    const double side = facts_.trips(vector) > lanes_ ? 2 : 1;
    for (Val v : k_.loops[l].body) {
      const Inst& i = k_.insts[v];
      if (opens_loop(i))
        c += facts_.trips(i.index) * std::max(nest_cost(i.index, vector), latency(i.index) / side) +
             cost_.loop / 2;
      else
        c += lane_cost(i, l, vector);
    }
    return c + cost_.folded * static_cast<double>(k_.loops[l].reductions.size());
  }

  double latency(std::int32_t l) const {
    double cycles = 0;
    for (const Reduction& r : k_.loops[l].reductions) {
      // NumPy's tree has accumulators side by side.
      const double side = r.order == Order::Pairwise ? 8 : 1;
      cycles = std::max(cycles, (is_arg(r.kind) ? cost_.arg_wait : cost_.fold_wait) / side);
    }
    return cycles;
  }
  // Lanes do not help a fold that has an order.
  bool in_order(std::int32_t l) const {
    const auto& all = k_.loops[l].reductions;
    return std::any_of(all.begin(), all.end(),
                       [](const Reduction& r) { return r.order == Order::Sequential; });
  }

  double scalar_cost(const Inst& i) const {
    return i.op == Op::Apply     ? cost_.apply(op_info(i.fn).cost)
           : addresses_buffer(i) ? cost_.access
                                 : cost_.other;
  }

  double lane_cost(const Inst& i, std::int32_t at, std::int32_t vector) const {
    if (i.op == Op::Apply) return cost_.apply(op_info(i.fn).cost);
    if (i.op == Op::LoadLocal || i.op == Op::StoreLocal)
      return std::abs(facts_.stride(i, vector)) <= 1 ? cost_.other : lanes_ * cost_.lane_apart;
    if (i.op == Op::Scatter && facts_.index_moves(i, vector)) return lanes_ * cost_.lane_scattered;
    if (!addresses_buffer(i)) return cost_.other;
    if (i.op == Op::Gather && facts_.index_moves(i, vector))
      return lanes_ * cost_.lane_apart + cost_.access;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    const std::int64_t stride = std::abs(facts_.stride(i, vector));
    const double whole = i.op == Op::Store     ? cost_.store
                         : i.op == Op::Scatter ? cost_.scatter
                                               : cost_.access;
    if (stride == 0 || stride == item) return whole;
    if (stride <= 4 * item) return cost_.strided * whole;
    // Gathered lane by lane; a repeating loop in between pays only once (pack_loads).
    double gather = lanes_ * cost_.lane_apart * whole;
    if (i.op == Op::Load)
      for (std::int32_t l = at; l != vector; l = facts_.parent(l))
        if (!facts_.depends(i, l)) gather /= facts_.trips(l);
    return gather + cost_.access;
  }

  // Loops inside walk over far rows, the lanes along them: the more of a row is read at a time, the
  // better.
  bool walks_rows(std::int32_t l) const {
    bool rows = false, others = false;
    for_each_inst(k_, l, [&](Val v, std::int32_t at) {
      const Inst& i = k_.insts[v];
      if (i.op != Op::Load || facts_.stride(i, l) == 0) return;
      const bool unit = facts_.stride(i, l) == static_cast<std::int64_t>(itemsize(i.type));
      (unit && at != l && std::abs(facts_.stride(i, at)) >= kFarRow ? rows : others) = true;
    });
    return rows && !others;
  }

  // A loop inside walks over many short rows, which the lanes read whole: a stream.
  bool streams_rows(std::int32_t l) const {
    bool streams = false;
    for_each_inst(k_, l, [&](Val v, std::int32_t at) {
      const Inst& i = k_.insts[v];
      if (i.op != Op::Load || at == l) return;
      const std::int64_t row = std::abs(facts_.stride(i, at));
      streams |= facts_.stride(i, l) == static_cast<std::int64_t>(itemsize(i.type)) && row > 0 &&
                 row <= kNearRow && facts_.trips(at) >= kLongWalk;
    });
    return streams;
  }

  // Bytes that the lanes and the loops around theirs read one after another.
  double bytes_in_a_row(const Inst& i, std::int32_t l) const {
    double bytes = static_cast<double>(itemsize(i.type));
    for (;; l = facts_.parent(l)) {
      const double trips = facts_.trips(l);
      if (trips > 1 && static_cast<double>(facts_.stride(i, l)) != bytes) return bytes;
      bytes *= trips;
      if (l == 0) return bytes;
    }
  }
  // Short rows that the lanes run along follow each other.
  bool reads_on(std::int32_t l) const {
    return std::ranges::any_of(k_.loops[l].body, [&](Val v) {
      const Inst& i = k_.insts[v];
      return i.op == Op::Load && bytes_in_a_row(i, l) >= kLongStream;
    });
  }

  // Parts of rows that lie apart are packed: a stream that no row goes on with, but the next rows.
  bool packs_parts(std::int32_t l) const {
    bool packs = false, apart = false;
    for (const Val v : k_.loops[l].body) {
      const Inst& i = k_.insts[v];
      packs |= i.op == Op::StoreLocal;
      if (i.op != Op::Load || facts_.stride(i, l) != static_cast<std::int64_t>(itemsize(i.type)))
        continue;
      std::int32_t around = facts_.parent(l);
      while (around > 0 && facts_.stride(i, around) == 0) around = facts_.parent(around);
      const auto part = static_cast<double>(itemsize(i.type)) * facts_.trips(l);
      apart |= around > 0 && facts_.trips(around) > 1 && part >= kLeastPart &&
               static_cast<double>(std::abs(facts_.stride(i, around))) > part;
    }
    return packs && apart;
  }

  // Whether an iteration reads the same part of several rows: those of the next one are prefetched
  // then, which the cache holds beside them.
  bool reads_several_rows(std::int32_t l) const {
    std::map<std::int32_t, int> rows;
    for (const Val v : k_.loops[l].body) {
      const Inst& i = k_.insts[v];
      if (i.op == Op::Load && facts_.stride(i, l) == static_cast<std::int64_t>(itemsize(i.type)) &&
          ++rows[i.index] > 1 && facts_.stride(i, facts_.parent(l)) != 0)
        return true;
    }
    return false;
  }

  // Registers side by side for a body whose values mostly wait for each other, as far as they stay
  // in registers.
  int while_waiting(std::int32_t l) const {
    const std::vector<Val>& body = k_.loops[l].body;
    std::map<Val, std::pair<int, std::size_t>> values;  // how many it waits for; its last reader
    int longest = 0;
    for (std::size_t at = 0; at < body.size(); ++at) {
      const Inst& i = k_.insts[body[at]];
      int behind = 0;
      for (const Val in : i.operands)
        if (const auto v = values.find(in); v != values.end()) {
          behind = std::max(behind, v->second.first);
          v->second.second = at;
        }
      values[body[at]] = {behind + (i.op == Op::Apply), at};
      longest = std::max(longest, behind + (i.op == Op::Apply));
    }
    std::vector<int> ends(body.size() + 1);
    int live = 0, most = 1;
    for (std::size_t at = 0; at < body.size(); ++at) {
      const Inst& i = k_.insts[body[at]];
      if (i.op != Op::Apply && !addresses_buffer(i)) continue;  // the same for all of them
      ++ends[values[body[at]].second];
      live += 1 - ends[at];  // in the register of an operand that it is the last to read
      most = std::max(most, live);
    }
    const double wait = longest * cost_.fold_wait / static_cast<double>(body.size());
    return std::clamp(static_cast<int>(std::ceil(wait)), 1, std::max(1, kSideBySide / most));
  }

  void tune(std::int32_t l) {
    Loop& loop = k_.loops[l];
    int insts = 0, calls = 0;
    bool inner = false;
    for_each_inst(k_, l, [&](Val v, std::int32_t) {
      const Inst& i = k_.insts[v];
      ++insts;
      inner |= i.op == Op::Reduce;
      calls += i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive;
      if (i.op == Op::Store && i.nontemporal &&
          facts_.stride(i, l) != static_cast<std::int64_t>(itemsize(i.type)))
        k_.insts[v].nontemporal = false;
    });
    // A second register fills the processor's pipelines while the first waits. Short bodies with
    // functions in them need none: the processor looks ahead to their next iteration.
    const bool far = !inner && insts + calls * kCallInsts > kLookAhead;
    const bool single = insts > kLongBody || (calls > 0 && !far) || facts_.trips(l) < 2 * lanes_;
    loop.unroll = single ? 1 : 2;
    const bool flat = insts == static_cast<int>(loop.body.size());
    if (insts > kLongBody && insts <= kLongestBody && flat && calls == 0 &&
        facts_.trips(l) >= 2 * lanes_)
      loop.unroll = while_waiting(l);
    if (!loop.reductions.empty() && !inner && calls == 0) loop.unroll = 4;
    if (loop.reductions.empty() && insts <= kSmallBody && calls == 0 && walks_rows(l))
      loop.unroll = static_cast<int>(std::clamp(facts_.trips(l) / lanes_, 1.0, kRowRegisters));
    // A load or store that is not aligned takes two lines of the cache.
    loop.aligned = flat && !far && calls == 0 && facts_.trips(l) >= kAlignedTrips;
    loop.prefetch = l == 0 || facts_.trips(l) >= kLongLoop || streams_rows(l) || reads_on(l);
    if (!loop.prefetch && packs_parts(l)) {
      loop.prefetch = true;
      loop.rows_ahead = reads_several_rows(l) ? 1 : kRowsAhead;
    }
  }

  const LoopFacts facts_;
  const CodeCosts& cost_;
  Kernel& k_;
  std::vector<Scope> before_;  // of each loop
  double lanes_;
};

}  // namespace

void vectorize(const LoweringInput& in, LoweredKernel& k) { Vectorize(in, k).run(); }

}  // namespace plait::fusion
