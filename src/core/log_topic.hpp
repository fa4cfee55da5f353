// The names of the log's topics, as PLAIT_LOG and the lines of the log have them.
#pragma once
#include <string_view>

#include "config.hpp"

namespace plait {

std::string_view topic(Log what);

}  // namespace plait
