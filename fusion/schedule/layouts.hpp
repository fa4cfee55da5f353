// The layout of values that nobody can observe. What is written to part of an array that has no
// memory itself (written_parts.hpp) lies as it would there: the loops that pack the array walk all
// of its parts in that order. Everything else lies as NumPy lays it out.
#pragma once
#include <span>
#include <vector>

#include "candidate.hpp"

namespace plait::fusion {

// Of each node its axes, the widest first; empty: as it was recorded.
std::vector<Dims> choose_layouts(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                 const Candidate& c, std::span<const Step> steps);

}  // namespace plait::fusion
