// Programs as people write them who come from Eigen, Armadillo, xtensor or std::vector.
#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using plait::all;
using plait::array;
using plait::range;
using plait::view;

namespace {

// Arrays as members that get their size later: a controller that weights noisy plans.
struct Plans {
  array<float> velocity, turn, x, y, heading;
  void reset(std::size_t batch, std::size_t steps) {
    velocity = plait::zeros<float>({batch, steps});
    turn = plait::zeros<float>({batch, steps});
    x = plait::zeros<float>({batch, steps});
  }
  void propagate(float dt) {
    heading = plait::cumsum(turn * dt, 1);
    x = plait::cumsum(velocity * plait::cos(heading) * dt, 1);
    y = plait::cumsum(velocity * plait::sin(heading) * dt, 1);
  }
};

void controller() {
  Plans plans;
  expect(plans.velocity.size() <= 1, "nothing yet");
  plans.reset(64, 20);
  plait::random::engine rng(4);
  plans.velocity += 1.0f;
  view(plans.velocity, all(), range(1, 20)) += rng.normal(0, 0.2, {64, 19}).astype<float>();
  plans.turn = rng.normal(0, 0.5, {64, 20}).astype<float>();
  plans.propagate(0.1f);
  auto end_x = view(plans.x, all(), -1), end_y = view(plans.y, all(), -1);
  array<float> cost = plait::hypot(end_x - 1.5f, end_y - 0.5f);
  array<float> weight = plait::exp(-(cost - plait::amin(cost)) / 0.3f);
  weight /= plait::sum(weight);
  array<float> best = plait::sum(plait::view(weight, all(), plait::newaxis()) * plans.turn, {0});
  expect(best.shape(0) == 20 && best.ndim() == 1, "a plan");
  float heading = 0, x = 0;
  for (std::size_t t = 0; t < 20; ++t) {
    heading += plans.turn(9, t) * 0.1f;
    x += plans.velocity(9, t) * std::cos(heading) * 0.1f;
  }
  expect_near(plans.x(9, 19), x, 1e-4, "x");
  expect_near(plait::sum(weight)(), 1, 1e-5, "weights");
}

// A template over arrays of any element type, which returns a pair of expressions.
template <class Array>
auto straight_line(const Array& x, const Array& y) {
  using Value = typename Array::value_type;
  static_assert(std::is_floating_point<Value>::value, "floating point");
  const Value n = static_cast<Value>(x.size());
  auto slope = (n * plait::sum(x * y) - plait::sum(x) * plait::sum(y)) /
               (n * plait::sum(x * x) - plait::sum(x) * plait::sum(x));
  auto intercept = (plait::sum(y) - slope * plait::sum(x)) / n;
  return std::make_pair(plait::eval(slope), plait::eval(intercept));
}

void templates() {
  array<double> x = plait::linspace(0.0, 1.0, 11);
  auto line = straight_line(x, array<double>(3.0 * x + 2.0));
  expect_near(line.first(), 3, 1e-12, "slope");
  expect_near(line.second(), 2, 1e-12, "intercept");
  auto [slope, intercept] = straight_line(x.astype<float>(), (1.0 - x).astype<float>());
  static_assert(std::is_same_v<decltype(slope)::value_type, float>, "float stays float");
  expect_near(slope.item() + intercept.item(), 0, 1e-5, "float");
}

// Normal equations element by element, with std::size_t as one writes loops.
void loops() {
  const std::size_t order = 2;
  std::vector<double> xs{0, 1, 2, 3, 4}, ys{1, 2, 5, 10, 17};
  array<double> matrix = plait::zeros<double>({order + 1, order + 1});
  array<double> rhs = plait::zeros<double>({order + 1});
  for (std::size_t i = 0; i <= order; ++i) {
    for (std::size_t j = 0; j <= order; ++j) {
      double value = 0;
      for (std::size_t k = 0; k < xs.size(); ++k) value += std::pow(xs[k], i + j);
      matrix(i, j) = value;
    }
    rhs[i] = 0;
    for (std::size_t k = 0; k < xs.size(); ++k)
      rhs[i] += std::pow(xs[k], static_cast<double>(i)) * ys[k];
  }
  auto c = plait::linalg::solve(matrix, rhs);
  expect_near(c(0), 1, 1e-9, "constant");
  expect_near(c(1), 0, 1e-9, "linear");
  expect_near(c(2), 1, 1e-9, "square");
}

// Armadillo: find(), rows of a search, the diagonal, joined columns.
void armadillo() {
  array<double> A = plait::random::engine(1).standard_normal({5, 5});
  array<double> before = A.copy();
  array<double> indices = plait::ones<double>({5});
  indices(1) = 0;
  indices(3) = 0;
  auto found = plait::flatnonzero(indices == 0.0);
  view(A, found) *= 0.0;
  view(A, all(), found) *= 0.0;
  view(plait::diagonal(A)) += 1.0;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      const bool kept = i % 2 == 0 && j % 2 == 0;
      expect_near(A(i, j), (kept ? before(i, j).value() : 0) + (i == j ? 1 : 0), 1e-15, "rows");
    }
  auto joined = plait::concatenate({plait::ones({3}), plait::zeros({4})});
  expect(joined.size() == 7 && joined(2) == 1 && joined(3) == 0, "joined");
  A.fill(5.0);
  expect(plait::sum(A).item() == 125, "filled");
  array<double> B{{2, 1}, {1, 3}};
  expect_near(plait::linalg::det(B).item(), 5, 1e-13, "determinant");
  expect(plait::allclose(plait::matmul(B, plait::linalg::inv(B)), plait::eye(2)), "inverse");
}

