// Indices in random order, and some of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "random_stream.hpp"

namespace plait::random {

namespace {
detail::Handle as(detail::Handle h, dtype t) {
  return t == dtype::int64 ? h : detail::astype(h, t);
}

// In place, with the bits that NumPy's shuffle() takes.
void exchange(Stream& s, std::int64_t* values, std::int64_t n, std::int64_t stride) {
  for (std::int64_t i = n; i-- > 1;)
    std::swap(values[i * stride],
              values[static_cast<std::int64_t>(s.masked(static_cast<std::uint64_t>(i))) * stride]);
}
}  // namespace

detail::Handle engine::permuted_indices(std::int64_t n, dtype t) {
  require(n >= 0, "permutation: negative dimensions are not allowed");
  return as(made<std::int64_t>(n,
                               [&](std::int64_t* out, std::int64_t) {
                                 for (std::int64_t i = 0; i < n; ++i) out[i] = i;
                                 exchange(own(), out, n, 1);
                               }),
            t);
}

detail::Handle engine::permuted_lines(const detail::Handle& a, int axis) {
  const std::int64_t length = detail::extent(a, axis);
  const detail::Span s = detail::shape_of(a);
  const shape_type shape(s.data, s.data + s.size);
  std::int64_t below = 1;
  for (int k = axis < 0 ? axis + s.size : axis; ++k < s.size;)
    below *= shape[static_cast<std::size_t>(k)];
  return made<std::int64_t>(shape, [&](std::int64_t* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = i / below % length;
    for (std::int64_t above = 0; above < n; above += length * below)
      for (std::int64_t line = 0; line < below; ++line)
        exchange(own(), out + above + line, length, below);
  });
}

namespace {

// The index whose share of [0, 1) each number is in.
std::vector<std::int64_t> places(const std::vector<double>& p, const std::vector<double>& numbers) {
  std::vector<double> ends(p.size());
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) ends[i] = sum += p[i];
  for (double& e : ends) e /= sum;
  std::vector<std::int64_t> out;
  for (const double v : numbers)
    out.push_back(std::upper_bound(ends.begin(), ends.end(), v) - ends.begin());
  return out;
}

void check_probabilities(const std::vector<double>& p, int ndim, std::int64_t population) {
  require(ndim == 1, "p must be 1-dimensional");
  require(static_cast<std::int64_t>(p.size()) == population, "a and p must have same size");
  const double sum = compensated_sum(p.data(), population);
  require(!std::isnan(sum), "Probabilities contain NaN");
  for (const double v : p) require(!(v < 0), "Probabilities are not non-negative");
  constexpr double kTolerance = 0x1p-26;  // the root of what doubles resolve
  require(std::fabs(sum - 1) <= kTolerance,
          "Probabilities do not sum to 1. See Notes section of docstring for more information.");
}

}  // namespace

detail::Handle engine::chosen(std::int64_t population, const extents& shape, bool replace,
                              const detail::Handle* p, dtype t) {
  return detail::named("choice", [&] {
    stream& s = own();
    const std::int64_t n = count_of(shape);
    require(population > 0 || n == 0, "a must be a positive integer unless no samples are taken");
    std::vector<double> weights;
    if (p) {
      weights = list<double>(*p);
      check_probabilities(weights, detail::shape_of(*p).size, population);
    }
    const auto numbers = [&](std::int64_t count) {
      std::vector<double> all(static_cast<std::size_t>(count));
      if (count > 0) numpy::fill_uniform(s, all.data(), count);
      return all;
    };
    std::vector<std::int64_t> drawn;
    if (replace) {
      if (!p)
        return as(
            draw_integers(0, std::max<std::int64_t>(population, 1), &shape, false, dtype::int64),
            t);
      drawn = places(weights, numbers(n));
    } else {
      require(n <= population, "Cannot take a larger sample than population when replace is False");
      if (!p) {
        drawn = s.sample(population, n);
      } else {
        require(std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }) >= n,
                "Fewer non-zero entries in p than size");
        // What was drawn cannot be drawn again, in this round or in one of the next.
        while (static_cast<std::int64_t>(drawn.size()) < n) {
          const std::vector<double> round = numbers(n - static_cast<std::int64_t>(drawn.size()));
          for (const std::int64_t i : places(weights, round))
            if (std::find(drawn.begin(), drawn.end(), i) == drawn.end()) drawn.push_back(i);
          for (const std::int64_t i : drawn) weights[static_cast<std::size_t>(i)] = 0;
        }
      }
    }
    return as(filled<std::int64_t>(
                  shape, [&](std::int64_t i) { return drawn[static_cast<std::size_t>(i)]; }),
              t);
  });
}

}  // namespace plait::random
