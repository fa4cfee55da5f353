// Elementwise functions, sums and creation of a few elements, without the recorder: in memory of an
// array that is given away, or of one that is gone.
#pragma once
#include "box.hpp"
#include "tracer/capture.hpp"

namespace plait::detail {

// The result, of the dtype that is wanted if one is, or an empty handle where the recorder has to
// be asked. The recorder's lock is held.
Handle small_elementwise(OpId fn, const Operand* operands, int n, std::optional<DType> wanted);

// An array of `shape` whose elements are copies of `element`, or of as many as it has where `all`;
// empty where there is no memory kept for it. Takes the recorder's lock.
Handle small_filled(const Dims& shape, DType t, const void* elements, bool all);
// The sum of the elements of an array of one axis. The recorder's lock is held.
Handle small_sum(const Handle& a);

// Keeps the box of the last handle to a small array for a result of its shape and dtype; false
// where nobody may have it. The recorder's lock is held.
bool keep_small(Box& b);
// Gives up what is kept; returns its bytes.
std::size_t trim_small();

// Whether it is in memory, as far as one can tell without the lock.
inline bool is_at_hand(const Handle& h) {
  return h && !tracer::capture() && !h.get()->lease && h.get()->array.storage &&
         h.get()->array.storage->readable.load(std::memory_order_acquire) != nullptr;
}

}  // namespace plait::detail