// Eigen: blocks, columns of length one, Gauss and Newton by Cholesky's factor.
void eigen() {
  array<double> m = plait::arange<double>(20).reshape({4, 5});
  view(m, range(1, 3), range(2, 5)) = plait::ones<double>({2, 3});
  plait::row(m, 0) += 2.0 * plait::row(m, 3);
  plait::col(m, 1) = array<double>{1, 2, 3, 4};
  m = m / plait::linalg::norm(m, {0});
  expect(plait::allclose(plait::sum(m * m, 0), 1.0), "columns of length one");

  // y = a exp(b t): a and b from samples.
  const array<double> t = plait::linspace(0, 2, 20), y = 2.5 * plait::exp(-1.3 * t);
  array<double> p{1, -0.5};
  for (int step = 0; step < 20; ++step) {
    const double a = p(0), b = p(1);
    auto e = plait::exp(b * t);
    array<double> J = plait::column_stack({e, a * t * e});
    array<double> r = y - a * e;
    auto L = plait::linalg::cholesky(plait::matmul(J.transpose(), J));
    auto d = plait::linalg::solve(L.transpose(),
                                  plait::linalg::solve(L, plait::matmul(J.transpose(), r)));
    p += d;
    if (plait::linalg::norm(d) < 1e-12) break;
  }
  expect_near(p(0), 2.5, 1e-9, "amplitude");
  expect_near(p(1), -1.3, 1e-9, "rate");
}

