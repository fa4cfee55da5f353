// Which steps of a plan for the host are run together: see wavefront.hpp.
#pragma once
#include "executor.hpp"
#include "trailing.hpp"

namespace plait::engine {

// How a step takes part: where the memory of what it updates comes from. Or why it does not.
struct Chained {
  const char* refused = nullptr;
  fusion::UpdateMode update = fusion::UpdateMode::None;
  std::optional<Trail> trail = {};
};
Chained chained(const BoundStep& s, const Bindings& b);

// Stretches that pass over the same memory several times.
std::vector<Stretch> chains(std::span<const BoundStep> steps, const Bindings& b, const Recording& r,
                            double (*predicted)(const BoundStep&));

}  // namespace plait::engine
