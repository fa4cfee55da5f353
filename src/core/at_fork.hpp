// Fork: a child has one thread and the parent's locks as they were.
#pragma once
#include <mutex>

namespace plait {

// The lock is taken before a fork and free in parent and child after it. It is never destroyed.
// Locks are taken in the order of registration.
void hold_over_fork(std::mutex& m);
// Called in the child, with the held locks free again.
void after_fork_in_child(void (*f)(void*), void* argument);

}  // namespace plait
