// Scans, the calls that fold along an axis and keep every step, as folds of a region's loops.
#pragma once
#include <optional>
#include <vector>

#include "graph.hpp"

namespace plait::fusion {

struct Scan {
  ReduceKind kind;
  int axis;
};
// How a loop computes the node, to the bits of the call; nothing where it cannot.
std::optional<Scan> scan_of(const tracer::Node& n);
// The same, where the axis is long enough to be a loop.
std::optional<Scan> looped_scan(const tracer::Node& n);

// Whether that view reads its base, of the same axes, further along one axis and nowhere else.
bool shifts_along(const tracer::Node& view, const ViewMap& map, const tracer::Node& base, int axis);

}  // namespace plait::fusion
