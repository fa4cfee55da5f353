// Ways of doing one thing, timed beside each other. They take turns, a millisecond or more each;
// printed are medians and what the first way, Plait's, takes of each other's time: below 1 it is
// ahead.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <plait/plait.hpp>
#include <string>
#include <vector>

inline volatile double sink;
inline int threads_now = 1;          // that Plait has
using Work = std::function<void()>;  // all that is timed at a time: `times` operations

struct Way {
  const char* name;
  Work work;
};
struct Case {
  const char* name;
  int times;
  std::vector<Way> ways;  // Plait's is the first
};

inline double microseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::micro> t = std::chrono::steady_clock::now() - start;
  return t.count();
}
inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

inline void compare(const Case& c, int threads) {
  plait::set_num_threads(threads_now = threads);
  std::vector<int> repeats;
  double longest = 0;
  for (const Way& w : c.ways) {
    for (int i = 0; i < 5; ++i) w.work();  // plans and machine code, too
    const double once = std::min(microseconds(w.work), microseconds(w.work));
    repeats.push_back(1 + static_cast<int>(1000 / once));
    longest = std::max(longest, once);
  }
  std::vector<std::vector<double>> times(c.ways.size());
  const int rounds = longest > 1e5 ? 7 : longest > 1e4 ? 15 : 51;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < c.ways.size(); ++i)
      times[i].push_back(microseconds([&] {
                           for (int k = 0; k < repeats[i]; ++k) c.ways[i].work();
                         }) /
                         (repeats[i] * c.times));
  const double ours = median(times[0]);
  std::printf("%-24s %d  %12.4f", c.name, threads, ours);
  for (std::size_t i = 1; i < c.ways.size(); ++i)
    std::printf("  %s %.4f (%.2f)", c.ways[i].name, median(times[i]), ours / median(times[i]));
  std::printf("\n");
}

// Many operations that take nanoseconds, as one.
template <class Do>
Work often(Do one) {
  return [one]() mutable {
    for (int i = 0; i < 1000; ++i) one();
  };
}

inline void compare_all(const std::vector<Case>& cases, const std::string& part) {
  std::printf("microseconds of an operation: case, Plait's threads, Plait, peers (ratio)\n");
  for (const Case& c : cases)
    if (std::string(c.name).find(part) != std::string::npos)
      for (const int threads : {1, 2}) compare(c, threads);
}
