#include "engine/threads/team.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "engine/threads/account.hpp"

using namespace plait::engine;

namespace {

// Every loop is shared and cut into small pieces while one of these lives.
struct Shared {
  Shared() { set_sharing(Sharing::Always); }
  ~Shared() { set_sharing(Sharing::WhenItPays); }
};

// How often each iteration ran, and whether a worker was inside twice or had a number too high.
struct Counted {
  explicit Counted(std::int64_t extent, int threads)
      : times(static_cast<std::size_t>(extent)), inside(static_cast<std::size_t>(threads)) {}
  bool operator()(std::int64_t begin, std::int64_t end, int worker) {
    if (worker < 0 || worker >= static_cast<int>(inside.size()))
      wrong = true;
    else if (inside[static_cast<std::size_t>(worker)].exchange(true))
      wrong = true;
    for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
    if (worker > 0) helped = true;
    inside[static_cast<std::size_t>(worker)] = false;
    return true;
  }
  bool each_once() const {
    for (const auto& t : times)
      if (t != 1) return false;
    return !wrong;
  }
  std::vector<std::atomic<int>> times;
  std::vector<std::atomic<bool>> inside;
  std::atomic<bool> wrong{false}, helped{false};
};

void spin(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) continue;
}

}  // namespace

TEST_CASE("each iteration runs once, on workers with numbers of their own") {
  for (const Sharing s : {Sharing::WhenItPays, Sharing::Always}) {
    set_sharing(s);
    for (const int threads : {1, 2, 3, 8})
      for (const std::int64_t extent : {1, 2, 7, 64, 1000, 4099})
        for (const std::int64_t multiple : {1, 16, 256})
          for (const double seconds : {0.0, 1e-4, 0.2}) {
            Counted body(extent, threads);
            run_parallel({.extent = extent,
                          .seconds = seconds,
                          .threads = threads,
                          .multiple = multiple,
                          .longest = 1e-3},
                         body);
            INFO(threads << " threads, " << extent << " by " << multiple);
            REQUIRE(body.each_once());
          }
  }
  set_sharing(Sharing::WhenItPays);
}

TEST_CASE("helpers come") {
  const Shared all;
  Counted body(20000, 2);
  for (int round = 0; round < 100 && !body.helped; ++round)
    run_parallel({.extent = 20000, .seconds = 1, .threads = 2}, body);
  CHECK(body.helped);
}

TEST_CASE("pieces begin at multiples") {
  const Shared all;
  std::atomic<int> odd{0};
  run_parallel({.extent = 10000, .seconds = 1, .threads = 3, .multiple = 256},
               [&](std::int64_t begin, std::int64_t end, int) {
                 odd += begin % 256 != 0 || (end % 256 != 0 && end != 10000);
                 return true;
               });
  CHECK(odd == 0);
}

TEST_CASE("a body ends the loop") {
  for (const int threads : {1, 4}) {
    const Shared all;
    std::atomic<int> pieces{0};
    run_parallel({.extent = 1'000'000, .seconds = 1, .threads = threads},
                 [&](std::int64_t, std::int64_t, int) { return ++pieces < 10; });
    CHECK(pieces >= 10);
    CHECK(pieces < 10 + 2 * threads);
  }
}

TEST_CASE("long loops are cut so that the body can look around") {
  std::int64_t pieces = 0;
  run_parallel({.extent = 1000, .seconds = 0.1, .threads = 1, .longest = 1e-3},
               [&](std::int64_t begin, std::int64_t end, int) {
                 spin(1e-5 * static_cast<double>(end - begin));
                 return ++pieces > 0;
               });
  CHECK(pieces >= 5);
}

TEST_CASE("loops of several threads, and loops in loops") {
  for (const Sharing s : {Sharing::WhenItPays, Sharing::Always}) {
    set_sharing(s);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          Counted body(500, 3);
          run_parallel({.extent = 500, .seconds = 1e-3, .threads = 3}, body);
          wrong += !body.each_once();
        }
      });
    for (std::thread& c : callers) c.join();
    CHECK(wrong == 0);
    std::atomic<int> inner{0};
    run_parallel({.extent = 10, .seconds = 1e-3, .threads = 2},
                 [&](std::int64_t begin, std::int64_t end, int) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     Counted body(100, 2);
                     run_parallel({.extent = 100, .seconds = 1e-3, .threads = 2}, body);
                     inner += body.each_once();
                   }
                   return true;
                 });
    CHECK(inner == 10);
  }
  set_sharing(Sharing::WhenItPays);
}

TEST_CASE("helpers round as the caller does") {
  const Shared all;
  std::fesetround(FE_UPWARD);
  std::atomic<int> other{0};
  for (int round = 0; round < 20; ++round)
    run_parallel({.extent = 2000, .seconds = 1, .threads = 2},
                 [&](std::int64_t, std::int64_t, int) {
                   volatile double one = 1, tiny = 1e-30;
                   other += one + tiny == 1.0;
                   return true;
                 });
  std::fesetround(FE_TONEAREST);
  CHECK(other == 0);
}

TEST_CASE("a child of fork has helpers of its own") {
  const Shared all;
  Counted before(2000, 2);
  run_parallel({.extent = 2000, .seconds = 1, .threads = 2}, before);
  start();  // fork handlers
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Counted body(20000, 2);
    int rounds = 0;
    for (; rounds < 100 && !body.helped; ++rounds)
      run_parallel({.extent = 20000, .seconds = 1, .threads = 2}, body);
    bool right = body.helped;
    for (const auto& t : body.times) right = right && t == rounds;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("memory is copied by the team") {
  for (const Sharing s : {Sharing::WhenItPays, Sharing::Always}) {
    set_sharing(s);
    std::vector<int> from(3'000'001), to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i);
    copy_memory(to.data(), from.data(), static_cast<std::int64_t>(from.size() * sizeof(int)));
    CHECK(to == from);
  }
  set_sharing(Sharing::WhenItPays);
}

TEST_CASE("a team that brings something goes on, whatever was predicted") {
  Account a;
  double at = 0;
  for (int loop = 0; loop < 100; ++loop) {
    a.add(13e-3, 26e-3, 2);
    CHECK(a.open(at += 13e-3));
  }
}

TEST_CASE("a team whose helpers lose their cores pauses, and looks again later") {
  Account a;
  REQUIRE(a.open(0));
  a.add(5e-3, 2e-3, 2);
  CHECK_FALSE(a.open(0));
  CHECK_FALSE(a.open(10e-3));
  CHECK(a.open(0.2));
  a.add(1, 0.1, 2);  // the debt has a bound
  CHECK_FALSE(a.open(0.25));
  CHECK(a.open(0.5));
}

TEST_CASE("of a small part of a loop, no more is believed than all threads can have computed") {
  Account a;
  a.add(1e-3, 50e-3, 2);
  a.add(4e-3, 2e-3, 2);
  CHECK_FALSE(a.open(0));
}

TEST_CASE("a shared loop is compared with how long others let one thread wait") {
  Account a;
  for (int loop = 0; loop < 100; ++loop) a.learn(20e-3, 10e-3);
  for (int loop = 0; loop < 10; ++loop) a.add(15e-3, 10e-3, 2);
  CHECK(a.open(0));
}
