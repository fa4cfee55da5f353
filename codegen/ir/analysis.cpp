#include "analysis.hpp"

namespace plait::ir {
namespace {

class Analyser {
 public:
  explicit Analyser(const Kernel& k) : k_(k) {
    a_.parent.assign(k.loops.size(), -1);
    a_.vector_loop.assign(k.loops.size(), -1);
    a_.block.assign(k.insts.size(), -1);
    a_.varies.assign(k.insts.size(), 0);
  }
  Analysis run() {
    walk(0, -1);
    return std::move(a_);
  }

 private:
  const Kernel& k_;
  Analysis a_;

  void walk(std::int32_t index, std::int32_t parent) {
    const Loop& loop = k_.loops[index];
    a_.parent[index] = parent;
    a_.vector_loop[index] = loop.vector ? index : parent >= 0 ? a_.vector_loop[parent] : -1;
    if (loop.var != kNone) {
      a_.block[loop.var] = index;
      a_.varies[loop.var] = loop.vector;
    }
    for (Val v : loop.body) {
      a_.block[v] = index;
      const Inst& i = k_.insts[v];
      if (i.op == Op::For || i.op == Op::Reduce)
        walk(i.index, index);
      else
        a_.varies[v] = a_.vector_loop[index] >= 0 && varies(i);
    }
  }
  bool varies(const Inst& i) const {
    if (i.op == Op::Result) {
      // The results of a vector Reduce are uniform outside it.
      std::int32_t reduce = k_.insts[i.operands[0]].index;
      return !k_.loops[reduce].vector && a_.varies[k_.loops[reduce].reductions[i.index].value];
    }
    if (i.op == Op::LoadLocal && a_.per_lane(k_.locals[i.index])) return true;
    for (Val o : i.operands)
      if (o != kNone && a_.varies[o]) return true;
    if (i.access >= 0)
      for (const Term& t : k_.accesses[i.access].terms)
        if (a_.varies[t.var]) return true;
    return false;
  }
};

}  // namespace

Analysis analyse(const Kernel& k) { return Analyser(k).run(); }

}  // namespace plait::ir
