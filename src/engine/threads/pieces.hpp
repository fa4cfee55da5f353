// The iterations that are left of a parallel loop, a range for each worker, which takes pieces from
// the front of its own and, when that is empty, from the back of the longest. So workers that keep
// up with each other meet the same part of an array in every loop, and in their caches. Pieces grow
// smaller towards the end: the last ones end at about the same time.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "team.hpp"

namespace plait::engine {

class Pieces {
 public:
  // All of it is the caller's until it is divided. Nobody else is inside yet. Small pieces: of one
  // unit each.
  void start(const ParallelLoop& l, bool small);
  void divide(int workers);
  // What some iterations took.
  void correct(double seconds, std::int64_t iterations);
  double seconds_left() const;  // as long as it is not divided
  void stop();

  // `least`: seconds of a small piece. False: nothing is left.
  bool claim(int worker, double least, std::int64_t& begin, std::int64_t& end);

 private:
  struct alignas(64) Range {
    std::atomic<std::uint64_t> of{0};  // first unit, and one past the last
  };
  static std::uint64_t pack(std::int64_t begin, std::int64_t end) {
    return static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint64_t>(end);
  }
  static std::pair<std::int64_t, std::int64_t> unpack(std::uint64_t r) {
    return {static_cast<std::int64_t>(r >> 32), static_cast<std::int64_t>(r & 0xffffffff)};
  }
  int longest() const;  // -1: all are empty

  std::int64_t extent_ = 0, unit_ = 1;
  double longest_ = 0;
  bool small_ = false;
  std::atomic<double> rate_{0};  // seconds of an iteration
  int count_ = 1;
  std::vector<Range> ranges_;
};

}  // namespace plait::engine
