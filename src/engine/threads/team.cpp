#include "team.hpp"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <string>

#include "account.hpp"
#include "core/config.hpp"
#include "core/machine.hpp"
#include "core/os/threads.hpp"
#include "core/processor/pause.hpp"
#include "core/timeline.hpp"
#include "cpus.hpp"
#include "engine/engine.hpp"
#include "float_control.hpp"
#include "lent_threads.hpp"
#include "openmp_threads.hpp"
#include "pieces.hpp"
#include "seconds.hpp"

namespace plait::engine {

namespace {

// Seconds. The smallest piece of a loop that is left to the team; how long a thread spins
// for the next loop, and for the last piece of this one, before it sleeps.
constexpr double kPiece = 10e-6, kAlonePiece = 100e-6, kSpin = 20e-6;
constexpr double kTryAgain = 10e-3;
// Loops that do not notice OpenMP's barriers: its threads spin for milliseconds after each.
constexpr double kOpenMp = 0.1;
constexpr std::size_t kStack = 4 << 20;
constexpr double kEnough = 0.2;  // part of a loop that shows what all of it takes

using Word = std::atomic<std::uint32_t>;
using os::sleep_while, os::wake;
// The caller of a loop waits; `body` looks around meanwhile. A signal ends a sleep, too.
void sleep_and_look(Word& w, std::uint32_t value, LoopBody body, Pieces& pieces) {
  constexpr std::int64_t kLook = 10'000'000;  // ns
  sleep_while(w, value, kLook);
  if (!body(0, 0, 0)) pieces.stop();
}

// One loop at a time is shared: those of other threads, and of a signal's handler in the middle of
// one, run alone.
class Shared {
 public:
  explicit Shared(std::atomic<bool>& taken)
      : taken_(taken), mine_(!taken.exchange(true, std::memory_order_acquire)) {}
  ~Shared() {
    if (mine_) taken_.store(false, std::memory_order_release);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  std::atomic<bool>& taken_;
  const bool mine_;
};

class Team {
 public:
  double run(const ParallelLoop& loop, LoopBody body);
  void reset_in_child();

 private:
  // Helpers inside the loop, and above them:
  static constexpr std::uint32_t kOpen = 1U << 31, kCallerSleeps = 1U << 30;
  static constexpr std::uint32_t kInside = kCallerSleeps - 1;

  bool worth(double seconds, double at);
  double account_for(const ParallelLoop& loop, double started, double alone);
  void open(double at);
  void close();
  void grow();
  void ask(int threads);

  static void* helper(void* team);
  void help(int worker);
  void take_part(int worker);
  void wait_for_loop(std::uint32_t seen);

  std::atomic<bool> taken_{false};
  Account account_;
  double grow_again_ = 0;
  double in_time_ = 1, tried_ = 0;  // share of loops to which a helper that slept came in time

  // The loop that is shared. Helpers look at it only between entering through the door and leaving.
  Pieces pieces_;
  const LoopBody* body_ = nullptr;
  int threads_ = 1;
  unsigned control_ = 0;
  std::atomic<int> to_ask_{0};

