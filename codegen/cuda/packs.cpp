#include "packs.hpp"

namespace plait::cuda {

namespace {

constexpr std::int64_t kWarp = 32, kLine = 128;  // lanes; bytes
constexpr std::int64_t kSpread = 1024;           // elements of a row: few of a warp's are missing

}  // namespace

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
  // Elements of the first result beyond a multiple of so many bytes, or packs.
  const auto lead = [&](std::int64_t bytes) -> std::int64_t {
    for (Val v : loop.body) {
      const Inst& i = k.insts[v];
      if (i.op != Op::Store || !p.nest.packed[v]) continue;
      const auto item = static_cast<std::int64_t>(itemsize(i.type));
      return start(i) % (bytes ? bytes : pack * item) / item;
    }
    return 0;
  };
  Packs packs{0, lead(0), 0, 0};
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
  if (packs.aligned + 1 < std::int64_t{1} << bit && row >= kSpread) packs = {0, lead(kLine), 0, 1};
  const std::int64_t least = packs.spread ? pack * kWarp : pack;
  packs.in_row = (row + packs.lead + least - 1) / least * (least / pack);
  return packs;
}

}  // namespace plait::cuda
