// Profiles of one thread, and what profiles know of memory; see timeline.hpp.
#pragma once
#include "timeline.hpp"

namespace plait::timeline {

// From now on, of the thread that calls it. Ended as those of all threads are.
int profile_this_thread();

struct SumWithMemory : Sum {
  std::int64_t grown;  // bytes by which the memory of arrays grew meanwhile; below 0: it shrank
};
std::vector<SumWithMemory> finish_profile_with_memory(int number);

}  // namespace plait::timeline
