// Memory that threads share, and who comes to it when.
#include <algorithm>
#include <optional>

#include "analysis.hpp"
#include "edit.hpp"
#include "plait/error.hpp"
#include "verify.hpp"

namespace plait::ir {
namespace {

[[noreturn]] void fail_local(const Kernel& k, std::size_t local, const std::string& what) {
  throw InternalError("loop IR " + k.name + ": local " + std::to_string(local) + ": " + what);
}

bool is_power_of_two(std::int32_t n) { return n > 0 && (n & (n - 1)) == 0; }

void verify_layout(const Kernel& k, std::size_t n) {
  const Local& local = k.locals[n];
  const Layout& l = local.layout;
  if (l.columns < 0 || l.beside < 0 || l.panel < 1 || !is_power_of_two(l.swizzle))
    fail_local(k, n, "has no such layout");
  if (l.columns == 0 && l != Layout{}) fail_local(k, n, "has a layout and no rows");
  if (l.panel > 1 && l.swizzle > 1) fail_local(k, n, "has panels that are swizzled");
  const std::int64_t swizzled =
      l.swizzle * kFragmentWord / static_cast<std::int64_t>(itemsize(local.dtype));
  if (l.swizzle > 1 && (swizzled == 0 || l.columns % swizzled != 0))
    fail_local(k, n, "has swizzled words beyond its rows");
}

void verify_local(const Kernel& k, const Analysis& a, std::size_t n) {
  const Local& l = k.locals[n];
  verify_layout(k, n);
  if (k.sequential && l.space != Space::Cache && l.space != Space::Register)
    fail_local(k, n, "is no thread's own in a sequential kernel");
  if (l.space == Space::Register && l.count.param != kNoParam)
    fail_local(k, n, "is in registers, and its extent is not known");
  if (l.stages < 1) fail_local(k, n, "has no stage");
  if (l.stages == 1) {
    if (!shares(l.space)) return;
  } else if (l.space != Space::Shared || l.count.param != kNoParam) {
    fail_local(k, n, "has stages, and is not shared or of an extent that is not known");
  }
  for (std::int32_t at = l.home; at >= 0; at = a.parent[at])
    if (shares(k.loops[at].scope) || k.loops[at].lanes())
      fail_local(k, n, "is shared and belongs to a thread");
}

// Number `offset` from the value `base` on (kNone: from 0 on). Stages are compared by it.
struct Number {
  Val base = kNone;
  std::int64_t offset = 0;
  bool known = true;
};

enum class ExecScope : std::uint8_t {
  Thread,
  Team,
  Copy
};  // Team: all threads of a block together

// Something that an instruction does to a local that threads share, after which there was no
// barrier yet.
struct Touch {
  Val who;
  std::int32_t local, access;
  bool writes;
  ExecScope by;
  std::int32_t loop;  // the innermost of a block or a warp around it; -1: none
  Number stage;
  std::vector<std::int32_t> carried;  // loops that have begun another iteration since
};

class Sharing {
 public:
  Sharing(const Kernel& k, const Analysis& a) : k_(k), a_(a) {
    for (const Local& l : k.locals) stages_ = std::max(stages_, l.stages);
  }
  void check() { block(0); }

 private:
  const Kernel& k_;
  const Analysis& a_;
  std::int32_t stages_ = 1;
  std::vector<Touch> since_;

  Number number(Val v) const {
    if (v == kNone) return {};
    const Inst& i = k_.insts[v];
    if (i.op == Op::Const) return {kNone, i.imm.as<std::int64_t>()};
    if (i.op == Op::Apply && (i.fn == OpId::Add || i.fn == OpId::Subtract))
      for (const int c : {1, 0})
        if (const Inst& by = k_.insts[i.operands[c]]; by.op == Op::Const) {
          const Number n = number(i.operands[1 - c]);
          const auto step = by.imm.as<std::int64_t>();
          if (i.fn == OpId::Add) return {n.base, n.offset + step};
          if (c == 1) return {n.base, n.offset - step};
        }
    return {v, 0};
  }
  std::int32_t team_loop(std::int32_t l) const {
    while (l >= 0 && !shares(k_.loops[l].scope)) l = a_.parent[l];
    return l;
  }
  bool inside(Val v, std::int32_t loop) const {
    std::int32_t l = a_.block[v];
    while (l >= 0 && l != loop) l = a_.parent[l];
    return l == loop;
  }

