#include "loops.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace plait::fusion {

namespace {

constexpr std::size_t kLeastCount = 4, kLongestPeriod = 16;

class Finder {
 public:
  Finder(std::span<const Step> steps, int nodes)
      : steps_(steps), made_by_(static_cast<std::size_t>(nodes), kOutside) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      operands_.push_back(operands(steps[s]));
      for (std::size_t r = 0; r < steps[s].region.roots.size(); ++r)
        made_by_[static_cast<std::size_t>(steps[s].region.roots[r])] = {s, r};
    }
  }

  std::vector<StepLoop> run() {
    std::vector<StepLoop> all;
    for (std::size_t first = 0; first < steps_.size();) {
      std::optional<StepLoop> loop = longest(first);
      first = loop ? loop->end() : first + 1;
      if (loop) all.push_back(*std::move(loop));
    }
    return all;
  }

 private:
  struct Maker {
    std::size_t step, root;
    bool operator==(const Maker&) const = default;
  };
  static constexpr Maker kOutside{static_cast<std::size_t>(-1), 0};

  // Of the loops that begin there the one of most steps, and of those that of the shortest period.
  std::optional<StepLoop> longest(std::size_t first) {
    std::optional<StepLoop> best;
    if (steps_[first].region_class == kNoClass) return best;
    for (std::size_t period = 1; period <= kLongestPeriod; ++period) {
      if (first + period < carries_nothing_[period]) continue;
      StepLoop loop{first, period, 1, {}};
      // Longer than the best one only if it goes on where that ends.
      if (best && best->end() >= first + period &&
          (best->end() == steps_.size() || !comes_again(loop, best->end())))
        continue;
      std::size_t last = first + period;
      while (last < steps_.size() && comes_again(loop, last)) ++last;
      loop.count = (last - first) / period;
      if (loop.count < kLeastCount || (best && loop.end() <= best->end())) continue;
      loop.carried = carried(loop);
      if (loop.carried.empty())
        carries_nothing_[period] = last;
      else
        best = std::move(loop);
    }
    return best;
  }

  // Whether the step is the one a period before it, in the next iteration.
  bool comes_again(const StepLoop& loop, std::size_t step) {
    const Step &a = steps_[step - loop.period], &b = steps_[step];
    if (b.region_class == kNoClass || a.region_class != b.region_class) return false;
    const std::size_t iteration = step - (step - loop.first) % loop.period;
    const auto &before = operands_[step - loop.period], &now = operands_[step];
    return std::equal(before.begin(), before.end(), now.begin(), now.end(),
                      [&](std::int32_t x, std::int32_t y) {
                        const Maker was = made(loop, x), is = made(loop, y);
                        if (was == kOutside) return is == kOutside || is.step < iteration;
                        return is == Maker{was.step + loop.period, was.root};
                      });
  }
  // Nodes whose memory a step reads or writes, those of equal regions in the same order.
  static std::vector<std::int32_t> operands(const Step& s) {
    std::vector<std::int32_t> all;
    for (const BufferSource& b : s.lowered.buffers)
      if (b.kind == BufferSource::NodeMemory) all.push_back(b.index);
    for (const ResultSpec& r : s.results)
      if (r.target) all.push_back(r.target->old);
    return all;
  }
  Maker made(const StepLoop& loop, std::int32_t node) const {
    const Maker m = made_by_[static_cast<std::size_t>(node)];
    return m == kOutside || m.step < loop.first ? kOutside : m;
  }

  // By the last iteration, which reads nothing that the loop begins with.
  std::vector<std::int32_t> carried(const StepLoop& loop) const {
    std::vector<std::int32_t> all;
    const std::size_t last = loop.end() - loop.period;
    for (std::size_t s = last; s < loop.end(); ++s)
      for (const std::int32_t n : operands_[s]) {
        const Maker m = made(loop, n);
        if (m == kOutside || m.step >= last) continue;
        const Step& first = steps_[loop.first + (m.step - loop.first) % loop.period];
        all.push_back(first.region.roots[m.root]);
      }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  const std::span<const Step> steps_;
  std::vector<Maker> made_by_;
  std::vector<std::vector<std::int32_t>> operands_;  // of each step
  // Of each period: steps before that one come again, and carry nothing. They are walked once.
  std::array<std::size_t, kLongestPeriod + 1> carries_nothing_{};
};

}  // namespace

std::vector<StepLoop> find_loops(std::span<const Step> steps, int nodes) {
  return Finder(steps, nodes).run();
}

}  // namespace plait::fusion
