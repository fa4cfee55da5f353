#include <algorithm>
#include <set>

#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

class Pass {
 public:
  explicit Pass(Kernel& k) : k_(k) {}

  void block(std::int32_t l) {
    for (bool changed = true; changed;) {
      changed = false;
      const auto& body = k_.loops[l].body;
      for (std::size_t i = 0; i < body.size() && !changed; ++i)
        for (std::size_t j = i + 1; j < body.size() && !changed; ++j) changed = merge(l, i, j);
    }
    for (Val v : std::vector<Val>(k_.loops[l].body))
      if (is_loop(v)) block(k_.insts[v].index);
  }

 private:
  bool is_loop(Val v) const { return k_.insts[v].op == Op::For || k_.insts[v].op == Op::Reduce; }

  // The Reduce at body[i] joins the one at body[j], when that one does not need its results; what
  // stands between and does moves behind the joined loop.
  bool merge(std::int32_t l, std::size_t i, std::size_t j) {
    auto& body = k_.loops[l].body;
    const Val a = body[i], b = body[j];
    if (k_.insts[a].op != Op::Reduce || k_.insts[b].op != Op::Reduce) return false;
    Loop& la = k_.loops[k_.insts[a].index];
    Loop& lb = k_.loops[k_.insts[b].index];
    if (la.begin != lb.begin || la.end != lb.end || la.unroll != lb.unroll) return false;
    std::set<Val> tainted{a};
    std::vector<Val> moved;
    std::set<std::int32_t> stored;
    for (std::size_t m = i + 1; m < j; ++m) {
      const Val v = body[m];
      if (!uses(v, tainted)) continue;
      const Inst& inst = k_.insts[v];
      if (inst.op == Op::Store)
        stored.insert(inst.index);
      else if (inst.op != Op::Result && inst.op != Op::Apply && inst.op != Op::Cast)
        return false;
      tainted.insert(v);
      moved.push_back(v);
    }
    if (uses(b, tainted)) return false;
    for (std::size_t m = i + 1; m <= j; ++m)
      if (!tainted.count(body[m]) && loads(body[m], stored)) return false;
    const auto shift = static_cast<std::int32_t>(la.reductions.size());
    rename(k_.insts[b].index, lb.var, la.var);
    for (Local& local : k_.locals)
      if (local.home == k_.insts[b].index) local.home = k_.insts[a].index;
    std::vector<Val> joined = la.body;
    joined.insert(joined.end(), lb.body.begin(), lb.body.end());
    la.body = std::move(joined);
    la.reductions.insert(la.reductions.end(), lb.reductions.begin(), lb.reductions.end());
    for (Inst& inst : k_.insts)
      if (inst.op == Op::Result && inst.operands[0] == b) {
        inst.operands[0] = a;
        inst.index += shift;
      }
    std::vector<Val> next;
    for (std::size_t m = 0; m < body.size(); ++m) {
      if (m == i || std::find(moved.begin(), moved.end(), body[m]) != moved.end()) continue;
      if (m == j) {
        next.push_back(a);
        next.insert(next.end(), moved.begin(), moved.end());
      } else {
        next.push_back(body[m]);
      }
    }
    body = std::move(next);
    return true;
  }

  bool uses(Val v, const std::set<Val>& tainted) const {
    const Inst& i = k_.insts[v];
    for (Val o : i.operands)
      if (tainted.count(o)) return true;
    if (!is_loop(v)) return false;
    const Loop& l = k_.loops[i.index];
    if (tainted.count(l.begin) || tainted.count(l.end)) return true;
    for (Val w : l.body)
      if (uses(w, tainted)) return true;
    return false;
  }

  bool loads(Val v, const std::set<std::int32_t>& buffers) const {
    const Inst& i = k_.insts[v];
    if (i.op == Op::Load) return buffers.count(i.index) > 0;
    return is_loop(v) && std::any_of(k_.loops[i.index].body.begin(), k_.loops[i.index].body.end(),
                                     [&](Val w) { return loads(w, buffers); });
  }

  void rename(std::int32_t l, Val from, Val to) {
    for_each_inst(k_, l, [&](Val v, std::int32_t) {
      Inst& i = k_.insts[v];
      for (Val& o : i.operands)
        if (o == from) o = to;
      if (i.access >= 0)
        for (Term& t : k_.accesses[i.access].terms)
          if (t.var == from) t.var = to;
      if (is_loop(v)) {
        if (k_.loops[i.index].begin == from) k_.loops[i.index].begin = to;
        if (k_.loops[i.index].end == from) k_.loops[i.index].end = to;
      }
    });
    for (Reduction& r : k_.loops[l].reductions)
      if (r.value == from) r.value = to;
  }

  Kernel& k_;
};

}  // namespace

void fuse_siblings(LoweredKernel& k) { Pass(k.kernel).block(0); }

}  // namespace plait::fusion
