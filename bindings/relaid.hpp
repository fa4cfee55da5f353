// What an array that a jitted function got hands on to the caller's: shape, dtype, strides and
// flags that were set.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

extern Py_ssize_t times_relaid;  // of all arrays, counted under the GIL
void note_relaid(const ArrayObject* a);

}  // namespace plait::py
