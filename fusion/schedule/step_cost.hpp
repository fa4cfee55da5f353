// What a step of a plan costs before it is lowered, from what a survey found.
#pragma once
#include "problem.hpp"

namespace plait::fusion {
struct Step;

// Of a step that moves so many bytes: seconds of one thread; double where no second one can help.
double step_seconds(const Problem& p, const Step& s, double bytes);

}  // namespace plait::fusion
