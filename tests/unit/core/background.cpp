// Work in the background, at the end of the process.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/background.hpp"

using namespace plait;

namespace {

std::atomic<bool> begun{false};

class UntilTheEnd final : public Job {
 public:
  void run(const std::atomic<bool>& ending) noexcept override {
    begun = true;
    while (!ending) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("a job in work hears that the process ends") {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    static Background& thread = *new Background("test");
    std::unique_ptr<Job> job = std::make_unique<UntilTheEnd>();
    if (thread.add(job) != Background::Answer::Accepted) _exit(2);
    while (!begun) std::this_thread::yield();
    std::exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

namespace {

std::atomic<int> done{0};
std::atomic<bool> in_the_middle{false};

class SomeWork final : public Job {
 public:
  void run(const std::atomic<bool>&) noexcept override {
    in_the_middle = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    in_the_middle = false;
    ++done;
  }
};

}  // namespace

TEST_CASE("a fork waits for the job in work, and a child does its own") {
  static Background& thread = *new Background("test");
  const auto add = [] {
    std::unique_ptr<Job> job = std::make_unique<SomeWork>();
    return thread.add(job) == Background::Answer::Accepted;
  };
  for (int i = 0; i < 3; ++i) REQUIRE(add());
  while (!in_the_middle) std::this_thread::yield();
  Background::hold_over_fork();
  const bool middle = in_the_middle;
  const pid_t child = fork();
  Background::release_after_fork();
  if (child == 0) {
    alarm(60);
    const int before = done;
    if (in_the_middle || !add()) _exit(1);
    while (done == before) std::this_thread::yield();
    _exit(0);
  }
  CHECK(!middle);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  thread.wait_idle();
  CHECK(done == 3);
}

namespace {

std::atomic<bool> waits{false}, goes_on{false};

class Waits final : public Job {
 public:
  void run(const std::atomic<bool>&) noexcept override {
    waits = true;
    while (!goes_on) std::this_thread::yield();
  }
};

std::vector<int> order;

class Numbered final : public Job {
 public:
  explicit Numbered(int number) : number_(number) {}
  void run(const std::atomic<bool>&) noexcept override { order.push_back(number_); }

 private:
  int number_;
};

}  // namespace

TEST_CASE("what is next is done before all that waits") {
  static Background& thread = *new Background("test of turns");
  const auto add = [](std::unique_ptr<Job> job, Background::Turn turn) {
    REQUIRE(thread.add(job, SIZE_MAX, turn) == Background::Answer::Accepted);
  };
  add(std::make_unique<Waits>(), Background::Turn::Last);
  while (!waits) std::this_thread::yield();
  add(std::make_unique<Numbered>(3), Background::Turn::Last);
  add(std::make_unique<Numbered>(4), Background::Turn::Last);
  add(std::make_unique<Numbered>(2), Background::Turn::Next);
  add(std::make_unique<Numbered>(1), Background::Turn::Next);
  goes_on = true;
  thread.wait_idle();
  CHECK(order == std::vector<int>{1, 2, 3, 4});
}
