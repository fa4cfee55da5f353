#include "roll.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "fusion/lower/reach.hpp"
#include "fusion/passes/passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

constexpr std::size_t kLeastSteps = 4;
// Elements of a block: of each array, a fraction of the nearest cache.
constexpr std::int64_t kBlock = 512;

class Roll {
 public:
  Roll(const PlanGraph& g, Plan& p, Facts& facts, std::span<const std::int32_t> owners)
      : g_(g), ex_(p.exprs), facts_(facts), owners_(owners), steps_(p.steps), loops_(p.loops) {}

  void run() {
    std::vector<Step> steps;
    std::vector<StepLoop> loops;
    std::size_t at = 0;
    const auto take = [&](std::size_t count) {
      for (const std::size_t end = at + count; at < end; ++at)
        steps.push_back(std::move(steps_[at]));
    };
    for (StepLoop& l : loops_) {
      take(l.first - at);
      const std::size_t first = steps.size(), end = l.end();
      bool rolled = false;
      for (const bool rewritten = rewrites(l); rewritten && at < end;) {
        find(at, end);
        if (count_ < kLeastSteps) {
          take(1);
        } else if (!independent()) {
          take(count_);
        } else {
          rely();
          roll();
          take(1);
          at += count_ - 1;
          rolled = true;
        }
      }
      take(end - at);
      if (rolled) continue;  // it is no loop of steps any more
      l.first = first;
      loops.push_back(std::move(l));
    }
    take(steps_.size() - at);
    steps_ = std::move(steps);
    loops_ = std::move(loops);
  }

 private:
  std::int32_t owner(std::int32_t node) const { return owners_[static_cast<std::size_t>(node)]; }
  Step& step(std::size_t r) { return steps_[first_ + r]; }
  LoweredKernel& kernel() { return step(0).lowered; }

  // Whether each step writes to the version that the one before makes, in its memory.
  bool rewrites(const StepLoop& l) const {
    const Step &a = steps_[l.first], &b = steps_[l.first + 1];
    return l.period == 1 && a.kind == StepKind::Kernel && a.region.over_elements() &&
           a.region.roots.size() == 1 && a.update == UpdateMode::InPlace &&
           a.lowered.partials.empty() && b.results[0].target->old == a.region.roots[0];
  }

  // The steps from that one on that write as much further on each, to versions of which nobody else
  // asks for any but the last.
  void find(std::size_t first, std::size_t end) {
    first_ = first;
    count_ = 1;
    while (first_ + count_ < end && !step(count_ - 1).results[0].kept && goes_on()) ++count_;
  }
  bool goes_on() {
    const LoweredKernel &a = kernel(), &b = step(count_).lowered;
    if (now(a.grid_extent) != now(b.grid_extent)) return false;
    for (std::size_t i = 0; i < a.buffers.size(); ++i)
      if (owner(a.buffers[i].index) != owner(b.buffers[i].index)) return false;
    for (std::size_t i = 0; i < a.scalars.size(); ++i)
      if (a.scalars[i] != b.scalars[i] && !same_value(a.scalars[i], b.scalars[i])) return false;
    if (count_ == 1) further_.resize(a.params.size());
    for (std::size_t i = 0; i < a.params.size(); ++i) {
      if (count_ == 1) further_[i] = now(b.params[i]) - now(a.params[i]);
      if (now(b.params[i]) != now(a.params[i]) + static_cast<std::int64_t>(count_) * further_[i])
        return false;
    }
    return true;
  }
  std::int64_t now(ExprId e) { return facts_.now(e); }
  // Of two words a Field::Value is no identity.
  bool same_value(std::int32_t a, std::int32_t b) const {
    return itemsize(g_[a].node->dtype) <= sizeof(std::int64_t) &&
           g_.field({a, Field::Value}) == g_.field({b, Field::Value});
  }
  ExprId value(std::int32_t scalar) { return ex_.source({scalar, Field::Value}); }

