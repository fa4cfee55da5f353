#include "analysis.hpp"
#include "plait/error.hpp"
#include "verify.hpp"

namespace plait::ir {
namespace {

void verify_kinds(const Kernel& k) {
  for (std::size_t n = 0; n < k.loops.size(); ++n) {
    const Loop& l = k.loops[n];
    const auto index = static_cast<std::int32_t>(n);
    if (l.kind != LoopKind::Count && (n == 0 || !k.sequential))
      fail_loop(k, index, "only a sequential kernel has conditions and repeats");
    if (l.kind != LoopKind::Count &&
        (l.begin != kNone || l.end != kNone || l.unroll != 1 || l.scope == Scope::Unrolled))
      fail_loop(k, index, "counts nothing and has bounds");
    if (l.kind == LoopKind::Count && l.condition != kNone)
      fail_loop(k, index, "counts and has a condition");
    if (l.kind != LoopKind::If && !l.otherwise.empty())
      fail_loop(k, index, "is not an if and has another block");
    if (k.sequential && (l.lanes() || l.tile || shares(l.scope)))
      fail_loop(k, index, "takes lanes in a sequential kernel");
  }
}

}  // namespace

void verify_sequential(const Kernel& k) {
  verify_kinds(k);
  if (k.sequential)
    for (const Local& l : k.locals)
      if (l.home != 0 || !(is_variable(l) || l.count.param != kNoParam))
        throw InternalError("loop IR " + k.name +
                            ": a local is neither a variable nor memory of the grid");
  for (std::size_t b = 0; b < k.buffers.size(); ++b)
    if (k.buffers[b].heap && (!k.sequential || !k.buffers[b].written))
      throw InternalError("loop IR " + k.name + ": buffer " + std::to_string(b) +
                          " is a heap that is not written or not of a sequential kernel");
  const Analysis a = analyse(k);
  for (Val v = 0; v < k.insts.size(); ++v) {
    const Inst& i = k.insts[v];
    const bool own = i.op == Op::Break || i.op == Op::Overflows || i.op == Op::External;
    if (own && !k.sequential) fail(k, v, "stands in a kernel that is not sequential");
    if (k.sequential && i.op == Op::Fragment) fail(k, v, "multiplies in a sequential kernel");
    if (i.op == Op::Overflows && i.fn != OpId::Add && i.fn != OpId::Subtract &&
        i.fn != OpId::Multiply)
      fail(k, v, "overflows by no such operation");
    if ((i.op == Op::Load || i.op == Op::Store) && k.buffers[i.index].heap)
      fail(k, v, "names a heap by no address");
    if (i.op != Op::Break) continue;
    std::int32_t l = a.block[v];
    while (l >= 0 && l != i.index) l = a.parent[l];
    if (l < 0) fail(k, v, "leaves a loop that it does not stand in");
  }
}

}  // namespace plait::ir
