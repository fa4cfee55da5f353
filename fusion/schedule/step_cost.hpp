// What a step of a plan costs before it is lowered, from what a survey found.
#pragma once
#include "problem.hpp"

namespace plait::fusion {
struct Step;

// Of work that so many workers can share, at most. What a device takes is counted with all of its
// workers, what a host takes with one.
double shared_seconds(const Problem& p, double seconds, std::int64_t parts);

// Of a step that moves so many bytes: seconds of one thread; double where no second one can help.
double step_seconds(const Problem& p, const Step& s, double bytes);

}  // namespace plait::fusion
