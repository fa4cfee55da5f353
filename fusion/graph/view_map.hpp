// A view of a value that is not in memory yet, as an index map: element j of the view is element
// start + step * j of the base, dimension by dimension. Slices, transposes, broadcasts and new axes
// decompose; a reshape that splits or merges dimensions does not, and its base is then put in
// memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

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

// The same where several dimensions of the view may step through one of the base, as windows do:
// the index of a base dimension is its start and the sum of what those dimensions step.
struct AxisMap {
  Dims start;  // one a base dimension
  Dims axis;   // one a view's dimension: the base dimension that it steps through, or -1
  Dims step;   // one a view's dimension
};

// For views that step forwards.
std::optional<AxisMap> decompose_windows(const Dims& base_shape, const Dims& base_strides,
                                         std::int64_t offset, const Dims& shape,
                                         const Dims& strides);

// Where each dimension of a view of all of a base in C order is several of the base's next to each
// other, merged, as reshape does: of each those dimensions, [first, last).
struct MergedAxes {
  Dims first, last;
  // Of each of the base's what belongs to the view's that has it.
  template <class T>
  std::vector<T> of_base(const std::vector<T>& of) const {
    std::vector<T> at(static_cast<std::size_t>(*std::max_element(last.begin(), last.end())));
    for (int j = 0; j < last.size(); ++j)
      for (auto d = first[j]; d < last[j]; ++d)
        at[static_cast<std::size_t>(d)] = of[static_cast<std::size_t>(j)];
    return at;
  }
};
std::optional<MergedAxes> decompose_merged(const Dims& base_shape, const Dims& base_strides,
                                           const Dims& shape, const Dims& strides);

}  // namespace plait::fusion
