#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "ir/analysis.hpp"
#include "loop_facts.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

// Iterations of a tile, about; and the most memory for what one of them keeps.
constexpr double kTile = 256, kLocalBytes = 256 << 10;
constexpr double kForbidden = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLine = 64, kFewSets = 256;

class Tiling {
 public:
  Tiling(const LoweringInput& in, LoweredKernel& lk)
      : facts_(in, lk), cost_(in.target.machine->interpreter), k_(lk.kernel) {}

  void run() { decide(0); }

 private:
  // Cheapest cost of one run of loop `l`, with the choice recorded in the loops below it.
  double decide(std::int32_t l) {
    const double one_by_one = repeated(l, -1, 1, [&](std::int32_t c) { return decide(c); });
    const double tile = std::min(facts_.trips(l), kTile);
    const double once = block(l, l, tile, [&](std::int32_t c) { return run_of(c, l, tile); });
    double tiled = std::ceil(facts_.trips(l) / tile) * once + cost_.loop;
    for (const Reduction& r : k_.loops[l].reductions)
      tiled += facts_.trips(l) * (r.order == Order::Sequential ? cost_.ordered : element(r)) +
               cost_.fold * std::ceil(facts_.trips(l) / tile);
    const std::int32_t row = row_loop(k_, l);
    if (const double cost = row < 0 ? kForbidden : in_rows(l, row);
        cost < std::min(one_by_one, tiled)) {
      k_.loops[l].tile = false;
      k_.loops[row].tile = true;
      return cost;
    }
    if (!facts_.may_be_lanes(l) || !locals_fit(l) || one_by_one <= tiled) return one_by_one;
    facts_.for_each_loop(l, [&](std::int32_t c) { k_.loops[c].tile = false; });
    k_.loops[l].tile = true;
    return tiled;
  }

  // Tiles of several iterations of `l`, each a short row.
  double in_rows(std::int32_t l, std::int32_t row) const {
    const double lanes = facts_.trips(row), rows = facts_.trips(l), n = rows * lanes;
    if (lanes > kTile / 2 || !facts_.may_be_lanes(row)) return kForbidden;
    const auto inst = [&](double sum, Val v) {
      const Inst& i = k_.insts[v];
      if (opens_loop(i) || !is_call(i.op)) return sum;
      sum += cost_.instruction * std::ceil(n / kTile) + n * element(i, row);
      if (i.access >= 0 && static_cast<double>(facts_.stride(i, l)) !=
                               static_cast<double>(facts_.stride(i, row)) * lanes)
        sum += rows * cost_.row + n * cost_.moved;
      return sum;
    };
    const auto body = [&](std::int32_t at, double sum) {
      return std::accumulate(k_.loops[at].body.begin(), k_.loops[at].body.end(), sum, inst);
    };
    return body(l, body(row, cost_.loop));
  }

  // A loop whose iterations follow each other, `n` lanes of the tile of loop `tile` side by side.
  template <class Inner>
  double repeated(std::int32_t l, std::int32_t tile, double n, Inner&& inner) const {
    double iteration = block(l, tile, n, inner);
    for (const Reduction& r : k_.loops[l].reductions) iteration += cost_.fold + n * element(r);
    return facts_.trips(l) * iteration + cost_.loop;
  }
  double run_of(std::int32_t l, std::int32_t tile, double n) const {
    return repeated(l, tile, n, [&](std::int32_t c) { return run_of(c, tile, n); });
  }

  template <class Inner>
  double block(std::int32_t l, std::int32_t tile, double n, Inner&& inner) const {
    double cost = 0;
    for (Val v : k_.loops[l].body) {
      const Inst& i = k_.insts[v];
      if (opens_loop(i))
        cost += inner(i.index);
      else if (is_call(i.op))
        cost += cost_.instruction + n * element(i, tile);
    }
    return cost;
  }

  // The others name a value that is there.
  static bool is_call(Op op) {
    return op != Op::Const && op != Op::Param && op != Op::Arg && op != Op::Result &&
           op != Op::Carried;
  }
  double element(const Inst& i, std::int32_t tile) const {
    switch (i.op) {
      case Op::Apply:
        return cost_.apply(op_info(i.fn).cost);
      case Op::Load:
      case Op::Gather:
      case Op::Store: {
        if (tile < 0) return 0;
        if (i.op == Op::Gather) return facts_.index_moves(i, tile) ? cost_.far : cost_.copied;
        const std::int64_t stride = std::abs(facts_.stride(i, tile));
        if (stride == 0 || stride == static_cast<std::int64_t>(itemsize(i.type))) return 0;
        return stride < kLine ? cost_.copied : stride % kFewSets == 0 ? cost_.aliased : cost_.far;
      }
      case Op::Scatter:
        return cost_.copied;
      case Op::LoadLocal:
      case Op::StoreLocal:
        return tile >= 0 && std::abs(facts_.stride(i, tile)) > 1 ? cost_.far : cost_.element;
      default:
        return cost_.element;
    }
  }
  double element(const Reduction& r) const {
    if (is_arg(r.kind)) return cost_.arg;
    return r.order == Order::Pairwise ? cost_.tree : cost_.folded;
  }

  // Every iteration of a tile has its own copy of what is declared in the loop.
  bool locals_fit(std::int32_t l) const {
    double bytes = 0;
    facts_.for_each_loop(l, [&](std::int32_t c) {
      for (const Local& local : k_.locals)
        if (local.home == c)
          bytes += static_cast<double>(facts_.value(local.count)) *
                   static_cast<double>(itemsize(local.dtype)) * kTile;
    });
    return bytes <= kLocalBytes;
  }

  const LoopFacts facts_;
  const InterpreterCosts& cost_;
  Kernel& k_;
};

}  // namespace

void tile(const LoweringInput& in, LoweredKernel& k) { Tiling(in, k).run(); }

}  // namespace plait::fusion
