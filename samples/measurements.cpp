// Measurements in a program of its own memory: a vector becomes an array, results go to the
// program's buffers, files are NumPy's. It checks what it computes.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <plait/io.hpp>
#include <plait/plait.hpp>
#include <string>
#include <vector>

namespace {

std::vector<double> load(std::size_t rows) {
  std::vector<double> v(4 * rows);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i * 7 % 11) / 10;
  return v;
}

bool check(bool holds, const char* what) {
  if (!holds) std::cerr << "wrong: " << what << '\n';
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = 1000;
  const std::string file = std::string(argc > 1 ? argv[1] : "measurements") + ".npy";
  plait::options o;
  o.threads = 2;
  o.pool_bytes = std::size_t{1} << 28;
  plait::configure(o);

  // The array owns the vector's memory.
  auto a = plait::adopt(load(n)).reshape({n, 4});
  a.set(2.5, 3, 1);
  bool good = check(a.get(3, 1) == 2.5, "an element");

  // A function of elements is recorded once; its branch is where().
  auto y = plait::vectorize([](auto x, auto limit) { return plait::where(x > limit, x * x, -x); },
                            a, 0.25);
  std::vector<double> out(static_cast<std::size_t>(4 * n));
  plait::round(y - plait::mean(y, 0), 6).eval_into(out.data());  // in the loop that computes it
  good &= check(out[13] > 5, "what is computed in the program's memory");

  // Views write through; iterators are those of std.
  for (double& x : plait::view(a, plait::all(), 1)) x += 1;
  good &= check(a.get(3, 1) == 3.5, "a column");
  auto column = plait::view(a, plait::all(), 0).copy();
  std::sort(column.begin(), column.end());
  good &= check(column.get(0) == 0, "the least");

  plait::dump_npy(file, a);
  const auto back = plait::load_npy<double>(file);
  good &= check(plait::allclose(back, a), "what comes back from the file");
  std::remove(file.c_str());

  std::cout << plait::round(plait::mean(a, 0), 3) << '\n';
  plait::trim();
  return good ? 0 : 1;
}
