#include "packs.hpp"

namespace plait::cuda {

Packs cut_into_packs(const Program& p, const ir::CallArgs& args, std::int64_t begin,
                     std::int64_t end) {
  const ir::Kernel& k = p.kernel;
  const std::int32_t last = p.nest.chain.back();
  const ir::Loop& loop = k.loops[last];
  const std::int64_t pack = p.mapping.pack;
  std::int64_t row = end - begin;
  if (last != 0) row = value_of(k, loop.end, args.params);
  // The address of an access at the first element of the first row.
  const auto start = [&](const Inst& i) {
    const ir::Access& a = k.accesses[i.access];
    auto at = reinterpret_cast<std::int64_t>(args.buffers[i.index]) + number(a.offset, args.params);
    for (const ir::Term& t : a.terms) {
      const Inst& var = k.insts[t.var];
      const std::int64_t stride = number(t.stride, args.params);
      if (var.op == Op::Var)
        at += var.index == 0 ? begin * stride : 0;
      else
        at += value_of(k, t.var, args.params) * stride;
    }
    return at;
  };
  Packs packs{0, 0, 0};
  for (Val v : loop.body) {
    const Inst& i = k.insts[v];
    if (i.op != Op::Store || !p.nest.packed[v]) continue;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    packs.lead = start(i) % (pack * item) / item;
    break;
  }
  int bit = 0;
  for (Val v : loop.body) {
    const Inst& i = k.insts[v];
    if (!p.nest.packed[v]) continue;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    bool aligned = (start(i) - packs.lead * item) % (pack * item) == 0;
    for (const ir::Term& t : k.accesses[i.access].terms)
      if (k.insts[t.var].op == Op::Var && t.var != loop.var)
        aligned &= number(t.stride, args.params) % (pack * item) == 0;
    packs.aligned |= std::int64_t{aligned} << bit++;
  }
  packs.in_row = (row + packs.lead + pack - 1) / pack;
  return packs;
}

}  // namespace plait::cuda
