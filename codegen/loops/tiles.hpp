// Register tiles of matrix products.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codegen/loops/product.hpp"
#include "codegen/loops/vector.hpp"
#include "core/half.hpp"
#include "core/narrow.hpp"

namespace plait::loops::PLAIT_TIER {

PLAIT_INLINE vi splat(int x) { return x - vi{}; }
PLAIT_INLINE vl splat(long long x) { return x - vl{}; }

namespace {

constexpr int kRows = kTileRows, kVectors = 2;

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
template <>
struct Register<int> {
  using type = vi;
};
template <>
struct Register<long long> {
  using type = vl;
};
template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
#include "codegen/loops/processor/lanes.hpp"
namespace plait::loops::PLAIT_TIER {
namespace {

// Of integers, no lane raises flags, and those of floats are moved.
template <class T, class Float>
struct IntegerLanes {
  using Vector = typename Register<T>::type;
  using FloatVector = typename Register<Float>::type;
  Lanes<Float> lanes;
  explicit IntegerLanes(std::int64_t count) : lanes(count) {}
  Vector load(const T* p) const { return (Vector)lanes.load(reinterpret_cast<const Float*>(p)); }
  void store(T* p, Vector v) const { lanes.store(reinterpret_cast<Float*>(p), (FloatVector)v); }
};
template <>
struct Lanes<int> : IntegerLanes<int, float> {
  using IntegerLanes::IntegerLanes;
};
template <>
struct Lanes<long long> : IntegerLanes<long long, double> {
  using IntegerLanes::IntegerLanes;
};

template <class T>
PLAIT_INLINE typename Register<T>::type load(const T* p) {
  return *reinterpret_cast<const typename Native<T>::type*>(p);
}
// Integers that are wider in panels.
PLAIT_INLINE vi load(const std::uint16_t* p) {
  typedef std::uint16_t Narrow __attribute__((vector_size(kVectorBytes / 2)));
  Narrow v;
  __builtin_memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, vi);
}
PLAIT_INLINE vf load(const BFloat16* p) { return (vf)(load(&p->bits) << 16); }

template <class T>
PLAIT_INLINE void store(T* p, typename Register<T>::type v) {
  *reinterpret_cast<typename Native<T>::type*>(p) = v;
}

// The first lanes of a register, from what is there of its elements.
template <class T>
PLAIT_INLINE typename Register<T>::type load_some(const Lanes<T>& lanes, const T* p, std::int64_t) {
  return lanes.load(p);
}
template <class T, class From>
PLAIT_INLINE auto load_some(const Lanes<T>&, const From* p, std::int64_t count) {
  From some[kWidth<T>] = {};
  std::copy_n(p, count, some);
  return load(some);
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

// What a tile makes of two words and their sum. Where it kStarts, panels begin with a word a line
// that is added to the sums; kGroup: elements in a word.
template <class T>
struct Fused {
  using Word = T;
  using Vector = typename Register<T>::type;
  static constexpr bool kStarts = false;
  static constexpr std::int64_t kGroup = 1;
  static constexpr bool kPanelsOnly = false;
  PLAIT_INLINE static Vector load_edge(const Lanes<T>& lanes, const T* p) {
    return lanes.load_factors(p);
  }
  PLAIT_INLINE static Vector whole(Vector x, Vector y, Vector s) { return fma(x, y, s); }
  PLAIT_INLINE static Vector edge(const Lanes<T>& lanes, Vector x, Vector y, Vector s) {
    return lanes.multiply_add(x, y, s);
  }
};
// Of what raises nothing: panels have whole vectors.
template <class T>
struct Panelled {
  using Word = T;
  using Vector = typename Register<T>::type;
  static constexpr bool kStarts = false;
  static constexpr std::int64_t kGroup = 1;
  static constexpr bool kPanelsOnly = true;
  PLAIT_INLINE static Vector load_edge(const Lanes<T>&, const T* p) { return load(p); }
};
template <class T>
struct WholeWords : Panelled<T> {
  using typename Panelled<T>::Vector;
  PLAIT_INLINE static Vector whole(Vector x, Vector y, Vector s) {
    using Unsigned = std::conditional_t<sizeof(T) == 4, vu, vul>;
    return (Vector)((Unsigned)s + (Unsigned)x * (Unsigned)y);
  }
};

// Sums of integers wrap around in vector registers, as NumPy's do. (In unsigned vectors, which say
// so, GCC 12 makes 51 KB more of the tiles of AVX-512.)
#define PLAIT_WRAPS __attribute__((no_sanitize("signed-integer-overflow")))

// R rows of V vectors. kPacked: of panels of full width; kEdge: the last vector is not a whole one.
template <class By, int R, int V, bool kPacked, bool kEdge>
PLAIT_WRAPS void tile(const Tile<typename By::Word>& t) {
  using T = typename By::Word;
  using Vector = typename Register<T>::type;
  constexpr int kLanesOf = kWidth<T>;
  const Lanes<T> lanes(kEdge ? t.last : 0);
  // What the sums are added to is on its way meanwhile.
  if (t.add)
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v) __builtin_prefetch(t.c + r * t.c_row + v * kLanesOf, 1);
  Vector sum[R][V];
  const std::int64_t a_row = kPacked ? 1 : t.a_row, a_column = kPacked ? kRows : t.a_column;
  const std::int64_t b_row = t.b_row;
  const T *a = t.a, *b = t.b;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      if constexpr (By::kStarts)
        sum[r][v] = splat(a[r * a_row]) + load(b + v * kLanesOf);
      else
        sum[r][v] = Vector{};
  if constexpr (By::kStarts) {
    a += a_column;
    b += b_row;
  }
  for (std::int64_t k = 0; k < t.k; ++k, a += a_column, b += b_row) {
    Vector y[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      y[v] = kEdge && v == V - 1 ? By::load_edge(lanes, b + v * kLanesOf) : load(b + v * kLanesOf);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector x = splat(a[r * a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        if constexpr (By::kPanelsOnly)
          sum[r][v] = By::whole(x, y[v], sum[r][v]);
        else
          sum[r][v] = kEdge && v == V - 1 ? By::edge(lanes, x, y[v], sum[r][v])
                                          : By::whole(x, y[v], sum[r][v]);
    }
  }
  const auto put = [&](auto add) PLAIT_WRAPS {
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
template <class By, int V, bool kEdge, std::size_t... r>
constexpr std::array<TileFn<typename By::Word>, sizeof...(r)> tiles_of(std::index_sequence<r...>) {
  return {tile<By, static_cast<int>(r) + 1, V, false, kEdge>...};
}
// [rows - 1] of tiles of so many columns. Those at the edges of panels take them for any operand.
template <class By>
const std::array<TileFn<typename By::Word>, kRows>& tiles(std::int64_t columns) {
  using T = typename By::Word;
  constexpr auto rows = std::make_index_sequence<kRows>();
  static constexpr std::array<TileFn<T>, kRows> table[] = {
      tiles_of<By, 1, true>(rows), tiles_of<By, 1, false>(rows), tiles_of<By, 2, true>(rows),
      tiles_of<By, 2, false>(rows)};
  static_assert(kVectors == 2);
  const std::int64_t vectors = (columns + kWidth<T> - 1) / kWidth<T>;
  return table[(vectors - 1) * 2 + (columns % kWidth<T> == 0)];
}

// All tiles: panels of B one after another, each with every panel of A. `height`: rows of a tile;
// the steps lead from panel to panel.
template <class By, bool kPacked>
void walk(std::int64_t m, std::int64_t n, Tile<typename By::Word> t, std::int64_t height,
          std::int64_t a_step, std::int64_t b_step) {
  using T = typename By::Word;
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  const T* a = t.a;
  T* c = t.c;
  for (std::int64_t j = 0; j < n; j += wide, t.b += b_step) {
    const std::int64_t columns = std::min(wide, n - j);
    const auto& by_rows = tiles<By>(columns);
    t.last = (columns - 1) % kWidth<T> + 1;
    t.a = a;
    t.c = c + j;
    for (std::int64_t i = 0; i < m; i += height, t.a += a_step, t.c += height * t.c_row) {
      const std::int64_t rows = std::min(height, m - i);
      if (kPacked && columns == wide && rows == kRows)
        tile<By, kRows, kVectors, kPacked, false>(t);
      else
        by_rows[static_cast<std::size_t>(rows - 1)](t);
    }
  }
}

template <class By>
void block(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* c,
           std::int64_t c_row, bool add) {
  using T = typename By::Word;
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  const std::int64_t words = (k + By::kGroup - 1) / By::kGroup, all = words + By::kStarts;
  const Tile<T> t{words, static_cast<const T*>(a), 1,     kRows, static_cast<const T*>(b),
                  wide,  static_cast<T*>(c),       c_row, add,   0};
  walk<By, true>(m, n, t, kRows, all * kRows, all * wide);
}

// Vectors of a tile of so few rows that two would not give as many sums as a processor has under
// way: longer pieces of the rows of B, too, where these lie in memory.
constexpr int vectors_of_few(int rows) {
  if (kManyRegisters) return rows <= 2 ? 8 : rows <= 6 ? 4 : kVectors;
  return rows == 1 ? 8 : rows == 2 ? 4 : kVectors;
}

constexpr int kMostFewRows = 6;

// Full tiles of so few rows; returns how many columns these are.
template <class By, int R>
std::int64_t walk_few(std::int64_t n, Tile<typename By::Word> t) {
  constexpr int vectors = vectors_of_few(R);
  constexpr std::int64_t wide = kWidth<typename By::Word> * vectors;
  std::int64_t j = 0;
  for (; vectors > kVectors && j + wide <= n; j += wide, t.b += wide, t.c += wide)
    tile<By, R, vectors, false, false>(t);
  return j;
}
template <class By, std::size_t... r>
std::int64_t walk_few(std::int64_t rows, std::int64_t n, const Tile<typename By::Word>& t,
                      std::index_sequence<r...>) {
  std::int64_t done = 0;
  ((rows == static_cast<std::int64_t>(r) + 1
        ? void(done = walk_few<By, static_cast<int>(r) + 1>(n, t))
        : void()),
   ...);
  return done;
}

template <class By>
void strided(const ProductBlock& p, bool packed_b) {
  using T = typename By::Word;
  constexpr std::int64_t wide = kWidth<T> * kVectors;
  if (p.m == 0) return;
  // Tiles of about the same height: those of few rows wait for their own sums.
  const std::int64_t count = (p.m + kRows - 1) / kRows, height = (p.m + count - 1) / count;
  Tile<T> t{p.k,
            static_cast<const T*>(p.a),
            p.a_row,
            p.a_column,
            static_cast<const T*>(p.b),
            packed_b ? wide : p.b_row,
            static_cast<T*>(p.c),
            p.c_row,
            p.add,
            0};
  std::int64_t done = 0;
  if (!packed_b && count == 1) {
    done = walk_few<By>(p.m, p.n, t, std::make_index_sequence<kMostFewRows>());
    t.b += done;
    t.c += done;
  }
  walk<By, false>(p.m, p.n - done, t, height, height * p.a_row, packed_b ? p.k * wide : wide);
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
