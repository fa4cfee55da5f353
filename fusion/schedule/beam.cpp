#include "beam.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace plait::fusion {

namespace {

// Candidates at most.
constexpr std::size_t kBeam = 4;

struct Path {
  std::unique_ptr<Search> search;
  std::vector<Step> steps;
};

}  // namespace

Chosen choose(const Problem& p, Rules rules, Legalizer& legalizer) {
  std::vector<Path> paths;
  std::deque<Fork> forks;
  // Those of each path, the dearest first.
  const auto follow = [&](std::unique_ptr<Search> search) {
    std::vector<Step> steps = legalizer.run(*search);
    std::vector<Fork> open = search->take_forks();
    std::stable_sort(open.begin(), open.end(),
                     [](const Fork& a, const Fork& b) { return a.stake > b.stake; });
    std::move(open.begin(), open.end(), std::back_inserter(forks));
    paths.push_back({std::move(search), std::move(steps)});
  };
  follow(std::make_unique<Search>(p, rules));
  while (!forks.empty() && paths.size() < kBeam) {
    Fork fork = std::move(forks.front());
    forks.pop_front();
    follow(std::make_unique<Search>(p, rules, std::move(fork)));
  }
  std::vector<Contender> contenders;
  std::size_t best = 0;
  for (std::size_t i = 0; paths.size() > 1 && i < paths.size(); ++i) {
    const Search& s = *paths[i].search;
    Contender c;
    if (const std::optional<Decision>& d = s.left_at())
      c = {d->offered.node, d->offered.why, d->take};
    c.seconds = legalizer.seconds(paths[i].steps, s.candidate());
    contenders.push_back(c);
    if (c.seconds < contenders[best].seconds) best = i;
  }
  if (!contenders.empty()) contenders[best].chosen = true;
  return {std::move(paths[best].search), std::move(paths[best].steps), std::move(contenders)};
}

}  // namespace plait::fusion
