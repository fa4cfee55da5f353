// Text as JSON has it.
#pragma once
#include <string>
#include <string_view>

namespace plait::json {

// A string in quotes. What is not UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);
// Begins the next member of an object, whose members up to here are `members`.
void begin_member(std::string& members, std::string_view name);

}  // namespace plait::json
