#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using namespace plait;
using plait::placeholders::_;

namespace {

// Takings by shop and month, and each sale's share of its group.
void takings() {
  random::engine rng(1);
  array<std::int64_t> shop = rng.integers(0, 5, {500}), month = rng.integers(1, 13, {500});
  array<double> amount = rng.gamma(2, 30, {500});
  auto g = group_by(shop, month);
  auto total = g.sum(amount);
  auto [shops, months] = g.keys();
  array<double> share = amount / take(total, g.labels());
  std::map<std::pair<long, long>, double> plain;
  for (int i = 0; i < 500; ++i) plain[{shop(i), month(i)}] += amount(i);
  expect(total.size() == plain.size(), "groups");
  int at = 0;
  for (const auto& [key, sum] : plain) {
    expect(shops(at) == key.first && months(at) == key.second, "keys");
    expect_near(total(at++), sum, 1e-12, "total");
  }
  expect(allclose(g.sum(share), 1.0), "shares");
}

// An inner join of orders and customers by sorted keys.
void join() {
  array<std::int64_t> customer{40, 10, 30, 20}, order{20, 50, 10, 20, 40, 7};
  array<double> discount{.4, .1, .3, .2}, price{5, 6, 7, 8, 9, 10};
  auto by = argsort(customer);
  auto sorted = take(customer, by);
  auto place = clip(searchsorted(sorted, order), 0, std::int64_t(customer.size()) - 1);
  auto found = take(sorted, place) == order;
  array<double> reduced = price[found] * (1 - take(discount, take(by, place)[found]));
  std::vector<double> plain;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j)
      if (order(i) == customer(j)) plain.push_back(price(i) * (1 - discount(j)));
  expect(allclose(reduced, array<double>(plain), 1e-15), "joined");
}

// A sparse matrix in rows: products by reduceat, transposed ones by add_at, the way back.
void sparse() {
  random::engine rng(6);
  array<double> dense = rng.normal(0, 1, {12, 9});
  dense[rng.random({12, 9}) < 0.6] = 0;
  view(dense, all(), 0) = 1.0;  // no row is empty, which reduceat would not see
  auto at = nonzero(dense);
  array<double> values = dense[dense != 0.0];
  array<std::int64_t> rows = at[0], columns = at[1];
  auto starts = searchsorted(rows, arange(12));
  array<double> x = rng.random({9}), y = rng.random({12});
  array<double> product = reduceat(ufunc::add, values * take(x, columns), starts);
  array<double> back = zeros<double>({9});
  add_at(back, columns, values * take(y, rows));
  expect(allclose(product, matmul(dense, x), 1e-12), "product");
  expect(allclose(back, matmul(y, dense), 1e-12), "transposed");
  array<double> again = zeros_like(dense);
  add_at(again, {rows, columns}, values);
  expect(array_equal(again, dense), "dense");
  double plain = 0;
  for (int j = 0; j < 9; ++j) plain += dense(4, j) * x(j);
  expect_near(product(4), plain, 1e-12, "row");
}

// Measurements in a file of text: units changed, a sensor calibrated, written and read again.
void calibration() {
  const std::string path = "programs_calibration.csv";
  array<double> fahrenheit = linspace(32, 212, 10);
  array<double> volts = 0.01 * (fahrenheit - 32) / 1.8 + 0.2;
  dump_csv(path, column_stack({fahrenheit, volts}));
  array<double> table = load_csv<double>(path);
  std::remove(path.c_str());
  auto celsius = (col(table, 0) - 32) / 1.8;
  auto line = polyfit(col(table, 1), celsius, 1);
  expect_near(line(0), 100, 1e-9, "degrees a volt");
  expect_near(line(1), -20, 1e-8, "at no volts");
  expect(allclose(polyval(line, col(table, 1)), linspace(0, 100, 10), 1e-9, 1e-9), "calibrated");
}

// A simulation that stops, is stored with the state of its engine, and goes on as if it had not.
void checkpoint() {
  const std::string path = "programs_checkpoint.npz";
  const auto walk = [](random::engine& rng, const array<double>& from) {
    return (from + rng.normal(0, 1, {6})).eval();
  };
  random::engine rng(99);
  array<double> x = zeros<double>({6});
  for (int step = 0; step < 5; ++step) x = walk(rng, x);
  savez(path, {{"x", x}, {"step", array<int>(5)}});
  const auto state = rng.state();
  for (int step = 5; step < 9; ++step) x = walk(rng, x);

  auto file = load_npz(path);
  array<double> y = load_npz<double>(path, "x");
  const int start = file["step"].item<int>();
  random::engine again = random::engine::from_state(state);
  for (int step = start; step < 9; ++step) y = walk(again, y);
  std::remove(path.c_str());
  expect(start == 5 && array_equal(x, y), "goes on");
}

