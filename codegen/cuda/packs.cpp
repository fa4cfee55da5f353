#include "packs.hpp"

#include <algorithm>

namespace plait::cuda {

namespace {

constexpr int kMostAccesses = 60;  // bits of Packs::aligned

enum class Along { Fixed, Contiguous, Other };

// How an access moves with the variable of the innermost loop, whose address a launch can compute.
Along along(const ir::Kernel& k, const Nest& n, const Inst& i) {
  const Val last = k.loops[n.chain.back()].var;
  Along a = Along::Fixed;
  for (const ir::Term& t : k.accesses[i.access].terms) {
    if (t.var == last) {
      const bool next = t.stride.param == kNoParam && a == Along::Fixed &&
                        t.stride.value == static_cast<std::int64_t>(itemsize(i.type));
      a = next ? Along::Contiguous : Along::Other;
    } else if (const Op op = k.insts[t.var].op;
               op != Op::Var && op != Op::Const && op != Op::Param) {
      return Along::Other;
    }
  }
  return a;
}

}  // namespace

void find_packs(const ir::Kernel& k, Nest& n) {
  const std::int32_t last = n.chain.back();
  std::vector<char> packed(k.insts.size());
  std::size_t widest = 0;
  int accesses = 0;
  bool expensive = false;
  for (const ir::Local& l : k.locals)
    if (l.home == last) return;
  for (Val v : k.loops[last].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i) || i.op == Op::Gather || i.op == Op::Scatter) return;
    expensive |= i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive;
    if (i.op != Op::Load && i.op != Op::Store) continue;
    const Along a = along(k, n, i);
    // Far neighbours are better read by neighbouring threads.
    if (a == Along::Other || (i.op == Op::Store && a != Along::Contiguous)) return;
    if (a == Along::Fixed) continue;
    packed[v] = 1;
    ++accesses;
    widest = std::max(widest, itemsize(i.type));
  }
  if (widest == 0 || widest > 8 || accesses > kMostAccesses) return;
  n.packed = std::move(packed);
  n.pack = std::min(expensive ? 4 : 8, 16 / static_cast<int>(widest));
}

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
