// Threads and processors, beyond what the standard library has.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace plait::os {

// While the word has this value: until it is woken, a signal comes, or so many nanoseconds are over
// (0: however long).
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t at_most = 0);
void wake(std::atomic<std::uint32_t>& word, int threads);

long thread_id();  // of this thread; the first one of a process has the process's
bool has_thread(long id);
void lower_priority();  // of this thread, for good

int this_cpu();      // where this thread runs; -1: unknown
int process_cpus();  // that this process may run on, 1 or more
// Moves this thread to another one of them. False where there is no other.
bool leave_cpu(int cpu);

// What the control groups of this process allow, in CPUs; 0 where there is no limit. `root` stands
// before /proc and before the mount points, for tests.
double cpu_quota(const std::string& root = "");

// A full memory barrier in every thread of the process that runs. It has to be asked for, which may
// wait for all processors for milliseconds; false: there is none.
bool ask_for_barriers();
void barrier_everywhere();

}  // namespace plait::os