  alignas(64) Word door_{0};
  alignas(64) Word bell_{0};  // rings for each loop
  std::atomic<int> caller_cpu_{-1};
  std::atomic<int> helpers_{0}, started_{0}, sleepers_{0}, spinners_{0};
  std::atomic<double> soon_{0};  // share of loops that came while a helper would have spun
};

// Immortal: helpers sleep on it while the process ends.
Team& team() {
  alignas(Team) static unsigned char memory[sizeof(Team)];
  static Team& t = *new (memory) Team;
  return t;
}

std::atomic<Sharing>& sharing() {
  static std::atomic<Sharing> s = config().always_share ? Sharing::Always : Sharing::WhenItPays;
  return s;
}
bool always() { return shares_always(); }

std::atomic<bool>& lent_taken() {
  static std::atomic<bool> taken{false};
  return taken;
}

double run_alone(const ParallelLoop& loop, LoopBody body) {
  if (loop.seconds <= loop.longest && !always()) {
    const double start = seconds_now();
    body(0, loop.extent, 0);
    return seconds_now() - start;
  }
  Pieces p;
  p.start(loop, always());
  const double start = seconds_now();
  double last = start;
  std::int64_t begin, end;
  while (p.claim(0, loop.longest, begin, end)) {
    if (!body(begin, end, 0)) break;
    const double at = seconds_now();
    p.correct(at - last, end - begin);
    last = at;
  }
  return seconds_now() - start;
}

double run_openmp(const ParallelLoop& loop, LoopBody body) {
  Pieces p;
  p.start(loop, false);
  p.divide(loop.threads);
  const double start = cpu_seconds();
  double used = 0;
  std::int64_t done = 0;
  Word ended{0};  // workers but the caller
  const unsigned control = float_control();
#pragma omp parallel num_threads(loop.threads)
  {
    const int worker = omp_get_thread_num();
    if (worker != 0) set_float_control(control);
    std::int64_t begin, end;
    double last = seconds_now();
    while (p.claim(worker, kPiece, begin, end)) {
      if (!body(begin, end, worker)) p.stop();
      if (worker != 0) continue;
      done += end - begin;
      const double at = seconds_now();
      p.correct(at - last, end - begin);
      last = at;
    }
    if (worker != 0) {
      ++ended;
      wake(ended, 1);
    } else {
      used = cpu_seconds() - start;
      // Here, and not in OpenMP's barrier, where nobody looks around.
      const auto others = static_cast<std::uint32_t>(omp_get_num_threads() - 1);
      for (std::uint32_t n; (n = ended.load()) != others;) sleep_and_look(ended, n, body, p);
    }
  }
  return done > 0 ? used * static_cast<double>(loop.extent) / static_cast<double>(done)
                  : loop.seconds;
}

double Team::account_for(const ParallelLoop& loop, double started, double alone) {
  account_.add(seconds_now() - started, alone, loop.threads);
  return alone;
}

// Whether so much work is worth a team now. Half of what is left when a helper comes is saved, if
// one comes; that is tried now and then where they have been late.
bool Team::worth(double seconds, double at) {
  if (always()) return true;
  const Machine& m = host_machine();
  if (seconds < m.least_shared || !account_.open(at)) return false;
  if (spinners_.load(std::memory_order_relaxed) > 0)
    return seconds / 2 > 2 * (m.ask_awake + m.join);
  const double saved = (seconds - m.wake) / 2, cost = 2 * (m.ask_asleep + m.join);
  if (saved * in_time_ > cost) return true;
  if (saved < cost || at - tried_ < kTryAgain) return false;
  tried_ = at;
  return true;
}

double Team::run(const ParallelLoop& loop, LoopBody body) {
  const Shared shared_here(taken_);
  if (!shared_here) return run_alone(loop, body);
  double last = seconds_now();
  if (loop.seconds >= kOpenMp && !always() && worth(loop.seconds, last) &&
      openmp_has_threads(loop.threads))
    return account_for(loop, last, run_openmp(loop, body));

  const bool long_enough = loop.seconds > kAlonePiece / 4;
  const double began = last, started = long_enough ? cpu_seconds() : last;
  bool shared = false, asleep = false;
  std::int64_t done = 0, begin, end;
  pieces_.start(loop, always());
  body_ = &body;
  threads_ = loop.threads;
  for (;;) {
    if (!shared && worth(pieces_.seconds_left(), last)) {
      shared = true;
      asleep = spinners_.load(std::memory_order_relaxed) == 0;
      pieces_.divide(loop.threads);
      open(last);
      last = seconds_now();
    }
    if (!pieces_.claim(0, shared ? kPiece : kAlonePiece, begin, end)) break;
    if (!body(begin, end, 0)) pieces_.stop();
    done += end - begin;
    if (done == loop.extent) break;
    const double at = seconds_now();
    pieces_.correct(at - last, end - begin);
    last = at;
  }
  const double used = (long_enough ? cpu_seconds() : seconds_now()) - started;
  const double part = static_cast<double>(done) / static_cast<double>(loop.extent);
  // Where others did most of it, what one thread takes is not seen.
  const double alone = part > kEnough ? used / part : loop.seconds;
  if (shared) {
    close();
    if (asleep) in_time_ = done < loop.extent ? (1 + in_time_) / 2 : 0.75 * in_time_;
    // All that passed counts: a helper may have taken the caller's own processor.
    account_for(loop, began, alone);
  } else if (long_enough) {
    account_.learn(seconds_now() - began, used);
  }
  return alone;
}

void Team::open(double at) {
  control_ = float_control();
  caller_cpu_.store(os::this_cpu(), std::memory_order_relaxed);
  if (helpers_.load(std::memory_order_relaxed) < threads_ - 1) grow();
  const int awake = spinners_.load();
  to_ask_.store(threads_ - 1 - awake, std::memory_order_relaxed);
  door_.store(kOpen, std::memory_order_release);
  bell_.fetch_add(1);
  if (awake == 0 && sleepers_.load() > 0) ask(1);
  if (always())
    while ((door_.load(std::memory_order_relaxed) & kInside) == 0 &&
           seconds_now() - at < kAlonePiece)
      pause_a_moment();
}

void Team::close() {
  const double start = seconds_now();
  if (door_.fetch_and(~kOpen, std::memory_order_acq_rel) != kOpen) {
    while ((door_.load(std::memory_order_acquire) & kInside) != 0 && seconds_now() - start < kSpin)
      pause_a_moment();
    std::uint32_t seen = door_.fetch_or(kCallerSleeps, std::memory_order_acq_rel) | kCallerSleeps;
    while ((seen & kInside) != 0) {
      sleep_and_look(door_, seen, *body_, pieces_);
      seen = door_.load(std::memory_order_acquire);
    }
    door_.store(0, std::memory_order_relaxed);
  }
}

// Each helper that comes asks two others.
void Team::ask(int threads) {
  const int wanted = to_ask_.fetch_sub(threads, std::memory_order_relaxed);
  if (wanted > 0) wake(bell_, std::min(wanted, threads));
}

// One more helper, for a loop is waiting meanwhile. It sees no signals: they are the program's.
void Team::grow() {
  const double at = seconds_now();
  if (at < grow_again_) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t how;
  if (pthread_attr_init(&how) != 0) return;
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&how, kStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t id;
  if (pthread_create(&id, &how, &Team::helper, this) == 0)
    ++helpers_;
  else
    grow_again_ = at + 1;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&how);
}

void* Team::helper(void* t) {
  Team& team = *static_cast<Team*>(t);
  const int worker = 1 + team.started_++;
  timeline::name_thread("plait: thread " + std::to_string(worker + 1));
  team.help(worker);
  return nullptr;
}

void Team::help(int worker) {
  for (;;) {
    const std::uint32_t seen = bell_.load();
    take_part(worker);
    wait_for_loop(seen);
  }
}

void Team::take_part(int worker) {
  std::uint32_t door = door_.load(std::memory_order_relaxed);
  if (!(door & kOpen)) return;
  // A thread is often woken on the CPU of the one that wakes it, which would then wait for it.
  const int cpu = os::this_cpu();
  if (cpu >= 0 && cpu == caller_cpu_.load(std::memory_order_relaxed) && !os::leave_cpu(cpu)) return;
  do {
    if (!(door & kOpen)) return;
  } while (!door_.compare_exchange_weak(door, door + 1, std::memory_order_acquire,
                                        std::memory_order_relaxed));
  ask(worker < threads_ ? 2 : 1);
  if (worker < threads_) {
    set_float_control(control_);
    timeline::Span span(timeline::Category::Thread);
    span.name("part of a loop");
    std::int64_t begin, end;
    while (pieces_.claim(worker, kPiece, begin, end))
      if (!(*body_)(begin, end, worker)) pieces_.stop();
  }
  if (door_.fetch_sub(1, std::memory_order_acq_rel) == (kCallerSleeps | 1)) wake(door_, 1);
}

void Team::wait_for_loop(std::uint32_t seen) {
  const double start = seconds_now();
  if (soon_.load(std::memory_order_relaxed) > 0.3) {
    ++spinners_;
    while (bell_.load(std::memory_order_relaxed) == seen && seconds_now() - start < kSpin)
      pause_a_moment();
    --spinners_;
  }
  if (bell_.load() == seen) {
    ++sleepers_;
    while (bell_.load() == seen) sleep_while(bell_, seen);
    --sleepers_;
  }
  const bool soon = seconds_now() - start < kSpin;
  soon_.store(soon_.load() * 0.9 + (soon ? 0.1 : 0));
}

// Only the thread that forked is here. A loop that a helper was in would never end; the fork waits
// for evaluations, so there is none but that of a handler in the middle of one.
void Team::reset_in_child() {
  for (Word* w : {&door_, &bell_}) w->store(0);
  for (std::atomic<int>* n : {&helpers_, &started_, &sleepers_, &spinners_, &to_ask_}) n->store(0);
  grow_again_ = 0;
  taken_.store(false);
}

}  // namespace

void pause_a_moment() { spin_pause(); }

void set_sharing(Sharing s) { sharing().store(s); }
bool shares_always() { return sharing().load(std::memory_order_relaxed) == Sharing::Always; }

int team_threads(double seconds) {
  const int wanted = num_threads();
  if (wanted < 2 || always()) return wanted;
  return seconds < host_machine().least_shared
             ? 1
             : std::min(wanted, available_cpus(seconds >= kOpenMp));
}

double run_parallel(const ParallelLoop& loop, LoopBody body) {
  if (loop.extent <= 0) return 0;
  if (loop.threads < 2 || loop.extent <= loop.multiple) return run_alone(loop, body);
  if (!has_lent_threads()) return team().run(loop, body);
  const Shared shared(lent_taken());
  return shared ? run_lent(loop, body) : run_alone(loop, body);
}

void copy_memory(void* to, const void* from, std::int64_t bytes) {
  constexpr std::int64_t kBlock = 1 << 16;
  constexpr double kBytesASecond = 8e9;
  if (bytes < 4 * kBlock && !always()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  const double seconds = static_cast<double>(bytes) / kBytesASecond;
  const ParallelLoop loop{.extent = bytes,
                          .seconds = seconds,
                          .threads = team_threads(seconds),
                          .multiple = kBlock,
                          .longest = seconds};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
    return true;
  });
}

void reset_team_in_child() {
  team().reset_in_child();
  lent_taken().store(false);
  return_lent_threads_in_child();
}

}  // namespace plait::engine