  void block(std::int32_t loop) {
    for (const Val v : k_.loops[loop].body) inst(v);
  }
  void inst(Val v) {
    const Inst& i = k_.insts[v];
    switch (i.op) {
      case Op::LoadLocal:
        return touch(
            {v, i.index, i.access, false, ExecScope::Thread, 0, number(i.operands[0]), {}});
      case Op::StoreLocal:
        return touch({v, i.index, i.access, true, ExecScope::Thread, 0, number(i.operands[1]), {}});
      case Op::Fragment: {
        const Fragment& p = k_.fragments[i.index];
        touch({v, p.a.local, p.a.access, false, ExecScope::Team, 0, number(p.a.stage), {}});
        touch({v, p.b.local, p.b.access, false, ExecScope::Team, 0, number(p.b.stage), {}});
        return touch({v, p.local, p.access, true, ExecScope::Team, 0, {}, {}});
      }
      case Op::AsyncCopy: {
        const Copy& c = k_.copies[i.index];
        return touch({v, c.local, c.to, true, ExecScope::Copy, 0, number(i.operands[2]), {}});
      }
      case Op::Barrier:
        return arrive(team_loop(a_.block[v]), i.operands[0]);
      case Op::For:
      case Op::Reduce:
        return loop(i.index);
      default:
        return;
    }
  }
  // `warps`: the loop in which the threads of a warp wait for each other; -1: those of the block
  // do.
  void arrive(std::int32_t warps, Val stage) {
    const Number n = number(stage);
    std::erase_if(since_, [&](const Touch& t) {
      if (warps >= 0 && (!inside(t.who, warps) || carried_by(t, warps) || carried_around(t, warps)))
        return false;
      return t.by != ExecScope::Copy || stage == kNone ||
             (t.stage.known && t.stage.base == n.base && t.stage.offset <= n.offset);
    });
  }
  // As often as what an iteration leaves may meet what a later one does.
  void loop(std::int32_t l) {
    const bool counts = counts_stages(l);
    if (counts) enter(l);
    const std::int32_t rounds = 1 + stages_;
    for (std::int32_t n = 0; n < rounds; ++n) {
      if (n > 0) turn(l);
      block(l);
    }
    if (counts) exit(l);
    std::erase_if(since_, [&](const Touch& t) { return k_.locals[t.local].home == l; });
  }
  // Whether numbers of stages count from the loop's variable.
  bool counts_stages(std::int32_t l) const {
    const Val var = k_.loops[l].var;
    bool any = false;
    const auto is_of = [&](Val v) { any |= v != kNone && number(v).base == var; };
    for_each_inst(k_, l, [&](Val v, std::int32_t) {
      const Inst& i = k_.insts[v];
      if (i.op == Op::LoadLocal || i.op == Op::Barrier) is_of(i.operands[0]);
      if (i.op == Op::AsyncCopy) is_of(i.operands[2]);
      if (i.op == Op::Fragment) {
        is_of(k_.fragments[i.index].a.stage);
        is_of(k_.fragments[i.index].b.stage);
      }
    });
    return any;
  }
  std::optional<std::int64_t> constant(Val v) const {
    if (v == kNone) return 0;
    if (k_.insts[v].op != Op::Const) return std::nullopt;
    return k_.insts[v].imm.as<std::int64_t>();
  }
  // In the first iteration the variable is what the loop begins with.
  void enter(std::int32_t l) {
    const Loop& loop = k_.loops[l];
    const std::optional<std::int64_t> begin = constant(loop.begin);
    for (Touch& t : since_)
      if (begin && t.stage.base == kNone)
        t.stage = {loop.var, t.stage.offset - *begin, t.stage.known};
  }
  void exit(std::int32_t l) {
    const Loop& loop = k_.loops[l];
    const std::optional<std::int64_t> end = loop.end == kNone ? std::nullopt : constant(loop.end);
    for (Touch& t : since_)
      if (t.stage.base == loop.var)
        t.stage = {kNone, end ? t.stage.offset + *end - 1 : 0, t.stage.known && end.has_value()};
  }
  // In the next iteration the variable is one more, and what else the loop computes is different.
  void turn(std::int32_t l) {
    const Val var = k_.loops[l].var;
    std::erase_if(since_, [&](const Touch& t) { return k_.locals[t.local].home == l; });
    for (Touch& t : since_) {
      t.carried.push_back(l);
      if (t.stage.base == var)
        --t.stage.offset;
      else if (t.stage.base != kNone && inside(t.stage.base, l))
        t.stage.known = false;
    }
  }

