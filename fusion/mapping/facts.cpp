#include "facts.hpp"

namespace plait::mapping {

DType kept_type(const ir::Reduction& r, DType t) {
  const bool keeps_bits = reduce_info(r.kind).has(kOfTruth) || r.kind == ReduceKind::Last;
  return t == DType::Float16 && !keeps_bits ? DType::Float32 : t;
}
bool is_tree(const ir::Kernel& k, const ir::Reduction& r) {
  return r.kind == ReduceKind::Sum && r.order == ir::Order::Pairwise &&
         inexact(k.insts[r.value].type);
}

// IEEE division and roots have calls for rare values.
int body_size(const ir::Kernel& k, std::int32_t l) {
  int size = 0;
  for (Val v : k.loops[l].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) size += 100;
    if (i.op != Op::Apply) continue;
    const bool calls = i.fn == OpId::Divide || i.fn == OpId::Sqrt;
    size += op_info(i.fn).cost == Cost::Cheap && !calls ? 1 : 8;
  }
  return size;
}
bool is_light_sum(const ir::Kernel& k, std::int32_t loop) {
  bool real = false, complex = false;
  for (const ir::Reduction& r : k.loops[loop].reductions)
    if (is_tree(k, r)) (is_complex(k.insts[r.value].type) ? complex : real) = true;
  return real != complex && body_size(k, loop) <= 24;
}

}  // namespace plait::mapping
