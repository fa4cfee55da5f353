// Merges of two sorted runs, stable: of equal elements those of the first run stand in front.
#pragma once
#include <algorithm>
#include <cstdint>

namespace plait::engine {

// How many of the first `taken` merged elements come from `a`.
template <class T, class Less>
std::int64_t merge_path(const T* a, std::int64_t na, const T* b, std::int64_t nb,
                        std::int64_t taken, Less less) {
  std::int64_t low = std::max<std::int64_t>(0, taken - nb), high = std::min(taken, na);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (less(b[taken - 1 - middle], a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class T>
struct MergeLane {
  const T *a, *a_end, *b, *b_end;
  T* out;
  // As many elements as can be merged before either run ends.
  std::int64_t sure() const { return std::min(a_end - a, b_end - b); }
  // Without a branch: which run comes next cannot be predicted.
  template <class Less>
  void step(Less less) {
    const T x = *a, y = *b;
    const bool second = less(y, x);
    *out++ = second ? y : x;
    a += !second;
    b += second;
  }
};

// Four merges side by side: a step waits for the one before it, another lane's does not.
template <class T, class Less>
void merge(const T* a, std::int64_t na, const T* b, std::int64_t nb, T* out, Less less) {
  constexpr int kLanes = 4;
  constexpr std::int64_t kFew = 8;
  MergeLane<T> lanes[kLanes];
  std::int64_t from = 0, begin = 0;
  for (int k = 0; k < kLanes; ++k) {
    const std::int64_t end = (na + nb) * (k + 1) / kLanes;
    const std::int64_t to = merge_path(a, na, b, nb, end, less);
    lanes[k] = {a + from, a + to, b + (begin - from), b + (end - to), out + begin};
    from = to;
    begin = end;
  }
  for (;;) {
    std::int64_t n = lanes[0].sure();
    for (const MergeLane<T>& lane : lanes) n = std::min(n, lane.sure());
    if (n < kFew) break;
    MergeLane<T> l0 = lanes[0], l1 = lanes[1], l2 = lanes[2], l3 = lanes[3];
    for (std::int64_t i = 0; i < n; ++i) {
      l0.step(less);
      l1.step(less);
      l2.step(less);
      l3.step(less);
    }
    lanes[0] = l0;
    lanes[1] = l1;
    lanes[2] = l2;
    lanes[3] = l3;
  }
  for (MergeLane<T> lane : lanes) {
    for (std::int64_t n = lane.sure(); n >= kFew; n = lane.sure())
      for (std::int64_t i = 0; i < n; ++i) lane.step(less);
    std::merge(lane.a, lane.a_end, lane.b, lane.b_end, lane.out, less);
  }
}

}  // namespace plait::engine
