// `x[label == k]` for one k after the other: where several were selected by the same labels, the
// labels are read once for all of them.
#pragma once
#include <memory>

#include "engine/direct/select.hpp"
#include "functions.hpp"

namespace plait::numpy {

// What a mask selects, where it is `label == k`, still to be computed, and the labels are grouped.
struct Group {
  std::shared_ptr<const engine::Groups> groups;  // null: look at the mask
  std::int64_t label = 0;
};
Group group_of(const Array& mask);

}  // namespace plait::numpy
