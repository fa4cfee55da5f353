// Scans, the calls that fold along an axis and keep every step, as folds of a region's loops.
#pragma once
#include <optional>

#include "core/machine.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

struct Scan {
  ReduceKind kind;
  int axis;
};
// How a loop computes the node, to the bits of the call; nothing where it cannot.
std::optional<Scan> scan_of(const Node& n);
// The same, where the axis is long enough to be a loop. A device has no calls, so hardly any is
// short.
std::optional<Scan> looped_scan(const Node& n, const Target& t);

// Of all its lines on one thread: by a loop of a region, whose lanes lie along the other axes where
// those lie closer, or by the call, which takes lines side by side.
double scan_seconds(const Machine& m, const Node& n, int axis, bool call);

// Whether that view reads its base, of the same axes, further along one axis and nowhere else.
bool shifts_along(const Node& view, const PlanViewMap& map, const Node& base, int axis);

}  // namespace plait::fusion
