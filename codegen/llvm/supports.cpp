// What the emitter does not do; such kernels stay on the interpreter.
#include "backend.hpp"
#include "codegen/loops/loops.hpp"

namespace plait::jit {
namespace {

std::string lacks(const ir::Kernel& k) {
  for (const ir::Inst& i : k.insts) {
    if (i.op == ir::Op::Apply) {
      DType in = k.insts[i.operands[i.fn == OpId::Where ? 1 : 0]].type;
      if (!loops::elementwise(i.fn, in, CpuTier::Baseline))
        return std::string(op_info(i.fn).name) + " of " + std::string(name(in));
    }
  }
  for (const ir::Loop& l : k.loops) {
    bool real_tree = false, complex_tree = false;
    for (const ir::Reduction& r : l.reductions) {
      const DType t = k.insts[r.value].type;
      const bool arg = r.kind == ReduceKind::ArgMin || r.kind == ReduceKind::ArgMax;
      if (arg && (is_complex(t) || (r.guarded_sqrt && t == DType::Float16)))
        return std::string(reduce_info(r.kind).name) + " of " + std::string(name(t));
      if (r.order == ir::Order::Pairwise) (is_complex(t) ? complex_tree : real_tree) = true;
    }
    if (real_tree && complex_tree) return "sums of real and of complex numbers in one loop";
  }
  return {};
}

}  // namespace

bool supports(const ir::Kernel& k, std::string* why) {
#if !defined(PLAIT_LLVM_VERSION)
  if (why) *why = "a build without LLVM";
  return false;
#elif !defined(__x86_64__)
  if (why) *why = "this processor";
  return false;
#endif
  std::string what = lacks(k);
  if (why) *why = what;
  return what.empty();
}

}  // namespace plait::jit
