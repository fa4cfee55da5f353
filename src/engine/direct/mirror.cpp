#include "mirror.hpp"

#include <algorithm>
#include <complex>

#include "engine/threads/team.hpp"

namespace plait::engine {

namespace {

constexpr std::int64_t kSide = 32;
constexpr double kSeconds = 0.3e-9;  // of an element that is copied
constexpr std::int64_t kLeastRows = 32, kLeastDepth = 32;

template <class T>
void mirror(T* c, std::int64_t n, std::int64_t count) {
  const std::int64_t blocks = (n + kSide - 1) / kSide;
  const auto block = [n](T* one, std::int64_t i, std::int64_t j) {
    for (std::int64_t r = i; r < std::min(n, i + kSide); ++r)
      for (std::int64_t q = j; q < std::min(r, j + kSide); ++q) one[r * n + q] = one[q * n + r];
  };
  const double seconds =
      kSeconds * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(count);
  const ParallelLoop loop{
      .extent = count * blocks, .seconds = seconds, .threads = team_threads(seconds)};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j <= i % blocks; ++j)
        block(c + i / blocks * n * n, i % blocks * kSide, j * kSide);
    return true;
  });
}

}  // namespace

bool mirror_pays(std::int64_t n, std::int64_t k) { return n >= kLeastRows && k >= kLeastDepth; }

void mirror_upper(DType t, std::byte* c, std::int64_t n, std::int64_t count) {
  const auto as = [&]<class T>(T* at) { mirror(at, n, count); };
  switch (itemsize(t)) {
    case 4:
      return as(reinterpret_cast<std::uint32_t*>(c));
    case 8:
      return as(reinterpret_cast<std::uint64_t*>(c));
    default:
      return as(reinterpret_cast<std::complex<double>*>(c));
  }
}

}  // namespace plait::engine
