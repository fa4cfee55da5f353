#include <algorithm>
#include <string>
#include <unordered_map>

#include "ir/analysis.hpp"
#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

void put(std::string& s, std::int64_t v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); }

std::string signature(const Kernel& k, const Inst& i) {
  std::string s;
  s.reserve(128);
  put(s, static_cast<int>(i.op) | static_cast<int>(i.type) << 8 | static_cast<int>(i.fn) << 16);
  put(s, i.index);
  for (Val o : i.operands) put(s, o);
  if (i.op == Op::Gather) {
    put(s, i.stride.value);
    put(s, i.stride.param);
  }
  if (i.op == Op::Const) s.append(reinterpret_cast<const char*>(i.imm.bytes), itemsize(i.type));
  if (i.access >= 0) {
    const Access& a = k.accesses[i.access];
    put(s, a.offset.value);
    put(s, a.offset.param);
    for (const Term& t : a.terms) {
      put(s, t.var);
      put(s, t.stride.value);
      put(s, t.stride.param);
    }
  }
  return s;
}

class EliminateCommon {
 public:
  explicit EliminateCommon(Kernel& k) : k_(k), renamed_(k.insts.size()) {
    for (std::size_t v = 0; v < renamed_.size(); ++v) renamed_[v] = static_cast<Val>(v);
  }
  void block(std::int32_t l) {
    std::vector<std::string> mine;
    std::vector<Val> kept;
    rename(k_.loops[l].begin);
    rename(k_.loops[l].end);
    for (Reduction& r : k_.loops[l].reductions) rename(r.init);
    for (Val v : k_.loops[l].body) {
      Inst& i = k_.insts[v];
      for (Val& o : i.operands) rename(o);
      ir::for_each_access(k_, i, [&](std::int32_t a) {
        for (Term& t : k_.accesses[a].terms) rename(t.var);
      });
      ir::for_each_value_beside(k_, i, [&](Val& o) { rename(o); });
      if (opens_loop(i)) {
        block(i.index);
      } else if (pure(i)) {
        std::string s = signature(k_, i);
        // What a loop reduces stays its body's own.
        const auto& folds = k_.loops[l].reductions;
        const bool folded = std::any_of(folds.begin(), folds.end(),
                                        [&](const Reduction& r) { return r.value == v; });
        if (auto it = seen_.find(s);
            it != seen_.end() &&
            (!folded || std::find(kept.begin(), kept.end(), it->second) != kept.end())) {
          renamed_[v] = it->second;
          continue;
        }
        if (seen_.emplace(s, v).second) mine.push_back(std::move(s));
      }
      kept.push_back(v);
    }
    for (Reduction& r : k_.loops[l].reductions) rename(r.value);
    k_.loops[l].body = std::move(kept);
    for (const std::string& s : mine) seen_.erase(s);
  }

 private:
  bool pure(const Inst& i) const {
    switch (i.op) {
      case Op::Const:
      case Op::Param:
      case Op::Arg:
      case Op::Apply:
      case Op::Cast:
      case Op::Result:
        return true;
      case Op::Gather:
        return true;
      case Op::Load:
        return !k_.buffers[i.index].written;
      default:
        return false;
    }
  }
  void rename(Val& v) {
    if (v != kNone) v = renamed_[v];
  }
  Kernel& k_;
  std::vector<Val> renamed_;
  std::unordered_map<std::string, Val> seen_;
};

}  // namespace

void eliminate_common(Kernel& k) { EliminateCommon(k).block(0); }

}  // namespace plait::fusion
