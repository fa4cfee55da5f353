// A view of a value that is not in memory yet, as an index map: element j of the view is element
// start + step * j of the base, dimension by dimension. Slices, transposes, broadcasts and new axes
// decompose so. A reshape that splits or merges dimensions has an IndexMap.
#pragma once
#include <cstdint>
#include <optional>

#include "core/dims.hpp"

namespace plait::fusion {

struct ViewMap {
  Dims start;  // one a base dimension
  Dims from;   // one a base dimension: the view's dimension that indexes it, or -1
  Dims step;   // one a base dimension: its step along `from`; 0 when from is -1
};

// base_shape/base_strides: a dense layout in bytes; offset/shape/strides: the view, in bytes from
// element 0 of the base.
std::optional<ViewMap> decompose(const Dims& base_shape, const Dims& base_strides,
                                 std::int64_t offset, const Dims& shape, const Dims& strides);

// The index of every view that steps forwards. Several dimensions of the view may step through one
// of the base, as windows and split dimensions do: its index is its start and the sum of what they
// step. Where that sum reaches beyond the dimension it counts on in the next wider one, as merged
// dimensions do: the indices are the digits of the sum.
struct IndexMap {
  Dims start;  // one a base dimension
  Dims wider;  // one a base dimension: where its sum counts on, or -1
  Dims axis;   // one a view's dimension: the base dimension that it steps through, or -1
  Dims step;   // one a view's dimension
  bool divides() const;
  // Where it shows all of the base, each of its dimensions one of the base's or several merged: of
  // each of the base's, the view's that has it, or -1.
  std::optional<Dims> merged_by(const Dims& base_shape, const Dims& shape) const;
};

std::optional<IndexMap> decompose_index(const Dims& base_shape, const Dims& base_strides,
                                        std::int64_t offset, const Dims& shape,
                                        const Dims& strides);

}  // namespace plait::fusion
