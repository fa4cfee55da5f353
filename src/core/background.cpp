#include "background.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include "at_fork.hpp"
#include "os/threads.hpp"
#include "timeline.hpp"

namespace plait {
namespace {

std::atomic<Background*> last_made{nullptr};
Background* held_over_fork = nullptr;  // and those before it

}  // namespace

Background::Background(const char* name, Priority p)
    : name_(name), priority_(p), next_(last_made.load()) {
  plait::hold_over_fork(mutex_);
  after_fork_in_child([](void* b) { static_cast<Background*>(b)->reset_in_child(); }, this);
  static const int registered = std::atexit([] {
    for (Background* b = last_made.load(); b; b = b->next_) b->stop();
  });
  (void)registered;
  while (!last_made.compare_exchange_weak(next_, this)) continue;
}

Background::Answer Background::add(std::unique_ptr<Job>& job, std::size_t most_waiting, Turn turn) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return Answer::Ending;
  if (waiting_.size() >= most_waiting) return Answer::Full;
  if (!running_) try {
      thread_ = std::thread(&Background::work, this);
      running_ = true;
    } catch (const std::system_error&) {
      return Answer::NoThread;
    }
  if (turn == Turn::Next) {
    waiting_.emplace_front();
    waiting_.front() = std::move(job);
  } else {
    waiting_.emplace_back();
    waiting_.back() = std::move(job);
  }
  changed_.notify_one();
  return Answer::Accepted;
}

void Background::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return stopping_ || (waiting_.empty() && !busy_); });
}

void Background::work() {
  timeline::name_thread(name_);
  if (priority_ == Priority::Low) os::lower_priority();
  std::this_thread::yield();  // it came with the priority of its maker, and on one core in the
                              // maker's place
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    std::unique_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    in_work_ = job.get();
    busy_ = true;
    lock.unlock();
    {
      const std::lock_guard working(working_);
      job->run(stopping_);
    }
    lock.lock();
    in_work_ = nullptr;
    lock.unlock();
    job.reset();  // what it holds may take other locks to free
    lock.lock();
    busy_ = false;
    if (waiting_.empty()) idle_.notify_all();
  }
}

void Background::hold_over_fork() {
  held_over_fork = last_made.load();
  for (Background* b = held_over_fork; b; b = b->next_) b->working_.lock();
}
void Background::release_after_fork() {
  for (Background* b = held_over_fork; b; b = b->next_) b->working_.unlock();
}

// The next job starts another thread. What was about to begin is lost, too.
void Background::reset_in_child() {
  new (&thread_) std::thread;
  new (&changed_) std::condition_variable;
  new (&idle_) std::condition_variable;
  for (const auto& job : waiting_) job->lost(false);
  waiting_.clear();
  if (in_work_) in_work_->lost(true);
  in_work_ = nullptr;
  running_ = busy_ = false;
}

void Background::stop() {
  std::deque<std::unique_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
    if (!running_) return;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace plait
