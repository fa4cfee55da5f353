// Work in the background, at the end of the process.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

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
