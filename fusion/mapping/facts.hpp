// What mapping and printing ask about single instructions and loops of the loop IR.
#pragma once
#include "ir/analysis.hpp"
#include "ir/edit.hpp"

namespace plait::mapping {
using ir::Inst;
using ir::kNone;
using ir::kNoParam;
using ir::Op;
using ir::Val;

// A Const or Param; nothing else is known before the launch.
inline bool known(const ir::Kernel& k, Val v) {
  return k.insts[v].op == Op::Const || k.insts[v].op == Op::Param;
}
inline std::int64_t value_of(const ir::Kernel& k, Val v, const std::int64_t* params) {
  const Inst& i = k.insts[v];
  return i.op == Op::Param ? params[i.index] : i.imm.as<std::int64_t>();
}
inline std::int64_t number(const ir::Coeff& c, const std::int64_t* params) {
  return c.param == kNoParam ? c.value : params[c.param];
}

inline bool inexact(DType t) { return is_float(t) || is_complex(t); }
bool is_tree(const ir::Kernel& k, const ir::Reduction& r);  // a float sum in NumPy's order
// A loop of sums in NumPy's order that has a copy of its body for each accumulator; others are
// larger, or sum real and complex numbers side by side.
bool is_light_sum(const ir::Kernel& k, std::int32_t loop);
int body_size(const ir::Kernel& k, std::int32_t loop);  // about how many instructions
// What a fold keeps of its values: float16 sums and comparisons happen in float32.
DType kept_type(const ir::Reduction& r, DType t);

}  // namespace plait::mapping
