#include <algorithm>
#include <set>

#include "ir/analysis.hpp"
#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

class FuseSiblings {
 public:
  explicit FuseSiblings(Kernel& k) : k_(k) {}

  void block(std::int32_t l) {
    for (bool changed = true; changed;) {
      changed = false;
      const auto& body = k_.loops[l].body;
      std::vector<std::size_t> reduces;
      for (std::size_t i = 0; i < body.size(); ++i)
        if (k_.insts[body[i]].op == Op::Reduce) reduces.push_back(i);
      for (std::size_t i = 0; i < reduces.size() && !changed; ++i)
        for (std::size_t j = i + 1; j < reduces.size() && !changed; ++j)
          changed = merge(l, reduces[i], reduces[j]);
    }
    for (Val v : std::vector<Val>(k_.loops[l].body))
      if (is_loop(v)) block(k_.insts[v].index);
  }

 private:
  bool is_loop(Val v) const { return opens_loop(k_.insts[v]); }

  // The Reduce at body[i] joins the one at body[j], when that one does not need its results; what
  // stands between and does moves behind the joined loop.
  bool merge(std::int32_t l, std::size_t i, std::size_t j) {
    auto& body = k_.loops[l].body;
    const Val a = body[i], b = body[j];
    const Loop& la = k_.loops[k_.insts[a].index];
    const Loop& lb = k_.loops[k_.insts[b].index];
    if (la.begin != lb.begin || la.end != lb.end || la.scope != lb.scope) return false;
    // What follows in order stays by itself.
    if (scans(k_, k_.insts[a].index) || scans(k_, k_.insts[b].index)) return false;
    ++merge_;
    tainted_.resize(k_.insts.size());
    tainted_[a] = merge_;
    std::vector<Val> moved;
    std::set<std::int32_t> stored;
    for (std::size_t m = i + 1; m < j; ++m) {
      const Val v = body[m];
      if (!uses(v)) continue;
      const Inst& inst = k_.insts[v];
      if (inst.op == Op::Store)
        stored.insert(inst.index);
      else if (inst.op != Op::Result && inst.op != Op::Apply && inst.op != Op::Cast)
        return false;
      tainted_[v] = merge_;
      moved.push_back(v);
    }
    if (uses(b)) return false;
    for (std::size_t m = i + 1; m <= j; ++m)
      if (!tainted(body[m]) && loads(body[m], stored)) return false;
    join(k_, a, b);
    std::vector<Val> next;
    for (std::size_t m = 0; m < body.size(); ++m) {
      if (tainted(body[m])) continue;
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

  bool tainted(Val v) const { return v != kNone && tainted_[v] == merge_; }
  bool uses(Val v) const {
    const Inst& i = k_.insts[v];
    for (Val o : i.operands)
      if (tainted(o)) return true;
    if (!is_loop(v)) return false;
    const Loop& l = k_.loops[i.index];
    if (tainted(l.begin) || tainted(l.end)) return true;
    for (Val w : l.body)
      if (uses(w)) return true;
    return false;
  }

  bool loads(Val v, const std::set<std::int32_t>& buffers) const {
    const Inst& i = k_.insts[v];
    if (i.op == Op::Load) return buffers.count(i.index) > 0;
    return is_loop(v) && std::any_of(k_.loops[i.index].body.begin(), k_.loops[i.index].body.end(),
                                     [&](Val w) { return loads(w, buffers); });
  }

  Kernel& k_;
  std::vector<int> tainted_;  // of each value: the last merge that found it to need the first loop
  int merge_ = 0;
};

}  // namespace

void fuse_siblings(LoweredKernel& k) { FuseSiblings(k.kernel).block(0); }

}  // namespace plait::fusion