// Algorithms of std over elements.
void algorithms() {
  array<double> v{4, 1, 3, 5, 2};
  expect(std::accumulate(v.begin(), v.end(), 0.0) == 15, "accumulate");
  expect(*std::max_element(v.begin(), v.end()) == 5, "max_element");
  expect(std::distance(v.begin(), std::find(v.begin(), v.end(), 3.0)) == 2, "find");
  std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; });
  expect(v(0) == 5 && v(4) == 1, "sort");
  std::reverse(v.begin(), v.end());
  std::transform(v.begin(), v.end(), v.begin(), [](double x) { return x * x; });
  expect(std::inner_product(v.begin(), v.end(), v.begin(), 0.0) == 1 + 16 + 81 + 256 + 625,
         "inner");
  std::vector<double> copy(v.begin(), v.end());
  std::rotate(v.begin(), v.begin() + 2, v.end());
  expect(plait::array_equal(v, plait::roll(array<double>(copy), -2)), "rotate");
  std::partial_sum(v.begin(), v.end(), v.begin());
  expect(v(-1) == 55, "partial_sum");
  std::iota(v.begin(), v.end(), 10.0);
  expect(plait::array_equal(v, plait::arange<double>(10, 15)), "iota");
  std::fill(v.begin(), v.end(), 7.0);
  expect(std::count(v.cbegin(), v.cend(), 7.0) == 5, "count");
}

