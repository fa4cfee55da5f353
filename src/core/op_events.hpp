// Which floating-point events operations and folds may raise on numbers of a dtype: flags of
// processor/float_unit.hpp, from a column of ops.def. Loops of several operations raise flags
// together; whose a flag may be is looked up here.
#pragma once
#include "op_table.hpp"

namespace plait {

unsigned may_raise(OpId fn, DType operand);
// What joins two partial results raises it.
unsigned may_raise(ReduceKind kind, DType operand);

}  // namespace plait
