#include "lines.hpp"

#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>

#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"

namespace plait::engine {
namespace {

template <class F>
void with_item(std::size_t item, F&& f) {
  switch (item) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      struct Pair {
        std::uint64_t words[2];
      };
      return f(Pair{});
  }
}

}  // namespace

Lines::Lines(const Operand& o, int axis)
    : data_(o.data),
      n_(o.shape[axis]),
      stride_(o.strides[axis]),
      shape_(o.shape),
      strides_(o.strides) {
  shape_.erase(axis);
  strides_.erase(axis);
  count_ = element_count(shape_);
}

Line Lines::operator[](std::int64_t i) const {
  std::byte* at = data_;
  for (int d = shape_.size() - 1; d >= 0; --d) {
    at += i % shape_[d] * strides_[d];
    i /= shape_[d];
  }
  return {at, n_, stride_};
}

void run_pieces(std::int64_t extent, double seconds, std::int64_t unit,
                const std::function<void(std::int64_t begin, std::int64_t end)>& piece) {
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex guard;
  const ParallelLoop loop{
      .extent = extent, .seconds = seconds, .threads = team_threads(seconds), .multiple = unit};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    try {
      if (worker == 0) look_around();
      if (!failed) piece(begin, end);
    } catch (...) {
      const std::lock_guard held(guard);
      if (!failed.exchange(true)) error = std::current_exception();
    }
    return !failed;
  });
  if (error) std::rethrow_exception(error);
}

void gather_line(const Line& from, std::size_t item, std::byte* to) {
  if (from.stride == static_cast<std::int64_t>(item)) {
    if (to != from.data) std::memcpy(to, from.data, item * static_cast<std::size_t>(from.n));
    return;
  }
  with_item(item, [&](auto element) {
    const std::byte* at = from.data;
    for (std::int64_t i = 0; i < from.n; ++i, at += from.stride, to += sizeof element)
      std::memcpy(to, at, sizeof element);
  });
}

void scatter_line(const std::byte* from, std::size_t item, const Line& to) {
  if (to.stride == static_cast<std::int64_t>(item)) {
    std::memcpy(to.data, from, item * static_cast<std::size_t>(to.n));
    return;
  }
  with_item(item, [&](auto element) {
    std::byte* at = to.data;
    for (std::int64_t i = 0; i < to.n; ++i, at += to.stride, from += sizeof element)
      std::memcpy(at, from, sizeof element);
  });
}

}  // namespace plait::engine
