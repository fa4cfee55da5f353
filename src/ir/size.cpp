#include "ir.hpp"

namespace plait::ir {

std::size_t bytes_of(const Kernel& k) {
  std::size_t n = sizeof k + k.name.size() + k.insts.size() * sizeof(Inst) +
                  k.accesses.size() * sizeof(Access) + k.loops.size() * sizeof(Loop) +
                  k.buffers.size() * sizeof(BufferParam) + k.scalars.size() * sizeof(DType) +
                  k.locals.size() * sizeof(Local) + k.fragments.size() * sizeof(Fragment) +
                  k.copies.size() * sizeof(Copy);
  for (const Access& a : k.accesses) n += a.terms.size() * sizeof a.terms[0];
  for (const Loop& l : k.loops)
    n += (l.body.size() + l.otherwise.size()) * sizeof(Val) +
         l.reductions.size() * sizeof(Reduction);
  return n;
}

}  // namespace plait::ir
