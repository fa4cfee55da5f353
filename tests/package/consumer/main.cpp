// A stranger's program: it knows the public headers and plait::plait, nothing else.
#include <cstdio>
#include <plait/plait.hpp>

int main() {
  plait::array<double> X = plait::random::randn<double>({1000, 2});
  auto means = plait::view(X, plait::range(0, 3)).copy();
  auto d = plait::linalg::norm(X - plait::view(means, plait::all(), plait::newaxis()), {2});
  plait::array<std::int64_t> label = plait::argmin(d, 0);
  try {
    (void)(X + plait::ones({7}));
  } catch (const plait::ShapeError& e) {
    std::printf("%s\n", e.what());
    return label(0) == 0 && label(2) == 2 ? 0 : 1;
  }
  return 1;
}
