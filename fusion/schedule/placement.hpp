// Where a node of a candidate stands and how it is computed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace plait::fusion {

enum class How : std::uint8_t {
  Loop,      // by loops over elements
  Fragment,  // a product in blocks, with what stands around it
  Library,   // a product by a library call
  Call,      // an operation outside of the loops
};

// How a fold goes over what it folds.
enum class FoldOrder : std::uint8_t {
  Whole,    // a loop inside what computes the result
  Chunks,   // few results of a long reduction: chunks of the reduced axis, whose results are joined
  Running,  // a scan: a fold of a region's loop
  ByIndex,  // combined by index: pieces of the axis that the indices name rows of, each with tables
            // of its own, which are joined
  Rescaled,  // a product over blocks of keys, whose sums are rescaled as its rows' folds go on
};
inline constexpr std::size_t kFoldOrders = static_cast<std::size_t>(FoldOrder::Rescaled) + 1;

// Whether a grid runs over pieces of what is folded, whose results are joined after.
constexpr bool in_pieces(FoldOrder o) { return o == FoldOrder::Chunks || o == FoldOrder::ByIndex; }

struct Placement {
  bool stored = false;  // in memory, else computed where it is read
  How how = How::Loop;
  FoldOrder order = FoldOrder::Whole;
  // The node that it is computed with: of a product by a library call, the sum that the same call
  // adds; of what an attention computes in its blocks, its second product. -1: none.
  std::int32_t with = -1;
  std::int32_t group = 0;  // only equal ones share a region
};

}  // namespace plait::fusion
