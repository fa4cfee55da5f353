#include "openmp_threads.hpp"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "core/os/threads.hpp"

namespace plait::engine {

namespace {

constexpr int kSpare = 4;
constexpr std::size_t kSpareBytes = 1 << 20;  // libgomp's own memory

// Threads that are alive at the same time and end together.
struct Trial {
  std::mutex mutex;
  std::condition_variable end;
  bool over = false;
  std::vector<pthread_t> threads;
  std::vector<long> ids;

  static void* wait(void* p) {
    Trial& t = *static_cast<Trial*>(p);
    std::unique_lock held(t.mutex);
    t.ids.push_back(os::thread_id());
    t.end.notify_all();
    t.end.wait(held, [&] { return t.over; });
    return nullptr;
  }
};

bool there_is_room(int threads) {
  Trial t;
  const auto wanted = static_cast<std::size_t>(threads + kSpare);
  try {
    t.threads.reserve(wanted);
    t.ids.reserve(wanted);
    const std::vector<char> room(kSpareBytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t id;
  while (t.threads.size() < wanted && pthread_create(&id, nullptr, &Trial::wait, &t) == 0)
    t.threads.push_back(id);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  {
    std::unique_lock held(t.mutex);
    t.end.wait(held, [&] { return t.ids.size() == t.threads.size(); });
    t.over = true;
  }
  t.end.notify_all();
  for (const pthread_t thread : t.threads) pthread_join(thread, nullptr);
  // A thread counts against the limits for a moment after it has been joined.
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(20);
  for (const long thread : t.ids)
    while (os::has_thread(thread))
      if (Clock::now() < until)
        std::this_thread::yield();
      else
        return false;
  return t.threads.size() == wanted;
}

// A child of fork() has no team.
std::atomic<unsigned> process{0};
void count_process() { ++process; }

}  // namespace

bool openmp_has_threads(int threads) {
  if (omp_in_parallel()) return false;
  static const int counted = pthread_atfork(nullptr, nullptr, &count_process);
  thread_local int team = 1;
  thread_local unsigned of_process = 0;
  if (counted != 0) return false;
  if (std::exchange(of_process, process.load()) != process.load()) team = 1;
  if (threads > team && !there_is_room(threads - 1)) return false;
  team = threads;  // libgomp keeps the threads of the last region
  return true;
}

}  // namespace plait::engine