// A file whose dtype is found out by reading it.
void unknown_dtype() {
  const std::string path = "programs_unknown.npy";
  dump_npy(path, arange<std::int16_t>(0, 12).reshape({3, 4}));
  any_array x = load_npy(path);
  std::remove(path.c_str());
  expect(x.dtype() == dtype::int16 && to_string(x.dtype()) == "int16", "dtype");
  expect(sum(x).dtype() == dtype::int64 && mean(x).dtype() == dtype::float64, "reductions");
  expect(sum(x).item<int>() == 66, "sum");
  any_array scaled = x / 2 - mean(x, 0);
  expect_near(scaled.astype<double>()(2, 3), 5.5 - 7, 1e-15, "scaled");
  const bool even = visit(x, [](auto t) { return bool(all(t == t)); });
  expect(even, "visit");
}

// Threads that each evaluate their own arrays, with the results of one.
void side_by_side() {
  const auto work = [](int seed) {
    random::engine rng(static_cast<std::uint64_t>(seed));
    array<double> a = rng.standard_normal({50, 50});
    return sum(exp(-a * a) + matmul(a, a) * 1e-3).item();
  };
  std::vector<double> alone, together(8);
  for (int i = 0; i < 8; ++i) alone.push_back(work(i));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { together[std::size_t(i)] = work(i); });
  for (auto& t : threads) t.join();
  expect(alone == together, "the same numbers");
}

// The step of a simulation as a compiled function.
void compiled_step() {
  const auto step = [](const array<double>& u, const array<double>& f) {
    array<double> next = u.copy();
    view(next, range(1, -1)) +=
        0.2 * (view(u, range(_, -2)) - 2.0 * view(u, range(1, -1)) + view(u, range(2, _))) +
        view(f, range(1, -1));
    return next;
  };
  auto fast = compile(step);
  array<double> u = zeros<double>({40}), v = zeros<double>({40}),
                f = 0.01 * sin(arange<double>(40));
  for (int i = 0; i < 20; ++i) {
    u = fast(u, f);
    v = step(v, f);
  }
  expect(allclose(u, v, 1e-14), "the same");
  std::vector<double> plain(40);
  for (int i = 0; i < 20; ++i) {
    auto before = plain;
    for (std::size_t j = 1; j < 39; ++j)
      plain[j] += 0.2 * (before[j - 1] - 2 * before[j] + before[j + 1]) + f(j);
  }
  expect(allclose(u, array<double>(plain), 1e-13), "loop");
}

// Polygons: area, centre, and which of many points are inside.
void polygon() {
  const array<double> p{{0, 0}, {4, 0}, {5, 3}, {2, 5}, {-1, 2}};
  array<double> x = col(p, 0), y = col(p, 1), x1 = roll(x, -1), y1 = roll(y, -1);
  auto cross_terms = x * y1 - x1 * y;
  const double area = 0.5 * double(sum(cross_terms));
  const double cx = sum((x + x1) * cross_terms).item() / (6 * area);
  double plain = 0;
  for (int i = 0; i < 5; ++i) plain += p(i, 0) * p((i + 1) % 5, 1) - p((i + 1) % 5, 0) * p(i, 1);
  expect_near(area, plain / 2, 1e-14, "area");
  random::engine rng(17);
  array<double> points = rng.uniform(-2, 6, {20000, 2});
  auto px = view(points, all(), 0, newaxis()), py = view(points, all(), 1, newaxis());
  auto straddles = (y > py) != (y1 > py);
  auto inside = count_nonzero(straddles & (px < (x1 - x) * (py - y) / (y1 - y) + x), 1) % 2 == 1;
  expect(std::fabs(mean(inside.astype<double>()).item() * 64 - area) < 0.5, "by chance");
  expect_near(cx, mean(array<double>(col(points, 0)[inside])).item(), 0.05, "centre");
  // Convex: inside is left of every edge.
  auto left = all((x1 - x) * (py - y) - (y1 - y) * (px - x) >= 0.0, 1);
  expect(array_equal(left, inside), "left of the edges");
}

