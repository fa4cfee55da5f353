// The machine code of a C function that gives its arguments to Plait as they come in registers.
#pragma once
#include <string_view>

namespace plait {

// With the two addresses below in place of these numbers; none on processors for which nobody has
// written it. It stores the six registers of integers and the eight of floats, in order, gives that
// memory to the second address, behind the first one, and returns the 64 bits that come back as an
// integer and as a float. What other arguments there are lies 128 + 16 bytes above.
std::string_view c_entry();
constexpr unsigned long long kEntryOwner = 0x1111111111111111, kEntryTarget = 0x2222222222222222;

}  // namespace plait
