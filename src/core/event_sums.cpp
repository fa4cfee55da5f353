#include "event_sums.hpp"

#include <algorithm>
#include <utility>

namespace plait::timeline {

// Half of them, two after each other as one: an event that they lie in began before both, or, which
// few do, between them.
void EventSums::halve_past() {
  const std::size_t half = past_.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    past_[i] = {past_[2 * i].start, past_[2 * i].took + past_[2 * i + 1].took,
                past_[2 * i].grown + past_[2 * i + 1].grown};
  past_.resize(half);
}

void EventSums::add(const Event& e) {
  constexpr std::size_t kMostPast = 4096;
  if (!counts(e.category) || e.memory) return;
  const std::int64_t took = e.end - e.start;
  std::int64_t inside = 0, grown_inside = 0;
  for (; !past_.empty() && past_.back().start >= e.start; past_.pop_back()) {
    inside += past_.back().took;
    grown_inside += past_.back().grown;
  }
  if (past_.size() >= kMostPast) halve_past();
  past_.push_back({e.start, took, e.grown});
  const Added own{1, took - inside, std::max<std::int64_t>(e.bytes, 0),
                  std::max<std::int64_t>(e.elements, 0), e.grown - grown_inside};
  const auto known = std::ranges::find_if(e.sites, [](std::uint32_t s) { return s != 0; });
  const std::uint32_t site = known == e.sites.end() ? 0 : *known;
  if (site == 0 && e.category != Category::Fallback) {
    if (loose_.size() >= kMostPast) {
      for (const Loose& l : loose_) sums_[{l.category, 0, ""}] += l.sum;
      loose_.clear();
    }
    loose_.push_back({e.start, e.category, own});
    return;
  }
  for (; !loose_.empty() && loose_.back().start >= e.start; loose_.pop_back())
    sums_[{loose_.back().category, site, ""}] += loose_.back().sum;
  sums_[{e.category, site, e.category == Category::Fallback ? e.name : std::string()}] += own;
}

void EventSums::add_to(Sums& all) const {
  for (const auto& [key, a] : sums_) all[key] += a;
  for (const Loose& l : loose_) all[{l.category, 0, ""}] += l.sum;
}

}  // namespace plait::timeline
