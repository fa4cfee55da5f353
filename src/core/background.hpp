// Work in the background: a thread, mostly of low priority, that does one job after another.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace plait {

class Job {
 public:
  virtual ~Job() = default;
  // `ending`: the process ends, and waits for the job.
  virtual void run(const std::atomic<bool>& ending) noexcept = 0;
  // In a child of fork(), which has no such thread: the job will not be done there; `begun` where
  // the parent's thread was at it.
  virtual void lost([[maybe_unused]] bool begun) noexcept {}
};

// Not of idle priority: on a busy machine a thread of that kind stands still for seconds, with
// whatever lock it holds, and the process could not end before it has.
//
// Never destroyed: the thread may still run while static objects go. The process ends after the job
// in work, without those that wait.
class Background {
 public:
  enum class Priority : std::uint8_t { Low, Normal };
  // `name`: what traces call the thread.
  explicit Background(const char* name, Priority p = Priority::Low);
  ~Background() = delete;

  enum class Answer : std::uint8_t { Accepted, Full, Ending, NoThread };
  enum class Turn : std::uint8_t { Last, Next };  // behind or before those that wait
  // The thread starts with the first job. `job` is taken only when it is accepted. Throws
  // std::bad_alloc.
  Answer add(std::unique_ptr<Job>& job, std::size_t most_waiting = SIZE_MAX,
             Turn turn = Turn::Last);
  void wait_idle();  // until nothing waits and nothing is in work

  // Around fork(), in the thread that calls it, without a lock that a job takes: jobs in work end
  // first, and none begins until after it. A child in the middle of one would inherit what that had
  // begun: objects half made whose maker does not exist there, locks of LLVM and of the C library.
  static void hold_over_fork();
  static void release_after_fork();

 private:
  void work();
  void stop();
  void reset_in_child();

  std::mutex mutex_;
  std::mutex working_;  // held while a job runs
  std::condition_variable changed_, idle_;
  std::deque<std::unique_ptr<Job>> waiting_;
  Job* in_work_ = nullptr;
  bool running_ = false, busy_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  const char* const name_;
  const Priority priority_;
  Background* next_;  // of those to stop at exit
};

}  // namespace plait
