// The parts of the prelude (prelude/*.cuh), embedded by CMake.
#pragma once
#include <string_view>

namespace plait::cuda {
std::string_view prelude(std::string_view part);  // empty when there is none of that name
}
