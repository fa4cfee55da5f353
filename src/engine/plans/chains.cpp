#include "chains.hpp"

#include <algorithm>
#include <unordered_map>

#include "engine/threads/team.hpp"

namespace plait::engine {
using fusion::BufferSource;
using fusion::UpdateMode;

namespace {

constexpr std::size_t kLeastSteps = 4, kMostSteps = 1024;
// Nobody can interrupt them.
constexpr double kLongest = 0.25;
// Memory that is passed over so often, and is too much for a core's own first cache.
constexpr double kLeastPasses = 2.5;
constexpr std::int64_t kLeastBytes = 128 << 10;

std::int64_t bytes_of(const Root& r) {
  return element_count(r.shape) * static_cast<std::int64_t>(itemsize(r.dtype));
}

// Bytes of memory that are alive at a time while steps run, and those that they move.
class Traffic {
 public:
  explicit Traffic(const Bindings& b) : b_(b) {}

  void add(const BoundStep& s, UpdateMode update) {
    for (const BufferSource& from : s.step.lowered.buffers) touch(from.index, -1);
    for (const Root& r : s.roots) {
      if (update == UpdateMode::InPlace)
        of_[r.node] = touch(r.update->old, bytes_of(r));
      else
        touch(r.node, bytes_of(r));
    }
    moved_ += static_cast<double>(s.step.lowered.bytes);
    most_ = std::max(most_, alive_);
    for (const std::int32_t n : s.step.dies) {
      if (const auto it = of_.find(n); it != of_.end()) {
        alive_ -= it->second;
        of_.erase(it);
      }
    }
  }
  bool worth() const {
    if (shares_always()) return true;
    return most_ >= kLeastBytes && moved_ >= kLeastPasses * static_cast<double>(most_);
  }

 private:
  std::int64_t touch(std::int32_t node, std::int64_t bytes) {
    const auto [it, first] = of_.try_emplace(node, bytes);
    if (!first) return it->second;
    if (bytes < 0) {
      const NodeMemory& m = b_.memory(node);
      it->second = m ? static_cast<std::int64_t>(m.buffer->bytes) : 0;
    }
    alive_ += it->second;
    return it->second;
  }

  const Bindings& b_;
  std::unordered_map<std::int32_t, std::int64_t> of_;  // each node that is alive
  std::int64_t alive_ = 0, most_ = 0;
  double moved_ = 0;
};

}  // namespace

Chained chained(const BoundStep& s, const Bindings& b) {
  if (s.step.kind != fusion::StepKind::Kernel) return {"an operation that is no loop"};
  if (is_cut(s.step)) return {"a fold over all of an array, or by index"};
  if (s.step.region.product >= 0) return {"a product"};
  if (s.extent < 1) return {"an empty array"};
  if (s.step.update != UpdateMode::Fresh) return {nullptr, s.step.update};
  if (s.step.trailing)
    if (auto t = trail(*s.step.trailing, b.values, s.extent, false))
      return {nullptr, UpdateMode::InPlace, std::move(t)};
  for (const Root& r : s.roots)
    if (r.update && !surviving(r).kept.empty())
      return {"a write to part of an array whose old contents are read elsewhere"};
  return {nullptr, UpdateMode::Fresh};
}

std::vector<Stretch> chains(std::span<const BoundStep> steps, const Bindings& b, const Recording& r,
                            double (*predicted)(const BoundStep&)) {
  std::vector<Stretch> all;
  const std::size_t least = shares_always() ? 2 : kLeastSteps;
  for (std::size_t first = 0, last; first + least <= steps.size();
       first = std::max(last, first + 1)) {
    Traffic traffic(b);
    double seconds = 0;
    const char* why = "the last one";
    for (last = first; last < steps.size(); ++last) {
      const Chained how = chained(steps[last], b);
      seconds += predicted(steps[last]);
      why = how.refused          ? how.refused
            : seconds > kLongest ? "a quarter of a second, in which nothing interrupts them"
            : !r.heard_alike(steps[last]) ? "operations of which some may raise what others ignore"
            : last - first == kMostSteps  ? "as many as are looked at together"
                                          : nullptr;
      if (why) break;
      traffic.add(steps[last], how.update);
    }
    if (last - first >= least && traffic.worth()) all.push_back({first, last, why});
  }
  return all;
}

}  // namespace plait::engine