  void touch(Touch t) {
    if (!shares(k_.locals[t.local].space)) return;
    t.loop = team_loop(a_.block[t.who]);
    for (const Touch& before : since_)
      if (conflict(before, t)) {
        if (before.by == ExecScope::Copy)
          fail(k_, t.who,
               t.writes ? "writes where " + describe(k_, before.who) + " still copies to"
                        : "reads a stage before it has arrived");
        fail(k_, t.who,
             "no barrier stands between it and what " + describe(k_, before.who) +
                 (before.writes ? " writes" : " reads") + " in another thread");
      }
    // Once is enough.
    const auto same_touch = [&](const Touch& o) {
      return o.who == t.who && o.local == t.local && o.access == t.access &&
             o.carried == t.carried && o.stage.base == t.stage.base &&
             o.stage.offset == t.stage.offset && o.stage.known == t.stage.known;
    };
    if (std::none_of(since_.begin(), since_.end(), same_touch)) since_.push_back(std::move(t));
  }
  bool conflict(const Touch& before, const Touch& now) const {
    if (before.local != now.local || (!before.writes && !now.writes)) return false;
    const std::int32_t stages = k_.locals[now.local].stages;
    if (stages > 1 && before.stage.known && now.stage.known &&
        before.stage.base == now.stage.base &&
        (before.stage.offset - now.stage.offset) % stages != 0)
      return false;
    return !of_rows_apart(before, now) && !of_one_thread(before, now) && !lie_apart(before, now);
  }
  // Iterations of a loop from 0 on, at most.
  std::optional<std::int64_t> most_iterations(const Loop& l) const {
    if (l.begin != kNone || l.end == kNone) return std::nullopt;
    const Inst& end = k_.insts[l.end];
    if (end.op == Op::Const) return end.imm.as<std::int64_t>();
    if (end.op == Op::Apply && end.fn == OpId::Minimum)
      for (const int i : {0, 1})
        if (k_.insts[end.operands[i]].op == Op::Const) return constant(end.operands[i]);
    return std::nullopt;
  }
  // Whether two accesses of a loop that threads share out, the only one, are further from each
  // other than it goes.
  bool lie_apart(const Touch& before, const Touch& now) const {
    const std::int32_t l = a_.block[now.who];
    if (before.by != ExecScope::Thread || now.by != ExecScope::Thread || l != now.loop ||
        a_.block[before.who] != l || team_loop(a_.parent[l]) >= 0 ||
        std::any_of(before.carried.begin(), before.carried.end(), [&](auto c) { return c != l; }))
      return false;
    Access x = k_.accesses[before.access], y = k_.accesses[now.access];
    const std::optional<std::int64_t> most = most_iterations(k_.loops[l]);
    if (!most || x.offset.param != kNoParam || y.offset.param != kNoParam) return false;
    const std::int64_t between = std::abs(x.offset.value - y.offset.value);
    x.offset = y.offset;
    if (!same(x, y)) return false;
    std::int64_t goes = 0;
    for (const Term& t : x.terms) {
      if (!inside(t.var, l)) continue;
      if (t.var != k_.loops[l].var || t.stride.param != kNoParam) return false;
      goes += std::abs(t.stride.value) * *most;
    }
    return goes > 0 && between >= goes;
  }
  static bool carried_by(const Touch& t, std::int32_t l) {
    return std::find(t.carried.begin(), t.carried.end(), l) != t.carried.end();
  }
  // By a loop around `l`.
  bool carried_around(const Touch& t, std::int32_t l) const {
    return std::any_of(t.carried.begin(), t.carried.end(), [&](std::int32_t c) {
      std::int32_t around = a_.parent[l];
      while (around >= 0 && around != c) around = a_.parent[around];
      return around >= 0;
    });
  }
  // Whether two iterations of a loop that warps take came there, each to a row of its own.
  bool of_rows_apart(const Touch& before, const Touch& now) const {
    for (std::int32_t l = a_.block[now.who]; l >= 0; l = a_.parent[l]) {
      if (!carried_by(before, l) || carried_around(before, l) || !inside(before.who, l) ||
          !over_warps(k_, l))
        continue;
      const auto row = [&](Access a) {
        std::erase_if(a.terms,
                      [&](const Term& t) { return t.var != k_.loops[l].var && inside(t.var, l); });
        return a;
      };
      const Access rows = row(k_.accesses[now.access]);
      const auto along = [&](const Term& t) { return t.var == k_.loops[l].var; };
      if (same(rows, row(k_.accesses[before.access])) &&
          std::any_of(rows.terms.begin(), rows.terms.end(), along))
        return true;
    }
    return false;
  }
  // Whether the thread that comes to an element now is the one that came to it before.
  bool of_one_thread(const Touch& before, const Touch& now) const {
    if (before.by != now.by || now.by == ExecScope::Copy || before.loop != now.loop) return false;
    // What no loop shares out every thread does for itself, and finds what it wrote.
    if (now.by == ExecScope::Thread && now.loop < 0) return before.writes && !now.writes;
    if (now.by == ExecScope::Team && !same_block(before.who, now.who)) return false;
    const Access &x = k_.accesses[before.access], &y = k_.accesses[now.access];
    if (!same(x, y)) return false;
    const auto has = [&](Val v) {
      return std::any_of(y.terms.begin(), y.terms.end(), [&](const Term& t) { return t.var == v; });
    };
    for (std::int32_t l = now.loop; l >= 0; l = team_loop(a_.parent[l]))
      if (!has(k_.loops[l].var)) return false;
    // In another iteration of a loop around, the same address is another element.
    return std::none_of(y.terms.begin(), y.terms.end(), [&](const Term& t) {
      const bool shared_out =
          k_.insts[t.var].op == Op::Var && shares(k_.loops[k_.insts[t.var].index].scope);
      return !shared_out && std::any_of(before.carried.begin(), before.carried.end(),
                                        [&](std::int32_t l) { return inside(t.var, l); });
    });
  }
  // Fragments whose sums the same threads have: of blocks of one shape.
  bool same_block(Val v, Val w) const {
    const Inst &x = k_.insts[v], &y = k_.insts[w];
    return x.operands[0] == y.operands[0] && x.operands[1] == y.operands[1] &&
           same(k_.fragments[x.index].row, k_.fragments[y.index].row) &&
           k_.fragments[x.index].shape == k_.fragments[y.index].shape;
  }
};

}  // namespace

void verify_locals(const Kernel& k) {
  if (k.locals.empty()) return;
  const Analysis a = analyse(k);
  for (std::size_t n = 0; n < k.locals.size(); ++n) verify_local(k, a, n);
}

void verify_sharing(const Kernel& k) {
  const auto shared = [](const Local& l) { return shares(l.space); };
  if (std::any_of(k.locals.begin(), k.locals.end(), shared)) Sharing(k, analyse(k)).check();
}

}  // namespace plait::ir
