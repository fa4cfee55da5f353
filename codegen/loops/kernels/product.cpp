// Register tiles of matrix products, and how their panels are packed.
#include "codegen/loops/product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

#if defined(__AVX512F__)
constexpr int kRows = 14, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kRows = 6, kVectors = 2;
#else
constexpr int kRows = 4, kVectors = 2;
#endif

template <class T>
struct Register;
template <>
struct Register<float> {
  using type = vf;
};
template <>
struct Register<double> {
  using type = vd;
};
template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

// The first `count` lanes of a register: all, or those that a mask says.
#if defined(__AVX512F__)
template <class T>
struct Lanes {
  __mmask16 mask;
  explicit Lanes(std::int64_t count) : mask(static_cast<__mmask16>((1U << count) - 1)) {}
  vf load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
  vd load(const double* p) const { return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p); }
  void store(float* p, vf v) const { _mm512_mask_storeu_ps(p, mask, v); }
  void store(double* p, vd v) const { _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), v); }
};
#else
template <class T>
struct Lanes {
  std::int64_t count;
  explicit Lanes(std::int64_t n) : count(n) {}
  auto load(const T* p) const {
    typename Register<T>::type v{};
    std::memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(T));
    return v;
  }
  void store(T* p, typename Register<T>::type v) const {
    std::memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(T));
  }
};
#endif

template <class T>
PLAIT_INLINE typename Register<T>::type load(const T* p) {
  return *reinterpret_cast<const typename Native<T>::type*>(p);
}
template <class T>
PLAIT_INLINE void store(T* p, typename Register<T>::type v) {
  *reinterpret_cast<typename Native<T>::type*>(p) = v;
}

// Where a tile's operands lie, in elements.
template <class T>
struct Tile {
  std::int64_t k;
  const T* a;
  std::int64_t a_row, a_column;
  const T* b;
  std::int64_t b_row;
  T* c;
  std::int64_t c_row;
  bool add;
  std::int64_t last;  // lanes of the last vector
};

// R rows of V vectors. kPacked: of panels of full width; kEdge: the last vector is not a whole one.
template <class T, int R, int V, bool kPacked, bool kEdge>
void tile(const Tile<T>& t) {
  using Vector = typename Register<T>::type;
  constexpr int kLanesOf = kWidth<T>;
  const Lanes<T> lanes(kEdge ? t.last : 0);
  Vector sum[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[r][v] = Vector{};
  const std::int64_t a_row = kPacked ? 1 : t.a_row, a_column = kPacked ? kRows : t.a_column;
  const std::int64_t b_row = t.b_row;
  const T *a = t.a, *b = t.b;
  for (std::int64_t k = 0; k < t.k; ++k, a += a_column, b += b_row) {
    Vector y[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      y[v] = kEdge && v == V - 1 ? lanes.load(b + v * kLanesOf) : load(b + v * kLanesOf);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector x = splat(a[r * a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] = fma(x, y[v], sum[r][v]);
    }
  }
  const auto put = [&](auto add) {
    T* c = t.c;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, c += t.c_row)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        T* at = c + v * kLanesOf;
        if (kEdge && v == V - 1)
          lanes.store(at, add ? lanes.load(at) + sum[r][v] : sum[r][v]);
        else
          store(at, add ? load(at) + sum[r][v] : sum[r][v]);
      }
  };
  if (t.add)
    put(std::true_type{});
  else
    put(std::false_type{});
}

template <class T>
using TileFn = void (*)(const Tile<T>&);
template <class T, bool kPacked, int V, bool kEdge, std::size_t... r>
constexpr std::array<TileFn<T>, sizeof...(r)> tiles_of(std::index_sequence<r...>) {
  return {tile<T, static_cast<int>(r) + 1, V, kPacked, kEdge>...};
}
// [rows - 1] of tiles of so many columns.
template <class T, bool kPacked>
const std::array<TileFn<T>, kRows>& tiles(std::int64_t columns) {
  constexpr auto rows = std::make_index_sequence<kRows>();
  static constexpr std::array<TileFn<T>, kRows> table[] = {
      tiles_of<T, kPacked, 1, true>(rows), tiles_of<T, kPacked, 1, false>(rows),
      tiles_of<T, kPacked, 2, true>(rows), tiles_of<T, kPacked, 2, false>(rows)};
  static_assert(kVectors == 2);
  const std::int64_t vectors = (columns + kWidth<T> - 1) / kWidth<T>;
  return table[(vectors - 1) * 2 + (columns % kWidth<T> == 0)];
}

// All tiles: panels of B one after another, each with every panel of A. `height`: rows of a tile;
// the steps lead from panel to panel.
template <class T, bool kPacked>
void walk(std::int64_t m, std::int64_t n, Tile<T> t, std::int64_t height, std::int64_t a_step,
          std::int64_t b_step) {
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  const T* a = t.a;
  T* c = t.c;
  for (std::int64_t j = 0; j < n; j += wide, t.b += b_step) {
    const std::int64_t columns = std::min(wide, n - j);
    const auto& by_rows = tiles<T, kPacked>(columns);
    t.last = (columns - 1) % kWidth<T> + 1;
    t.a = a;
    t.c = c + j;
    for (std::int64_t i = 0; i < m; i += height, t.a += a_step, t.c += height * t.c_row)
      by_rows[static_cast<std::size_t>(std::min(height, m - i) - 1)](t);
  }
}

template <class T>
void block(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* c,
           std::int64_t c_row, bool add) {
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  const Tile<T> t{k,    static_cast<const T*>(a), 1,     kRows, static_cast<const T*>(b),
                  wide, static_cast<T*>(c),       c_row, add,   0};
  walk<T, true>(m, n, t, kRows, k * kRows, k * wide);
}

template <class T>
void strided(const ProductBlock& p, bool packed_b) {
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  if (p.m == 0) return;
  // Tiles of about the same height: those of few rows wait for their own sums.
  const std::int64_t count = (p.m + kRows - 1) / kRows, height = (p.m + count - 1) / count;
  const Tile<T> t{p.k,
                  static_cast<const T*>(p.a),
                  p.a_row,
                  p.a_column,
                  static_cast<const T*>(p.b),
                  packed_b ? wide : p.b_row,
                  static_cast<T*>(p.c),
                  p.c_row,
                  p.add,
                  0};
  walk<T, false>(p.m, p.n, t, height, height * p.a_row, packed_b ? p.k * wide : wide);
}

template <class T>
T element(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
void pack(void* to, const void* from, std::int64_t line, std::int64_t step, std::int64_t lines,
          std::int64_t k, std::int64_t width) {
  auto* out = static_cast<T*>(to);
  const auto* at = static_cast<const std::byte*>(from);
  for (std::int64_t first = 0; first < lines; first += width, at += width * line) {
    const std::int64_t some = std::min(width, lines - first);
    for (std::int64_t i = 0; i < k; ++i, out += width) {
      const std::byte* p = at + i * step;
      if (line == static_cast<std::int64_t>(sizeof(T)))
        std::memcpy(out, p, static_cast<std::size_t>(some) * sizeof(T));
      else
        for (std::int64_t w = 0; w < some; ++w) out[w] = element<T>(p + w * line);
      std::fill(out + some, out + width, T{});
    }
  }
}

template <class T>
constexpr Product kProduct{kRows, kWidth<T>* kVectors, block<T>, strided<T>, pack<T>};

}  // namespace

const Product* product(DType t) {
  switch (t) {
    case DType::Float32:
      return &kProduct<float>;
    case DType::Float64:
      return &kProduct<double>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
