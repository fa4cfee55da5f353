// How many processors this process may keep busy.
#pragma once

namespace plait::engine {

// The CPUs of the affinity mask, or fewer where a control group's quota gives less: the whole ones
// of it, or rounded up, for loops so long that they gain by running on more threads for a part of
// the time. Asked of the system at most every second.
int available_cpus(bool rounded_up = false);

}  // namespace plait::engine
