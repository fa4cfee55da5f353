// How many processors this process may keep busy.
#pragma once
#include <string>

namespace plait::engine {

// The CPUs of the affinity mask, or fewer where a control group's quota gives less: the whole ones
// of it, or rounded up, for loops so long that they gain by running on more threads for a part of
// the time. Asked of the system at most every second.
int available_cpus(bool rounded_up = false);

// What the control groups of a process allow, in CPUs; 0 where there is no limit. `root` stands
// before /proc and before the mount points, for tests.
double cpu_quota(const std::string& root = "");

}  // namespace plait::engine
