#include "mirror.hpp"

#include <algorithm>

#include "engine/threads/team.hpp"

namespace plait::engine {

namespace {

constexpr std::int64_t kSide = 32;
constexpr double kSeconds = 0.3e-9;  // of an element that is copied
constexpr std::int64_t kLeastRows = 256, kLeastDepth = 128;

template <class T>
void mirror(T* c, std::int64_t n) {
  const auto block = [&](std::int64_t i, std::int64_t j) {
    for (std::int64_t r = i; r < std::min(n, i + kSide); ++r)
      for (std::int64_t q = j; q < std::min(r, j + kSide); ++q) c[r * n + q] = c[q * n + r];
  };
  const double seconds = kSeconds * static_cast<double>(n) * static_cast<double>(n);
  const ParallelLoop loop{
      .extent = (n + kSide - 1) / kSide, .seconds = seconds, .threads = team_threads(seconds)};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j <= i; ++j) block(i * kSide, j * kSide);
    return true;
  });
}

}  // namespace

bool mirror_pays(std::int64_t n, std::int64_t k) { return n >= kLeastRows && k >= kLeastDepth; }

void mirror_upper(DType t, std::byte* c, std::int64_t n) {
  if (itemsize(t) == sizeof(float)) mirror(reinterpret_cast<float*>(c), n);
  if (itemsize(t) == sizeof(double)) mirror(reinterpret_cast<double*>(c), n);
}

}  // namespace plait::engine
