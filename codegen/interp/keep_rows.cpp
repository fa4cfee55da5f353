#include <algorithm>

#include "lower.hpp"

namespace plait::interp {
namespace {

using ir::kNone;
using ir::Op;
using ir::Val;

class RowKeeper {
 public:
  RowKeeper(const ir::Kernel& k, std::vector<ir::Local>& rows)
      : k_(k), a_(ir::analyse(k_)), rows_(rows) {}
  ir::Kernel run() {
    const auto count = static_cast<Val>(k_.insts.size());
    for (Val v = 0; v < count; ++v)
      if (k_.insts[v].op == Op::Load && repeated(v)) keep(v);
    return std::move(k_);
  }

 private:
  ir::Kernel k_;
  const ir::Analysis a_;
  std::vector<ir::Local>& rows_;

  // Inside the vector loop only that loop's variable and the innermost loop's address the load, and
  // a loop stands between the two.
  bool repeated(Val v) const {
    const ir::Inst& load = k_.insts[v];
    std::int32_t inner = a_.block[v], vector = a_.vector_loop[inner];
    if (vector < 0 || inner == vector || a_.parent[inner] == vector) return false;
    if (!a_.varies[v] || k_.buffers[load.index].written) return false;
    const ir::Loop& loop = k_.loops[inner];
    Op bound = k_.insts[loop.end].op;
    if (loop.begin != kNone || (bound != Op::Param && bound != Op::Const)) return false;
    bool strided = false;
    for (const ir::Term& t : k_.accesses[load.access].terms) {
      if (t.var == k_.loops[vector].var)
        strided = t.stride.param != ir::kNoParam ||
                  t.stride.value != static_cast<std::int64_t>(itemsize(load.type));
      else if (t.var != loop.var && inside(a_.block[t.var], vector))
        return false;
    }
    return strided;
  }
  bool inside(std::int32_t block, std::int32_t loop) const {
    while (block >= 0 && block != loop) block = a_.parent[block];
    return block == loop;
  }

  Val append(ir::Inst i) {
    k_.insts.push_back(i);
    return static_cast<Val>(k_.insts.size() - 1);
  }
  std::int32_t access(ir::Access a) {
    k_.accesses.push_back(std::move(a));
    return static_cast<std::int32_t>(k_.accesses.size() - 1);
  }

  void keep(Val v) {
    const ir::Inst load = k_.insts[v];
    const std::int32_t inner = a_.block[v], vector = a_.vector_loop[inner];
    const Val inner_var = k_.loops[inner].var;
    const ir::Inst bound = k_.insts[k_.loops[inner].end];
    ir::Coeff count =
        bound.op == Op::Param ? ir::Coeff{0, bound.index} : ir::Coeff{bound.imm.as<std::int64_t>()};
    const auto local = static_cast<std::int32_t>(k_.locals.size());
    k_.locals.push_back({load.type, count, vector});
    rows_.push_back(k_.locals.back());

    const auto index = static_cast<std::int32_t>(k_.loops.size());
    Val end = append(bound);
    Val fill = append({.op = Op::For, .index = index});
    ir::Loop l;
    l.var = append({.op = Op::Var, .index = index});
    l.end = end;
    ir::Access from = k_.accesses[load.access];
    for (ir::Term& t : from.terms)
      if (t.var == inner_var) t.var = l.var;
    ir::Inst once = load;
    once.access = access(from);
    Val element = append(once);
    Val store = append({.op = Op::StoreLocal,
                        .type = load.type,
                        .index = local,
                        .operands = {element, kNone, kNone},
                        .access = access({{}, {{l.var, {1}}}})});
    l.body = {element, store};
    k_.loops.push_back(l);
    // Everything that addresses the row is defined before the vector loop, so its start will do.
    auto& body = k_.loops[vector].body;
    body.insert(body.begin(), {end, fill});

    k_.insts[v] = {.op = Op::LoadLocal,
                   .type = load.type,
                   .index = local,
                   .access = access({{}, {{inner_var, {1}}}})};
  }
};

}  // namespace

ir::Kernel keep_rows(const ir::Kernel& k, std::vector<ir::Local>& rows) {
  return RowKeeper(k, rows).run();
}

}  // namespace plait::interp
