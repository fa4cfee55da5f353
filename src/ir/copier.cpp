#include "copier.hpp"

namespace plait::ir {

Copier::Copier(const Kernel& k)
    : k_(k),
      out_(k.name),
      values_(k.insts.size(), kNone),
      loops_(k.loops.size(), 0),
      results_(k.loops.size()) {
  out_.sequential();
  for (std::int32_t n = 0; n < k.params; ++n) (void)out_.new_param();
  for (const BufferParam& b : k.buffers) (void)out_.buffer(b);
  for (const Local& l : k.locals) (void)out_.variable(l.dtype, l.count);
  out_.scalars(k.scalars);
  map(k.loops[0].var, out_.grid_var());
}

Kernel Copier::run() {
  copy_block(k_.loops[0].body);
  return out_.finish();
}

void Copier::copy_block(const std::vector<Val>& block) {
  for (Val v : block) copy(v);
}

void Copier::copy(Val v) {
  const Inst& i = k_.insts[v];
  if (i.op == Op::For)
    copy_loop(i);
  else if (i.op == Op::Reduce)
    copy_reduce(i);
  else if (i.op == Op::Result)
    map(v, results_[static_cast<std::size_t>(k_.insts[i.operands[0]].index)]
                   [static_cast<std::size_t>(i.index)]);
  else if (i.op == Op::Break)
    out_.leave(loops_[static_cast<std::size_t>(i.index)], mapped(i.operands[0]));
  else
    map(v, push(i));
}

Val Copier::push(const Inst& i) {
  Inst copy = i;
  for (Val& o : copy.operands) o = mapped(o);
  if (i.access < 0) return out_.push(copy);
  Access a = k_.accesses[static_cast<std::size_t>(i.access)];
  for (Term& t : a.terms) t.var = mapped(t.var);
  return out_.push(copy, std::move(a));
}

void Copier::copy_reduce(const Inst& i) {
  const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
  map(l.var, out_.var(out_.open_reduce(mapped(l.begin), mapped(l.end))));
  copy_block(l.body);
  std::vector<Reduction> all = l.reductions;
  for (Reduction& r : all) {
    r.value = mapped(r.value);
    r.init = mapped(r.init);
  }
  results_[static_cast<std::size_t>(i.index)] = out_.close(std::move(all));
}

void Copier::copy_loop(const Inst& i) {
  const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
  std::int32_t& loop = loops_[static_cast<std::size_t>(i.index)];
  switch (l.kind) {
    case LoopKind::Count:
      loop = out_.open_for(mapped(l.begin), mapped(l.end));
      out_.loop(loop).scope = l.scope;
      out_.loop(loop).unroll = l.unroll;
      map(l.var, out_.var(loop));
      copy_block(l.body);
      return out_.close();
    case LoopKind::If:
      loop = out_.open_if(mapped(l.condition));
      out_.loop(loop).rare = l.rare;
      copy_block(l.body);
      if (!l.otherwise.empty()) out_.otherwise();
      copy_block(l.otherwise);
      return out_.close();
    case LoopKind::Repeat:
      loop = out_.open_repeat();
      copy_block(l.body);
      return out_.close_repeat(mapped(l.condition));
  }
}

}  // namespace plait::ir
