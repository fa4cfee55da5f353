// Full reductions that give their number at the call, with those that will be asked for next:
// engine/plans/reductions_along.hpp.
#pragma once
#include <optional>

#include "core/scalar.hpp"
#include "engine/plans/reductions_along.hpp"
#include "tracer/array.hpp"

namespace plait::numpy {

using engine::FullReduction;

// The number, or nullopt where it is to be computed as usual. `site`: the call's; 0 is none.
std::optional<Scalar> reduced_along(FullReduction what, const tracer::Array& a, std::uint32_t site);

}  // namespace plait::numpy
