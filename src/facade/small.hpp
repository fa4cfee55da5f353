// Elementwise functions of a few elements in memory, without the recorder: a call of the
// precompiled loop into memory of an array that is given away, or of one that is gone.
#pragma once
#include "box.hpp"

namespace plait::detail {

// The result, or an empty handle where the recorder has to be asked. The recorder's lock is held.
Handle small_elementwise(OpId fn, const Operand* operands, int n, DType result);

// Keeps the box of the last handle to a small array for a result of its shape and dtype; false
// where nobody may have it. The recorder's lock is held.
bool keep_small(Box& b);
// Gives up what is kept; returns its bytes.
std::size_t trim_small();

// Whether it is in memory, as far as one can tell without the lock.
inline bool is_at_hand(const Handle& h) {
  return h && !h.get()->lease &&
         h.get()->array.storage->readable.load(std::memory_order_acquire) != nullptr;
}

}  // namespace plait::detail
