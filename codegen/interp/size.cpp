#include "core/replaceable.hpp"
#include "sequential.hpp"

namespace plait::interp {

PLAIT_REPLACEABLE std::size_t bytes_of(const Program& p) {
  return sizeof p + p.code.size() * sizeof(Instr) + p.loops.size() * sizeof(LoopCode) +
         p.folds.size() * sizeof(Fold) + p.accesses.size() * sizeof(AccessCode) +
         p.terms.size() * sizeof(TermCode) + p.regs.size() * sizeof(RegCode) +
         (p.locals.size() + p.rows.size()) * sizeof(LocalCode) + p.consts.size() * sizeof(Scalar) +
         (p.sequential ? bytes_of(*p.sequential) : 0) + (p.with_rows ? bytes_of(*p.with_rows) : 0) +
         (p.with_shared_tiles ? bytes_of(*p.with_shared_tiles) : 0);
}

}  // namespace plait::interp