// The hull of points: from each corner the next one is that with all others to the left.
void hull() {
  random::engine rng(8);
  array<double> p = rng.standard_normal({60, 2});
  std::vector<std::int64_t> corners{argmin(col(p, 0)).item()};
  do {
    array<double> d = p - row(p, corners.back());
    auto x = col(d, 0), y = col(d, 1);
    auto turns = outer(x, y) - outer(y, x);
    auto good = all(turns >= -1e-12, 1) & (x * x + y * y > 0.0);
    corners.push_back(argmax(good).item());
  } while (corners.back() != corners.front() && corners.size() < 61);
  expect(corners.size() > 4 && corners.back() == corners.front(), "closed");
  for (std::size_t c = 0; c + 1 < corners.size(); ++c)
    for (int i = 0; i < 60; ++i) {
      const auto a = corners[c], b = corners[c + 1];
      expect((p(b, 0) - p(a, 0)) * (p(i, 1) - p(a, 1)) - (p(b, 1) - p(a, 1)) * (p(i, 0) - p(a, 0)) >
                 -1e-9,
             "left");
    }
}

// Runs of equal values, there and back.
void run_lengths() {
  array<int> x{3, 3, 3, 1, 1, 4, 4, 4, 4, 0};
  auto starts = flatnonzero(concatenate({array<bool>{true}, diff(x) != 0}));
  array<std::int64_t> lengths =
      diff(concatenate({starts, array<std::int64_t>{std::int64_t(x.size())}}));
  expect(array_equal(lengths, array<std::int64_t>{3, 2, 4, 1}), "lengths");
  expect(array_equal(repeat(take(x, starts), lengths), x), "back");
  expect(take(x, starts)(argmax(lengths).item()) == 4, "the longest");
}

// Days since 1970 as dates of the calendar, by integer arithmetic.
void calendar() {
  array<std::int64_t> day = arange(-1000, 30000, 37);
  auto z = day + 719468;
  auto era = floor_divide(z, 146097), doe = z - era * 146097;
  auto yoe = floor_divide(
      doe - floor_divide(doe, 1460) + floor_divide(doe, 36524) - floor_divide(doe, 146096), 365);
  auto doy = doe - (365 * yoe + floor_divide(yoe, 4) - floor_divide(yoe, 100));
  auto mp = floor_divide(5 * doy + 2, 153);
  array<std::int64_t> d = doy - floor_divide(153 * mp + 2, 5) + 1;
  array<std::int64_t> m = where(mp < 10, mp + 3, mp - 9);
  array<std::int64_t> y = yoe + era * 400 + (m <= 2);
  array<std::int64_t> weekday = (day + 4) % 7;
  const auto leap = [](long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); };
  for (int i = 28; i < 800; i += 101) {
    long left = day(i), year = 1970;
    while (left >= (leap(year) ? 366 : 365)) left -= leap(year++) ? 366 : 365;
    const int days[] = {31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    while (left >= days[month]) left -= days[month++];
    expect(y(i) == year && m(i) == month + 1 && d(i) == left + 1, "date");
  }
  expect(weekday(0) == ((-1000 + 4) % 7 + 7) % 7, "weekday before 1970");
}

// Whether two samples differ, by permutations; counts of pairs against independence.
void permutation_test() {
  random::engine rng(55);
  array<double> a = rng.normal(0, 1, {30}), b = rng.normal(0.9, 1, {25});
  array<double> both = concatenate({a, b});
  const double seen = std::fabs((mean(a) - mean(b)).item());
  array<double> mixed = rng.permuted(broadcast_to(both, {999, 55}), 1);
  auto difference =
      abs(mean(view(mixed, all(), range(_, 30)), 1) - mean(view(mixed, all(), range(30, _)), 1));
  const double p = double(1 + count_nonzero(difference >= seen).item()) / 1000;
  expect(p < 0.05, "differ");
  expect(allclose(sort(mixed, 1), sort(both)), "permutations");

  array<double> table{{20, 30, 10}, {25, 10, 25}};
  auto expected = outer(sum(table, 1), sum(table, 0)) / sum(table);
  const double chi2 = sum(square(table - expected) / expected).item();
  double plain = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      const double e = 60.0 * (table(0, j) + table(1, j)) / 120;
      plain += (table(i, j) - e) * (table(i, j) - e) / e;
    }
  expect_near(chi2, plain, 1e-13, "chi squared");
}

}  // namespace

const std::vector<Program>& tables() {
  static const std::vector<Program> programs{{"takings", takings},
                                             {"join", join},
                                             {"sparse", sparse},
                                             {"calibration", calibration},
                                             {"checkpoint", checkpoint},
                                             {"unknown dtype", unknown_dtype},
                                             {"side by side", side_by_side},
                                             {"compiled step", compiled_step},
                                             {"polygon", polygon},
                                             {"hull", hull},
                                             {"run lengths", run_lengths},
                                             {"calendar", calendar},
                                             {"permutation test", permutation_test}};
  return programs;
}
