// What every part of the generator asks about single instructions of the loop IR.
#pragma once
#include "ir/edit.hpp"

namespace plait::cuda {
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

}  // namespace plait::cuda
