// Evaluations that another thread ends.
#include "plait/cancel.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "plait/plait.hpp"

namespace {

constexpr std::int64_t kMany = 1 << 22;

// Cancels once it has run for a while.
class Later {
 public:
  explicit Later(const plait::cancel_token& t)
      : thread_([t] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          t.cancel();
        }) {}
  ~Later() { thread_.join(); }

 private:
  std::thread thread_;
};

plait::array<double> slow(const plait::array<double>& x) {
  auto y = plait::sin(x);
  for (int i = 0; i < 20; ++i) y = plait::sin(y + x);
  return y;
}

}  // namespace

TEST_CASE("a token that another thread cancels ends evaluations, and nothing is lost") {
  const auto x = plait::linspace(0, 1, kMany);
  const plait::cancel_token stop;
  plait::array<double> y;
  {
    const Later later(stop);
    CHECK_THROWS_AS(plait::with_cancel(stop,
                                       [&] {
                                         for (;;) {
                                           y = slow(x);
                                           y.eval();
                                         }
                                       }),
                    plait::Cancelled);
  }
  CHECK(stop.cancelled());
  CHECK(plait::array_equal(y, slow(x).eval()));
}

TEST_CASE("what is written in place is written whole or not at all") {
  auto x = plait::ones<double>({kMany});
  plait::array<double> expected = plait::ones<double>({kMany});
  int recorded = 0;
  const plait::cancel_token stop;
  {
    const Later later(stop);
    CHECK_THROWS_AS(plait::with_cancel(stop,
                                       [&] {
                                         for (;;) {
                                           x += plait::sin(slow(x));
                                           ++recorded;
                                           x.eval();
                                         }
                                       }),
                    plait::Cancelled);
  }
  for (int i = 0; i < recorded; ++i) {
    expected += plait::sin(slow(expected));
    expected.eval();
  }
  CHECK(plait::array_equal(x, expected));
}

TEST_CASE("a token that is cancelled already ends short evaluations, too") {
  const plait::cancel_token stop, other;
  const plait::cancel_token same = stop;
  const plait::array<double> x = plait::linspace(0, 1, 10000);
  const auto y = x + 1;
  CHECK(plait::with_cancel(stop, [&] { return plait::sum(x * 2).item(); }) == Approx(10000));
  same.cancel();
  CHECK_THROWS_AS(plait::with_cancel(stop, [&] { y.eval(); }), plait::Cancelled);
  CHECK_THROWS_AS(plait::with_cancel(stop, [&] { plait::with_cancel(other, [&] { y.eval(); }); }),
                  plait::Cancelled);
  CHECK_FALSE(other.cancelled());
  // Of this thread and this call alone.
  plait::with_cancel(
      stop, [&] { std::thread([&] { CHECK(plait::sum(x + 3).item() == Approx(35000)); }).join(); });
  CHECK(plait::sum(y).item() == Approx(15000));
}

TEST_CASE("writes to memory that is given back arrive though evaluations are ended") {
  std::vector<double> memory(10000, 1);
  const plait::cancel_token stop;
  stop.cancel();
  plait::with_cancel(stop, [&] {
    auto x = plait::adapt(memory.data(), {10000});
    x += 1;
  });
  CHECK(memory == std::vector<double>(10000, 2));
}

TEST_CASE("an application hears how far a long plan is") {
  struct Heard {
    std::thread::id thread;
    int done, of;
  };
  std::vector<Heard> heard;
  plait::options o;
  o.progress = [&](int done, int of) {
    heard.push_back({std::this_thread::get_id(), done, of});
    throw 1;
  };
  plait::configure(o);
  auto x = plait::linspace(0, 1, kMany);
  for (int i = 0; i < 6; ++i) x = slow(x) / plait::sum(slow(x) * x);
  x.eval();
  o.progress.emplace();
  plait::configure(o);
  const std::size_t told = heard.size();
  REQUIRE(told > 1);
  for (std::size_t i = 0; i < told; ++i) {
    CHECK(heard[i].thread == std::this_thread::get_id());
    CHECK(heard[i].of == heard[0].of);
    if (i > 0) CHECK(heard[i].done > heard[i - 1].done);
  }
  CHECK(heard.back().done == heard.back().of);
  (slow(x) + 1).eval();
  CHECK(heard.size() == told);
}
