// How many processors this process may keep busy.
#pragma once
#include <string>

namespace plait::engine {

// The CPUs of the affinity mask, or fewer where a control group's quota gives less, rounded up.
// Asked of the system at most every second.
int available_cpus();

// What the control groups of a process allow, in CPUs; 0 where there is no limit. `root` stands
// before /proc and before the mount points, for tests.
double cpu_quota(const std::string& root = "");

}  // namespace plait::engine
