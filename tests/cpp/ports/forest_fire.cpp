// xtensor: a fire that spreads through a forest, cell by cell of a tensor of neighbours.
#include <tuple>
#include <utility>
#include <vector>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

using xt_int = tensor<int>;
using xt_float = tensor<double>;
using Neighbours = std::vector<std::pair<int, int>>;

xt_int neighbour_tensor(const xt_int& forest, const Neighbours& neighbours, const xt_int& allowed) {
  auto forest_shape = forest.shape();
  size_t height = forest_shape[0];
  size_t width = forest_shape[1];
  size_t num_neigh = neighbours.size();
  xt_int around = plait::zeros<int>({num_neigh, height, width});
  for (size_t i = 0; i < num_neigh; ++i) {
    int x = neighbours[i].first;
    int y = neighbours[i].second;
    xt_int rolled = plait::roll(forest, static_cast<long>(y), 0);
    rolled = plait::roll(rolled, static_cast<long>(-x), 1);
    if (x == 1)
      for (size_t r = 0; r < height; r++) rolled(r, width - 1) = 0;
    else if (x == -1)
      for (size_t r = 0; r < height; r++) rolled(r, 0) = 0;
    if (y == 1)
      for (size_t c = 0; c < width; c++) rolled(0, c) = 0;
    else if (y == -1)
      for (size_t c = 0; c < width; c++) rolled(height - 1, c) = 0;
    view(around, i, all(), all()) = plait::eval(rolled * view(allowed, i, all(), all()));
  }
  return around;
}

std::tuple<std::vector<xt_int>, int> propagate(xt_int forest, double pb,
                                               const Neighbours& neighbours,
                                               const xt_int& allowed) {
  size_t height = forest.shape(0);
  size_t width = forest.shape(1);
  plait::random::engine rng(21);
  int propagationTime = 0;
  bool thereIsFire = true;
  std::vector<xt_int> history;
  while (thereIsFire) {
    history.push_back(forest);
    propagationTime++;
    xt_int around = neighbour_tensor(forest, neighbours, allowed);
    auto couldPropagate = plait::equal(around, 2);
    xt_int burning = plait::sum(couldPropagate, {0}).astype<int>();
    auto cellsToEvaluate = plait::greater(burning, 0);
    auto burningTrees = plait::equal(forest, 2);
    xt_float p = rng.random({height, width});
    xt_float updated = plait::where(cellsToEvaluate, 1.0 - plait::pow(1.0 - p, 1.0 / burning), p);
    auto couldBurn = (updated <= pb);
    auto newBurningTrees = (plait::equal(forest, 1) & couldBurn & cellsToEvaluate);
    forest = plait::where(burningTrees, 3, forest);
    forest = plait::where(newBurningTrees, 2, forest);
    thereIsFire = (plait::sum(plait::equal(forest, 2))() > 0);
  }
  history.push_back(forest);
  return std::make_tuple(history, propagationTime);
}

const Neighbours around{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};

std::vector<std::vector<int>> loops(std::vector<int> forest, int height, int width, double pb) {
  plait::random::engine rng(21);
  std::vector<std::vector<int>> history{forest};
  for (bool fire = true; fire;) {
    const array<double> drawn = rng.random({height, width});
    const double* p = drawn.data();
    std::vector<int> next = forest;
    fire = false;
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j) {
        const size_t at = size_t(i * width + j);
        if (forest[at] == 2) next[at] = 3;
        int burning = 0;
        for (auto [x, y] : around) {
          const int u = i - y, v = j + x;
          if (u >= 0 && u < height && v >= 0 && v < width)
            burning += forest[size_t(u * width + v)] == 2;
        }
        if (forest[at] == 1 && burning > 0 && 1 - std::pow(1 - p[at], 1.0 / burning) <= pb) {
          next[at] = 2;
          fire = true;
        }
      }
    history.push_back(forest = next);
  }
  return history;
}

xt_int wood(size_t n) {
  xt_int forest = (plait::random::engine(8).random({n, n}) < 0.9).astype<int>();
  view(forest, range(n / 2 - 1, n / 2 + 1), range(n / 2 - 1, n / 2 + 1)) = 2;
  return forest;
}

}  // namespace

void forest_fire() {
  const xt_int forest = wood(40);
  const xt_int allowed = plait::ones<int>({6, 40, 40});
  auto [history, time] = propagate(forest, 0.6, around, allowed);
  const auto expected = loops({forest.begin(), forest.end()}, 40, 40, 0.6);
  expect(size_t(time) + 1 == expected.size() && history.size() == expected.size() && time > 10,
         "the fire lasts as long");
  for (size_t t = 0; t < expected.size(); ++t)
    expect(std::vector<int>(history[t].begin(), history[t].end()) == expected[t], "a state");
}

}  // namespace ported