  // How much further on an offset is in the next step.
  ExprId further(const Coeff& c) {
    if (c.param == kNoParam || further_[static_cast<std::size_t>(c.param)] == 0) return ex_.zero();
    const auto i = static_cast<std::size_t>(c.param);
    return minus(ex_, step(1).lowered.params[i], kernel().params[i]);
  }
  // Whether an iteration of the grid reads of the steps before only what it has stored there
  // itself.
  bool independent() {
    const LoweredKernel& l = kernel();
    const Kernel& k = l.kernel;
    const std::int32_t root = step(0).region.roots[0];
    // Offsets alone step.
    const auto steps = [&](const Coeff& c) { return further(c) != ex_.zero(); };
    for (const Access& a : k.accesses)
      for (const Term& t : a.terms)
        if (steps(t.stride)) return false;
    for (const Local& local : k.locals)
      if (steps(local.count)) return false;
    const Inst* store = nullptr;
    for (const Inst& i : k.insts) {
      if (i.op == Op::Param && steps({0, i.index})) return false;
      if (i.op == Op::Scatter || i.op == Op::Fragment || (i.op == Op::Store && store)) return false;
      if (i.op == Op::Store) store = &i;
    }
    const Access& to = access(*store);
    std::optional<Reach> all = reach(ex_, l, *store);
    if (!all) return false;
    const ExprId row = further(to.offset);
    std::int64_t rounds = static_cast<std::int64_t>(count_);
    for (const Inst& i : k.insts) {
      if ((i.op != Op::Load && i.op != Op::Gather) ||
          owner(l.buffers[static_cast<std::size_t>(i.index)].index) != owner(root))
        continue;
      if (i.op == Op::Gather) return false;
      const Access& from = access(i);
      if (same(from, to)) continue;
      if (row == ex_.zero() || !steps(from.offset) || !same(Access{to.offset, from.terms}, to) ||
          !facts_.equal(further(from.offset), row))
        return false;
      // So many rows from the one that is written.
      const ExprId away = minus(ex_, expr_of(ex_, l, from.offset), expr_of(ex_, l, to.offset));
      const std::int64_t rows = now(away) / now(row);
      if (!facts_.equal(away, ex_.mul(row, ex_.constant(rows)))) return false;
      rounds = std::max(rounds, static_cast<std::int64_t>(count_) + std::abs(rows));
    }
    if (row != ex_.zero()) all->axes.push_back({row, ex_.constant(rounds)});
    return injective(ex_, facts_, *all);
  }
  const Access& access(const Inst& i) {
    return kernel().kernel.accesses[static_cast<std::size_t>(i.access)];
  }

  // What was found of the numbers of this graph.
  void rely() {
    const LoweredKernel& a = kernel();
    for (std::size_t r = 1; r < count_; ++r) {
      const LoweredKernel& b = step(r).lowered;
      facts_.equal(a.grid_extent, b.grid_extent);
      for (std::size_t i = 0; i < a.scalars.size(); ++i)
        if (a.scalars[i] != b.scalars[i]) facts_.equal(value(a.scalars[i]), value(b.scalars[i]));
      for (std::size_t i = 0; i < a.params.size(); ++i)
        facts_.equal(b.params[i],
                     ex_.add(a.params[i], ex_.mul(ex_.constant(static_cast<std::int64_t>(r)),
                                                  further({0, static_cast<std::int32_t>(i)}))));
    }
  }

  void roll() {
    Step &s = step(0), &last = step(count_ - 1);
    const std::int32_t root = s.region.roots[0];
    const ExprId row = further(access(store()).offset), rounds = number_of_rounds();
    add_loop(rounds);
    LoweredKernel& l = s.lowered;
    for (BufferSource& b : l.buffers)
      if (b.index == root) b.index = last.region.roots[0];
    s.region.roots = last.region.roots;
    s.region_class = kNoClass;
    ResultSpec& result = s.results[0];
    result.kept = last.results[0].kept;
    if (row != ex_.zero()) {
      result.target->extents.insert(result.target->extents.begin(), rounds);
      result.target->byte_strides.insert(result.target->byte_strides.begin(), row);
    }
    for (std::size_t r = 1; r < count_; ++r) {
      l.bytes += step(r).lowered.bytes;
      l.work += step(r).lowered.work;
    }
    l.rounds = static_cast<std::int64_t>(count_);
  }
  const Inst& store() {
    const auto& insts = kernel().kernel.insts;
    return *std::find_if(insts.begin(), insts.end(),
                         [](const Inst& i) { return i.op == Op::Store; });
  }
  ExprId number_of_rounds() { return ex_.constant(static_cast<std::int64_t>(count_)); }

