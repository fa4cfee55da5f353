// A view of a value that is not in memory yet, as an index map: element j of the view is element
// start + step * j of the base, dimension by dimension. Slices, transposes, broadcasts and new axes
// decompose so. A reshape that splits or merges dimensions has an IndexMap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/dims.hpp"

namespace plait::fusion {

// Elements in memory, steps and start in bytes. `All` as below, `One` a number of it.
template <class All, class One>
struct BasicStrided {
  const All& extents;
  const All& steps;
  One start = 0;
};
using Strided = BasicStrided<Dims, std::int64_t>;

// `All`: a vector of numbers; of recorded ones Dims, of those that planning asks about Numbers.
template <class All>
struct BasicViewMap {
  All start;  // one a base dimension
  Dims from;  // one a base dimension: the view's dimension that indexes it, or -1
  All step;   // one a base dimension: its step along `from`; 0 when from is -1
};
using ViewMap = BasicViewMap<Dims>;

// `base`: a dense layout, wherever it starts; the view starts so many bytes from element 0 of it.
std::optional<ViewMap> decompose(const Strided& base, const Strided& view);

// The index of every view that steps forwards. Several dimensions of the view may step through one
// of the base, as windows and split dimensions do: its index is its start and the sum of what they
// step. Where that sum reaches beyond the dimension it counts on in the next wider one, as merged
// dimensions do: the indices are the digits of the sum.
template <class All>
struct BasicIndexMap {
  All start;   // one a base dimension
  Dims wider;  // one a base dimension: where its sum counts on, or -1
  Dims axis;   // one a view's dimension: the base dimension that it steps through, or -1
  All step;    // one a view's dimension
  bool divides() const {
    return std::any_of(wider.begin(), wider.end(), [](std::int64_t w) { return w >= 0; });
  }
  // Where it shows all of the base, each of its dimensions one of the base's or several merged: of
  // each of the base's, the view's that has it, or -1.
  std::optional<Dims> merged_by(const All& base_shape, const All& shape) const {
    if (!(element_count(base_shape) == element_count(shape))) return std::nullopt;
    Dims by(wider.size(), -1);
    for (int j = 0; j < axis.size(); ++j) {
      if (shape[j] == 1) continue;
      const auto d = static_cast<int>(axis[j]);
      if (d < 0 || !(step[j] == 1) || !(start[d] == 0) || by[d] >= 0) return std::nullopt;
      for (std::int64_t w = d; w >= 0; w = wider[static_cast<int>(w)]) by[static_cast<int>(w)] = j;
    }
    return by;
  }
};
using IndexMap = BasicIndexMap<Dims>;

std::optional<IndexMap> decompose_index(const Strided& base, const Strided& view);

}  // namespace plait::fusion
