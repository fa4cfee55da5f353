// What an xtensor program does, with Plait's arrays: memory that is taken over, elements by index
// and mask, functions of one's own, running sums, a factorisation, files, iterators, and an
// xtensor expression computed by Plait.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <plait/plait.hpp>
#include <plait/xtensor.hpp>
#include <string>
#include <vector>

namespace {

std::vector<double> load(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(4 * n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(double(i));
  return values;
}

bool expect(bool holds, const char* what) {
  if (!holds) std::printf("not so: %s\n", what);
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = 100;
  const std::string file = argc > 1 ? argv[1] : "from_xtensor.npy";
  plait::options o;
  o.threads = 2;
  o.pool_bytes = 1 << 28;
  plait::configure(o);

  std::vector<double> v = load(n);
  auto a = plait::adopt(std::move(v)).reshape({n, 4});  // the vector's memory, shared with nobody
  plait::array<double> sorted = plait::take(a, plait::argsort(plait::sum(a, {1})), 0);
  plait::array<double> big = plait::filter(a, a > 0.5), mid = plait::median(a, {0});
  bool good = expect(plait::all(plait::diff(plait::sum(sorted, {1})) >= 0.0).item(), "sorted");
  good &= expect(plait::amin(big).item() > 0.5, "greater than 0.5");
  good &= expect(mid.shape() == plait::shape_type{4}, "a median for each column");

  // Recorded once, for all elements.
  auto y = plait::vectorize([](auto x, auto t) { return plait::where(x > t, x * x, -x); }, a, 0.25);
  std::vector<double> out(static_cast<std::size_t>(4 * n));
  plait::cumsum(y, 0).eval_into(out.data());  // C order, in the program's own memory
  good &= expect(std::abs(out.back() - plait::sum(plait::view(y, plait::all(), 3)).item()) < 1e-9,
                 "the last of the running sums");

  auto [u, s, vt] = plait::linalg::svd(a, false);
  good &= expect(plait::allclose(plait::matmul(u * s, vt), a), "u diag(s) vt");

  const double before = a.get(3, 1);
  a.set(2.5, 3, 1);
  good &= expect(a.get(3, 1) == 2.5 && before != 2.5, "one element");

  const xt::xarray<double> xa = {{1, 2, 3}, {4, 5, 6}}, xb = {0.5, 1, 2}, xc = xa * 2.0;
  plait::array<double> r = plait::compile(xt::sin(xa) * xb + xt::sum(xc, {0}));
  good &= expect(std::abs(r.get(1, 2) - (std::sin(6.0) * 2 + 18)) < 1e-12, "xtensor's expression");

  plait::dump_npy(file, a);
  auto back = plait::load_npy<double>(file);
  good &= expect(plait::array_equal(a, back), "what was written");
  std::remove(file.c_str());

  for (double& x : plait::view(a, plait::all(), 1)) x += 1;
  std::sort(a.begin(), a.end());
  good &= expect(std::is_sorted(a.begin(), a.end()), "std::sort");
  plait::trim();
  std::printf("singular values from %.3f to %.3f\n", s.get(0), s.get(-1));
  return good ? 0 : 1;
}
