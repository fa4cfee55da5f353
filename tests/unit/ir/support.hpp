// What tests of the loop IR ask of a kernel.
#pragma once
#include <string>

#include "ir/ir.hpp"
#include "plait/error.hpp"

namespace plait::test {

using ir::Inst;
using ir::Kernel;
using ir::Op;

inline std::string rejection(const Kernel& k) {
  try {
    verify(k);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}
inline Inst& find(Kernel& k, Op op) {
  for (Inst& i : k.insts)
    if (i.op == op) return i;
  throw InternalError("no such instruction");
}

}  // namespace plait::test