  // grid { body } becomes grid over blocks { loop over the steps { loop over the block { body } }
  // }.
  void add_loop(ExprId rounds) {
    LoweredKernel& l = kernel();
    Kernel& k = l.kernel;
    std::vector<Coeff> strides;  // of the steps, of each access
    for (const Access& a : k.accesses) {
      const ExprId by = further(a.offset);
      strides.push_back(by == ex_.zero() ? Coeff{} : Coeff{0, param(by)});
    }
    const std::int64_t block = k.loops[0].lanes() ? kBlock : 1;
    const Coeff extent{0, param(l.grid_extent)}, count{0, param(rounds)};

    const Loop grid = std::exchange(k.loops[0], Loop{.scope = Scope::Grid});
    k.loops[0].var = append(k, Inst{.op = Op::Var, .index = 0});
    std::vector<Val>& numbers = k.loops[0].body;
    std::vector<Val> body;
    for (const Val v : grid.body) {
      const Op op = k.insts[v].op;
      (op == Op::Const || op == Op::Param || op == Op::Arg ? numbers : body).push_back(v);
    }
    const auto put = [&](const Inst& i) {
      const Val v = append(k, i);
      k.loops[0].body.push_back(v);
      return v;
    };
    const auto integer = [&](OpId fn, Val a, Val b) {
      return put({.op = Op::Apply, .type = DType::Int64, .fn = fn, .operands = {a, b, kNone}});
    };
    const Val size = put({.op = Op::Const, .imm = scalar_int(block)});
    const Val begin = integer(OpId::Multiply, k.loops[0].var, size);
    const Val whole = put({.op = Op::Param, .index = extent.param});
    const Val end = integer(OpId::Minimum, integer(OpId::Add, begin, size), whole);
    const std::int32_t over_steps = append_loop(k, put({.op = Op::Param, .index = count.param}));
    const std::int32_t over_block = append_loop(k, end);
    Loop& inner = k.loops[static_cast<std::size_t>(over_block)];
    const Val var = inner.var;
    inner = grid;
    inner.var = var;
    if (!inner.lanes()) inner.scope = Scope::Serial;
    inner.begin = begin;
    inner.end = end;
    inner.body = std::move(body);
    replace_uses(k, over_block, grid.var, var);
    for (Local& local : k.locals)
      if (local.home == 0) local.home = over_block;
    put({.op = Op::For, .index = over_steps});
    k.loops[static_cast<std::size_t>(over_steps)].body = {
        append(k, Inst{.op = Op::For, .index = over_block})};
    for (std::size_t a = 0; a < strides.size(); ++a)
      if (strides[a].param != kNoParam)
        k.accesses[a].terms.push_back(
            {k.loops[static_cast<std::size_t>(over_steps)].var, strides[a]});
    k.params = static_cast<std::int32_t>(l.params.size());
    compact(k);
    verify(k);
    l.grid_extent = ex_.blocks(l.grid_extent, block);
    l.planned_grid = std::max<std::int64_t>(1, now(l.grid_extent));
  }
  std::int32_t param(ExprId e) {
    std::vector<ExprId>& params = kernel().params;
    const auto at = std::find(params.begin(), params.end(), e);
    const auto i = static_cast<std::int32_t>(at - params.begin());
    if (at == params.end()) params.push_back(e);
    return i;
  }

  const PlanGraph& g_;
  Exprs& ex_;
  Facts& facts_;
  const std::span<const std::int32_t> owners_;
  std::vector<Step>& steps_;
  std::vector<StepLoop>& loops_;
  // The steps that are looked at: they go on as the first one, each parameter by as much.
  std::size_t first_ = 0, count_ = 1;
  std::vector<std::int64_t> further_;
};

}  // namespace

void roll_loops(const PlanGraph& g, Plan& p, Facts& facts, std::span<const std::int32_t> owners) {
  Roll(g, p, facts, owners).run();
}

}  // namespace plait::fusion
