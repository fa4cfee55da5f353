// Connected components, beside values of scipy.ndimage.label and a search from element to element.
#include "plait/label.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "plait/plait.hpp"

namespace of_components {

using plait::array;
using plait::shape_type;
using ints = std::vector<std::int32_t>;

namespace {
template <class T>
std::vector<T> values_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

// The elements that each one reaches, by a stack.
ints searched(const std::vector<std::uint8_t>& mask, const shape_type& shape, int connectivity,
              std::int64_t& count) {
  ints labels(mask.size());
  const auto ndim = static_cast<int>(shape.size());
  count = 0;
  for (std::size_t start = 0; start < mask.size(); ++start) {
    if (!mask[start] || labels[start]) continue;
    labels[start] = static_cast<std::int32_t>(++count);
    std::vector<std::size_t> open{start};
    while (!open.empty()) {
      const auto at = static_cast<std::int64_t>(open.back());
      open.pop_back();
      // Along the axes from `d` on, of which one step is `stride` elements after those before.
      const std::function<void(int, std::int64_t, std::int64_t, std::int64_t, int)> go =
          [&](int d, std::int64_t rest, std::int64_t place, std::int64_t stride, int moved) {
            if (moved > connectivity) return;
            if (d < 0) {
              const auto i = static_cast<std::size_t>(place);
              if (!mask[i] || labels[i]) return;
              labels[i] = static_cast<std::int32_t>(count);
              open.push_back(i);
              return;
            }
            const std::int64_t n = shape[static_cast<std::size_t>(d)], x = rest % n;
            for (std::int64_t step = -1; step <= 1; ++step)
              if (x + step >= 0 && x + step < n)
                go(d - 1, rest / n, place + (x + step) * stride, stride * n, moved + (step != 0));
          };
      go(ndim - 1, at, 0, 1, 0);
    }
  }
  return labels;
}

void check(const shape_type& shape, double share, unsigned seed) {
  std::mt19937 draw(seed);
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(n));
  for (auto& m : mask) m = draw() < share * 4294967295.0;
  const array<std::uint8_t> a = array<std::uint8_t>(mask).reshape(shape);
  for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity) {
    std::int64_t expected = 0;
    const ints labels = searched(mask, shape, connectivity, expected);
    const auto found = plait::label(a, connectivity);
    INFO("connectivity " << connectivity << ", share " << share << ", shape "
                         << plait::to_string(a.shape()));
    CHECK(found.count == expected);
    CHECK(found.labels.shape() == a.shape());
    CHECK(values_of(found.labels) == labels);
    CHECK(values_of(plait::label(a != 0, connectivity).labels) == labels);
  }
}
}  // namespace

TEST_CASE("components are numbered as SciPy numbers them") {
  const array<int> a{{0, 1, 0, 1, 1}, {1, 0, 0, 1, 0}, {1, 1, 1, 0, 1}, {0, 0, 1, 0, 1}};
  // scipy.ndimage.label(a), and with structure=np.ones((3, 3))
  auto [labels, count] = plait::label(a);
  CHECK(count == 4);
  CHECK(values_of(labels) == ints{0, 1, 0, 2, 2, 3, 0, 0, 2, 0, 3, 3, 3, 0, 4, 0, 0, 3, 0, 4});
  auto [around, fewer] = plait::label(a, 2);
  CHECK(fewer == 1);
  CHECK(values_of(around) == ints{0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1});
}

TEST_CASE("components of arrays of any shape are those that a search finds") {
  unsigned seed = 1;
  for (const shape_type& shape :
       {shape_type{1}, shape_type{5}, shape_type{200}, shape_type{1, 1}, shape_type{7, 64},
        shape_type{64, 129}, shape_type{33, 1}, shape_type{4, 5, 6}, shape_type{1, 9, 70},
        shape_type{9, 1, 3}, shape_type{3, 4, 2, 5}, shape_type{400, 330}, shape_type{90, 20, 70}})
    for (const double share : {0.0, 0.1, 0.3, 0.6, 0.9, 1.0}) check(shape, share, seed++);
}

TEST_CASE("a spiral is one component whatever slabs the team takes") {
  constexpr int n = 513;
  std::vector<std::uint8_t> mask(n * n);
  const auto at = [&](int i, int j) -> std::uint8_t& {
    return mask[static_cast<std::size_t>(i * n + j)];
  };
  for (int ring = 0; ring < n / 2; ring += 2) {
    for (int k = ring; k < n - ring; ++k)
      at(ring, k) = at(n - 1 - ring, k) = at(k, ring) = at(k, n - 1 - ring) = 1;
    if (ring > 0) {  // opened on the left, and joined with the ring around it
      at(ring + 1, ring) = 0;
      at(ring, ring - 1) = 1;
    }
  }
  const array<std::uint8_t> a = array<std::uint8_t>(mask).reshape({n, n});
  const auto found = plait::label(a);
  std::int64_t expected = 0;
  CHECK(values_of(found.labels) == searched(mask, {n, n}, 1, expected));
  CHECK(found.count == expected);
  CHECK(expected == 1);
}

TEST_CASE("components of views, expressions, numbers and arrays of a dtype known at run time") {
  const array<double> a{{0, 2, 0}, {0, -1, 0}, {3, 0, std::nan("")}};
  CHECK(values_of(plait::label(a).labels) == ints{0, 1, 0, 0, 1, 0, 2, 0, 3});
  CHECK(values_of(plait::label(plait::transpose(a)).labels) == ints{0, 0, 1, 2, 2, 0, 0, 0, 3});
  CHECK(values_of(plait::label(plait::view(a, plait::range(0, 3, 2))).labels) ==
        ints{0, 1, 0, 2, 0, 3});
  CHECK(plait::label(a * 0.0).count == 1);  // NaN is not zero
  CHECK(plait::label(a > 0).count == 2);
  const plait::any_array x = a;
  CHECK(plait::label(x, 2).count == 1);
  CHECK(plait::label(array<int>(7)).labels.shape() == shape_type{});
  CHECK(plait::label(array<int>(7)).count == 1);
  const auto none = plait::label(plait::zeros<int>({3, 0, 2}), 3);
  CHECK(none.count == 0);
  CHECK(none.labels.shape() == shape_type{3, 0, 2});
}

TEST_CASE("what has no components is refused") {
  const array<double> a{{0, 1}, {1, 0}};
  const auto message = [](auto f) {
    try {
      f();
    } catch (const plait::ValueError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message([&] { plait::label(a, 0); }) ==
        "label: Connectivity for 2D image should be in [1, ..., 2]. Got 0.");
  CHECK(message([&] { plait::label(a, 3); }) ==
        "label: Connectivity for 2D image should be in [1, ..., 2]. Got 3.");
  CHECK_THROWS_AS(plait::label(array<std::complex<double>>{1, 0}), plait::DTypeError);
}

}  // namespace of_components
