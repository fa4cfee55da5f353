// What names a row of the table of calls, for headers that a new row is to leave as they are.
#pragma once
#include <cstdint>

namespace plait {

enum class CallId : std::uint8_t;
inline constexpr CallId kNoCall{0xff};

}  // namespace plait
