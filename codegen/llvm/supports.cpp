// What the emitter does not do: some is said in other words, other kernels stay on the interpreter.
#include <algorithm>

#include "backend.hpp"
#include "codegen/loops/loops.hpp"
#include "core/replaceable.hpp"
#include "ir/fold.hpp"

namespace plait::jit {

namespace {

bool has_no_loop(const ir::Kernel& k, const ir::Reduction& r) {
  const DType t = k.insts[r.value].type;
  return is_arg(r.kind) && (is_complex(t) || (r.guarded_sqrt && t == DType::Float16));
}

std::string lacks(const ir::Kernel& k) {
  for (const ir::Inst& i : k.insts) {
    if (i.op == ir::Op::Apply) {
      DType in = k.insts[i.operands[i.fn == OpId::Where ? 1 : 0]].type;
      if (!loops::elementwise(i.fn, in, kTiers.front()))
        return std::string(op_info(i.fn).name) + " of " + std::string(name(in));
    }
  }
  for (const ir::Loop& l : k.loops) {
    bool real_tree = false, complex_tree = false;
    for (const ir::Reduction& r : l.reductions) {
      const DType t = k.insts[r.value].type;
      const bool sums = std::any_of(l.reductions.begin(), l.reductions.end(),
                                    [](const auto& o) { return o.order == ir::Order::Pairwise; });
      if (r.order == ir::Order::Grouped) return "a scan in groups";
      if (sums && has_no_loop(k, r))
        return std::string(reduce_info(r.kind).name) + " of " + std::string(name(t)) +
               " beside a sum";
      if (r.order == ir::Order::Pairwise) (is_complex(t) ? complex_tree : real_tree) = true;
    }
    if (real_tree && complex_tree) return "sums of real and of complex numbers in one loop";
  }
  return {};
}

}  // namespace

std::optional<ir::Kernel> with_carried_places(const ir::Kernel& k) {
  std::optional<ir::Kernel> carried;
  const auto which = [&](const ir::Reduction& r) { return has_no_loop(k, r); };
  for (const ir::Loop& l : k.loops)
    if (std::any_of(l.reductions.begin(), l.reductions.end(), which)) carried = k;
  if (!carried) return carried;
  ir::carry_places(*carried, which);
#ifdef PLAIT_CHECKS
  ir::verify(*carried);
#endif
  return carried;
}

PLAIT_REPLACEABLE bool supports(const ir::Kernel& k, std::string* why) {
#if !defined(PLAIT_LLVM_VERSION)
  if (why) *why = "a build without LLVM";
  return false;
#endif
  std::string what = lacks(k);
  if (why) *why = what;
  return what.empty();
}

}  // namespace plait::jit
