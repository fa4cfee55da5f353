#include "pieces.hpp"

#include <algorithm>
#include <new>

namespace plait::engine {

void Pieces::start(const ParallelLoop& l, bool small) {
  extent_ = l.extent;
  longest_ = l.longest;
  small_ = small;
  unit_ = std::max(l.multiple, (extent_ >> 31) + 1);
  unit_ = (unit_ + l.multiple - 1) / l.multiple * l.multiple;
  rate_.store(std::max(l.seconds, 1e-9) / static_cast<double>(extent_), std::memory_order_relaxed);
  if (ranges_.empty()) ranges_ = std::vector<Range>(1);
  count_ = 1;
  ranges_[0].of = pack(0, (extent_ + unit_ - 1) / unit_);
}

void Pieces::divide(int workers) {
  const auto [begin, end] = unpack(ranges_[0].of.load(std::memory_order_relaxed));
  const auto n = static_cast<std::size_t>(workers);
  if (ranges_.size() < n) try {
      ranges_ = std::vector<Range>(n);
    } catch (const std::bad_alloc&) {
      return;
    }
  count_ = workers;
  for (std::int64_t w = 0; w < workers; ++w)
    ranges_[static_cast<std::size_t>(w)].of.store(
        pack(begin + (end - begin) * w / workers, begin + (end - begin) * (w + 1) / workers),
        std::memory_order_relaxed);
}

void Pieces::correct(double seconds, std::int64_t iterations) {
  const double r = rate_.load(std::memory_order_relaxed);
  rate_.store(std::clamp(seconds / static_cast<double>(iterations), r / 4, r * 4),
              std::memory_order_relaxed);
}

double Pieces::seconds_left() const {
  const auto [begin, end] = unpack(ranges_[0].of.load(std::memory_order_relaxed));
  return rate_.load(std::memory_order_relaxed) * static_cast<double>((end - begin) * unit_);
}

void Pieces::stop() {
  for (int w = 0; w < count_; ++w) ranges_[static_cast<std::size_t>(w)].of.store(0);
}

bool Pieces::claim(int worker, double least, std::int64_t& begin, std::int64_t& end) {
  const double unit = rate_.load(std::memory_order_relaxed) * static_cast<double>(unit_);
  const double most = small_ ? 1 : longest_ / unit, few = std::min(most, least / unit);
  for (int from = worker < count_ ? worker : longest(); from >= 0; from = longest()) {
    auto& range = ranges_[static_cast<std::size_t>(from)].of;
    std::uint64_t seen = range.load(std::memory_order_relaxed);
    for (;;) {
      const auto [b, e] = unpack(seen);
      if (b >= e) break;
      const double some = std::clamp(0.5 * static_cast<double>(e - b), few, most);
      const std::int64_t n = some >= static_cast<double>(e - b)
                                 ? e - b
                                 : std::max<std::int64_t>(1, static_cast<std::int64_t>(some));
      const bool front = from == worker;
      const std::int64_t first = front ? b : e - n;
      if (!range.compare_exchange_weak(seen, front ? pack(b + n, e) : pack(b, e - n),
                                       std::memory_order_relaxed))
        continue;
      begin = first * unit_;
      end = std::min(extent_, (first + n) * unit_);
      return true;
    }
  }
  return false;
}

int Pieces::longest() const {
  int at = -1;
  std::int64_t most = 0;
  for (int w = 0; w < count_; ++w) {
    const auto [b, e] =
        unpack(ranges_[static_cast<std::size_t>(w)].of.load(std::memory_order_relaxed));
    if (e - b > most) {
      most = e - b;
      at = w;
    }
  }
  return at;
}

}  // namespace plait::engine
