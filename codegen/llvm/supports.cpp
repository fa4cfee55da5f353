// What the emitter does not do; such kernels stay on the interpreter.
#include "backend.hpp"
#include "codegen/loops/loops.hpp"

namespace plait::jit {
namespace {

std::string lacks(const ir::Kernel& k) {
  for (const ir::Inst& i : k.insts) {
    if (is_complex(i.type)) return std::string(name(i.type)) + " values";
    if (i.op == ir::Op::Apply || i.op == ir::Op::Cast)
      for (ir::Val v : i.operands)
        if (v != ir::kNone && is_complex(k.insts[v].type))
          return std::string(name(k.insts[v].type)) + " values";
    if (i.op == ir::Op::Apply) {
      DType in = k.insts[i.operands[i.fn == OpId::Where ? 1 : 0]].type;
      if (!loops::elementwise(i.fn, in, CpuTier::Baseline))
        return std::string(op_info(i.fn).name) + " of " + std::string(name(in));
    }
  }
  for (const ir::Loop& l : k.loops)
    for (const ir::Reduction& r : l.reductions)
      if (k.insts[r.value].type == DType::Float16)
        return "a float16 " + std::string(reduce_info(r.kind).name);
  return {};
}

}  // namespace

bool supports(const ir::Kernel& k, std::string* why) {
#if !defined(__x86_64__)
  if (why) *why = "this processor";
  return false;
#endif
  std::string what = lacks(k);
  if (why) *why = what;
  return what.empty();
}

}  // namespace plait::jit
