#include "beam.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace plait::fusion {

namespace {

// Candidates at most.
constexpr std::size_t kBeam = 4;

// A search follows from what is decided beforehand, so that candidates share nothing but that.
struct Path {
  std::unique_ptr<Search> search;
  std::vector<Step> steps;
};

Path follow(const Problem& p, Rules rules, Settling& settling, std::vector<Decision> decided) {
  Path path{std::make_unique<Search>(p, rules, std::move(decided)), {}};
  path.steps = settling.run(*path.search);
  return path;
}

// Those that leave a path at one of its open offers, the dearest first.
void branch(const Search& from, std::deque<std::vector<Decision>>& ways) {
  std::vector<Decision> open = from.open();
  std::stable_sort(open.begin(), open.end(),
                   [](const Decision& a, const Decision& b) { return a.stake > b.stake; });
  for (const Decision& d : open) {
    std::vector<Decision> decided = from.decided();
    decided.push_back(d);
    ways.push_back(std::move(decided));
  }
}

}  // namespace

Chosen choose(const Problem& p, Rules rules, Settling& settling) {
  std::vector<Path> paths;
  std::deque<std::vector<Decision>> ways{{}};
  while (!ways.empty() && paths.size() < kBeam) {
    paths.push_back(follow(p, rules, settling, std::move(ways.front())));
    ways.pop_front();
    branch(*paths.back().search, ways);
  }
  std::vector<Contender> contenders;
  std::size_t best = 0;
  for (std::size_t i = 0; paths.size() > 1 && i < paths.size(); ++i) {
    const Search& s = *paths[i].search;
    Contender c;
    if (!s.decided().empty()) {
      const Decision& d = s.decided().back();
      c = {d.offered.node, d.offered.why, d.take};
    }
    c.seconds = settling.seconds(paths[i].steps, s.candidate());
    contenders.push_back(c);
    if (c.seconds < contenders[best].seconds) best = i;
  }
  if (!contenders.empty()) contenders[best].chosen = true;
  return {std::move(paths[best].search), std::move(paths[best].steps), std::move(contenders)};
}

}  // namespace plait::fusion
