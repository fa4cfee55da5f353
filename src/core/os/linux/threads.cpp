#include "core/os/threads.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "control_groups.hpp"
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

namespace plait::os {

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free);

void sleep_while(Word& word, std::uint32_t value, std::int64_t at_most) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec until{.tv_sec = at_most / kSecond, .tv_nsec = at_most % kSecond};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, at_most ? &until : nullptr, nullptr, 0);
}
void wake(Word& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

long thread_id() { return syscall(SYS_gettid); }
bool has_thread(long id) { return syscall(SYS_tgkill, getpid(), id, 0) == 0; }

void lower_priority() {
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread_id()), kNice);  // there, of this thread
}

int this_cpu() { return sched_getcpu(); }

int process_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool leave_cpu(int cpu) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(cpu), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  sched_setaffinity(0, sizeof all, &all);
  return true;
}

namespace {

double quota_of(const ControlGroup& g) {
  double quota = 0, period = 0;
  if (g.unified) {
    std::ifstream in(g.folder + "/cpu.max");  // "max 100000"
    if (!(in >> quota >> period)) return 0;
  } else {
    std::ifstream most(g.folder + "/cpu.cfs_quota_us"), every(g.folder + "/cpu.cfs_period_us");
    if (!(most >> quota) || !(every >> period)) return 0;  // -1: none
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const ControlGroup& g : control_groups("cpu", root)) {
    const double q = quota_of(g);
    if (q > 0 && (least == 0 || q < least)) least = q;
  }
  return least;
}

// The thread sanitizer does not know the barrier.
#ifdef __SANITIZE_THREAD__
bool ask_for_barriers() { return false; }
void barrier_everywhere() {}
#else
bool ask_for_barriers() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
void barrier_everywhere() {
  // Where there was one before there is one now.
  while (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) ask_for_barriers();
}
#endif

}  // namespace plait::os
