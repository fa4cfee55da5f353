// Causal attention as one would write it with NumPy, and as plait::nn has it: scores of queries and
// keys, which would be most of the memory, are never stored.
//   attention [queries]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <plait/plait.hpp>

using plait::all;
using plait::newaxis;
using floats = plait::array<float>;

namespace {

floats attention(const floats& q, const floats& k, const floats& v) {
  const auto depth = static_cast<float>(q.shape()[2]);
  floats s = plait::matmul(q, plait::swapaxes(k, -1, -2)) / std::sqrt(depth);
  const auto i = plait::arange<std::int64_t>(q.shape()[1]);
  s = plait::where(plait::view(i, all(), newaxis()) >= i, s,
                   -std::numeric_limits<float>::infinity());
  const floats e = plait::exp(s - plait::max(s, {-1}, plait::keep_dims));
  return plait::matmul(e / plait::sum(e, {-1}, plait::keep_dims), v);
}

template <class F>
double milliseconds(F&& f) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    f().eval();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 1024;
  plait::random::seed(0);
  const auto some = [&] {
    floats x = plait::random::randn<float>({8, n, 64});
    x.eval();
    return x;
  };
  const floats q = some(), k = some(), v = some();

  std::puts(plait::explain(attention(q, k, v)).c_str());
  const double written = milliseconds([&] { return attention(q, k, v); });
  plait::nn::attention_options causal;
  causal.is_causal = true;
  const double named = milliseconds([&] { return plait::nn::attention(q, k, v, causal); });
  const floats differ = plait::abs(attention(q, k, v) - plait::nn::attention(q, k, v, causal));
  const float most = plait::max(differ).item();
  std::printf("%.1f ms as written, %.1f ms as plait::nn::attention, largest difference %.1e\n",
              written, named, static_cast<double>(most));
  return most < 1e-4F ? 0 : 1;
}
