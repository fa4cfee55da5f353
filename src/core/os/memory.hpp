// What memory the system lets this process have.
#pragma once
#include <cstddef>
#include <string>

namespace plait::os {

// The machine's memory, or less where a control group (a container) has less.
std::size_t memory_limit();
// Whether this much more could be used now, by the limits of the address space and of control
// groups. It takes some microseconds, and reserves nothing.
bool memory_left_for(std::size_t bytes);

// What could be used before the system swaps or ends processes, roughly; some tens of microseconds.
std::size_t memory_available();

// Of this process's control groups: the least limit, and the least of what limits leave. Without a
// limit both are the largest number. `root` stands before /proc and before the mount points, for
// tests.
struct GroupMemory {
  std::size_t limit, left;
};
GroupMemory group_memory(const std::string& root = "");

}  // namespace plait::os