// Arrays in the containers of std, as keys' values, in tuples and as what may be missing.
std::tuple<array<double>, double, bool> standardised(const array<double>& x) {
  const double m = plait::mean(x).item(), s = plait::stddev(x).item();
  return {(x - m) / s, s, s > 0};
}
std::optional<array<double>> column_of(const std::map<std::string, array<double>>& table,
                                       const std::string& name) {
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

void containers_of_std() {
  std::map<std::string, array<double>> table;
  table["height"] = array<double>{1.6, 1.8, 1.7};
  table["weight"] = {60, 80, 70};
  table["index"] = table["weight"] / plait::square(table["height"]);
  expect(table.at("index").size() == 3 && !column_of(table, "age"), "columns");
  auto [z, s, varies] = standardised(*column_of(table, "height"));
  expect(varies && std::fabs(plait::mean(z).item()) < 1e-12, "standardised");
  expect_near(s, std::sqrt(0.02 / 3), 1e-12, "deviation");
  std::vector<array<double>> columns;
  for (const auto& [name, values] : table) columns.push_back(values);
  array<double> matrix = plait::stack(columns, 1);
  expect_near(matrix(1, 1), 80 / 1.8 / 1.8, 1e-12, "sorted by name");
}

// Right-hand sides as std::function, a step that adapts itself.
array<double> integrate(const std::function<array<double>(double, const array<double>&)>& f,
                        array<double> y, double to) {
  double t = 0, h = 0.1;
  while (t < to) {
    h = std::min(h, to - t);
    array<double> k1 = f(t, y), k2 = f(t + h / 2, y + h / 2 * k1);
    array<double> k3 = f(t + 3 * h / 4, y + 3 * h / 4 * k2);
    array<double> next = y + h * (2.0 / 9 * k1 + 1.0 / 3 * k2 + 4.0 / 9 * k3);
    array<double> k4 = f(t + h, next);
    const double error =
        plait::amax(plait::abs(h * (-5.0 / 72 * k1 + 1.0 / 12 * k2 + 1.0 / 9 * k3 - 1.0 / 8 * k4)))
            .item();
    if (error < 1e-8) {
      t += h;
      y = next;
    }
    h *= std::min(2.0, 0.9 * std::cbrt(1e-8 / std::max(error, 1e-14)));
  }
  return y;
}

void functions_of_std() {
  const array<double> rates{{-2, 1, 0}, {2, -3, 2}, {0, 2, -2}};
  array<double> start{1, 0, 0};
  array<double> end =
      integrate([&](double, const array<double>& y) { return matmul(rates, y); }, start, 1.0);
  // The same by the eigenvectors of the matrix.
  auto [values, vectors] = plait::linalg::eig(rates);
  auto c = plait::linalg::solve(vectors, start.astype<std::complex<double>>());
  array<double> exact = plait::real(plait::matmul(vectors, plait::exp(values) * c));
  expect(plait::allclose(end, exact, 1e-6), "decay");
  expect(start(0) == 1 && start(1) == 0, "the start is as it was");
}

// Text as std::ostream writes it.
void text() {
  std::ostringstream out;
  out << array<double>{{1, 2.5}, {-3, 4}} << '\n'
      << array<int>{1, 20} << '\n'
      << array<bool>{true, false};
  expect(out.str() == "[[ 1.   2.5]\n [-3.   4. ]]\n[ 1 20]\n[ True False]", "as NumPy prints");
  std::istringstream in("3 1 2");
  std::vector<double> numbers{std::istream_iterator<double>(in), {}};
  array<double> v(numbers);
  out.str("");
  for (double x : plait::sort(v)) out << x << ' ';
  expect(out.str() == "1 2 3 ", "numbers");
  out.str("");
  out << plait::sum(v) << ' ' << v(0) << ' ' << plait::to_string(v.shape());
  expect(out.str() == "6.0 3 (3,)", "scalars");
}

// Pixels of a struct, in memory of the application.
struct Pixel {
  std::uint8_t r, g, b, a;
};

void pixels() {
  std::vector<Pixel> screen(6 * 4, Pixel{200, 100, 50, 255});
  screen[7] = {0, 0, 0, 255};
  {
    auto rgba = plait::adapt(&screen[0].r, {4, 6, 4});
    array<float> grey = plait::sum(view(rgba, plait::ellipsis(), range(0, 3)).astype<float>() *
                                       array<float>{0.299f, 0.587f, 0.114f},
                                   -1);
    expect_near(grey(0, 0), 0.299 * 200 + 0.587 * 100 + 0.114 * 50, 1e-3, "grey");
    expect(plait::argmin(grey).item() == 7, "dark");
    auto red = plait::adapt(&screen[0].r, {24}, {4});
    view(red) = plait::minimum(red, 150);
    red.eval();
  }
  expect(screen[0].r == 150 && screen[7].r == 0 && screen[0].g == 100, "written");
}

// Copies that are names: who may change what.
void doubled_in_place(array<double> x) { x *= 2.0; }
double largest(const array<double>& x) { return plait::amax(x).item(); }

void names() {
  array<double> a{1, 2, 3};
  array<double> b = a, c = a.copy();
  doubled_in_place(a);
  expect(b(2) == 6 && c(2) == 3, "shared and copied");
  b = b + 1.0;
  expect(a(2) == 6 && b(2) == 7, "another array");
  std::vector<array<double>> history;
  for (int i = 0; i < 3; ++i) {
    history.push_back(c.copy());
    c += 1.0;
  }
  expect(history[0](0) == 1 && history[2](0) == 3, "history");
  expect(largest(a + b) == 13 && largest(view(a, range(0, 2))) == 4, "expressions as arguments");
  std::swap(a, b);
  expect(a(2) == 7 && b(2) == 6, "swapped");
  array<double> grid = plait::zeros<double>({3, 3});
  auto middle = plait::row(grid, 1);
  middle = 4.0;
  expect(grid(1, 1) == 4 && plait::sum(grid).item() == 12, "views write");
}

// Results of other threads.
void futures() {
  plait::random::engine rng(9);
  array<double> samples = rng.standard_normal({4, 1000});
  std::vector<std::future<double>> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(std::async(std::launch::async, [part = plait::row(samples, i)] {
      return plait::sum(plait::square(part)).item();
    }));
  double total = 0;
  for (auto& part : parts) total += part.get();
  expect_near(total, plait::sum(samples * samples).item(), 1e-12, "sum of parts");
}

}  // namespace

const std::vector<Program>& strangers() {
  static const std::vector<Program> programs{{"controller", controller},
                                             {"templates", templates},
                                             {"loops", loops},
                                             {"armadillo", armadillo},
                                             {"eigen", eigen},
                                             {"algorithms", algorithms},
                                             {"containers of std", containers_of_std},
                                             {"functions of std", functions_of_std},
                                             {"text", text},
                                             {"pixels", pixels},
                                             {"names", names},
                                             {"futures", futures}};
  return programs;
}
