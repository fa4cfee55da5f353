// A region that writes storage which it also reads at other places ("trailing" update): the rows of
// a stencil. Its iterations store to memory of their own; the engine copies these to their place
// once no later iteration looks back at what they overwrite. This says where the iterations store
// and how far they look; whether it pays is decided when the numbers are known.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// The bytes that one access touches: offset + stride * (grid variable), and the inner loops.
struct Footprint {
  ExprId offset, stride;
  struct Inner {
    ExprId extent, stride;
  };
  std::vector<Inner> inner;
  std::int64_t item;
};
struct Trailing {
  std::int32_t buffer;  // the kernel's parameter that it stores through
  Footprint store;
  std::vector<Footprint> loads;  // of the old contents
};

// nullopt when the kernel stores in several places, or an address depends on more than its loops.
// `old` tells whether a node's memory holds the contents that are overwritten.
std::optional<Trailing> trailing(Exprs& exprs, const LoweredKernel& k, std::int32_t update,
                                 const std::function<bool(std::int32_t)>& old);

}  // namespace plait::fusion
