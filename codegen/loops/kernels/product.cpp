// Register tiles of matrix products, and how their panels are packed.
#include "codegen/loops/product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codegen/loops/vector.hpp"
#include "core/half.hpp"

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

// The first `count` lanes of a register. What fma() makes of the others is not stored, and raises
// no flag that they do not: they are left out, or repeat the first lane.
#if defined(__AVX512F__)
template <class T>
struct Lanes {
  __mmask16 mask;
  explicit Lanes(std::int64_t count) : mask(static_cast<__mmask16>((1U << count) - 1)) {}
  vf load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
  vd load(const double* p) const { return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p); }
  vf load_factors(const float* p) const { return load(p); }
  vd load_factors(const double* p) const { return load(p); }
  void store(float* p, vf v) const { _mm512_mask_storeu_ps(p, mask, v); }
  void store(double* p, vd v) const { _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), v); }
  vf multiply_add(vf a, vf b, vf c) const { return _mm512_mask3_fmadd_ps(a, b, c, mask); }
  vd multiply_add(vd a, vd b, vd c) const {
    return _mm512_mask3_fmadd_pd(a, b, c, static_cast<__mmask8>(mask));
  }
};
#elif defined(__AVX2__)
template <class T>
struct Lanes {
  __m256i mask;
  explicit Lanes(std::int64_t count) {
    alignas(32) static constexpr std::int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const auto words = count * static_cast<std::int64_t>(sizeof(T) / 4);
    mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + 8 - words));
  }
  vf load(const float* p) const { return _mm256_maskload_ps(p, mask); }
  vd load(const double* p) const { return _mm256_maskload_pd(p, mask); }
  vf load_factors(const float* p) const {
    return _mm256_blendv_ps(_mm256_broadcast_ss(p), load(p), _mm256_castsi256_ps(mask));
  }
  vd load_factors(const double* p) const {
    return _mm256_blendv_pd(_mm256_broadcast_sd(p), load(p), _mm256_castsi256_pd(mask));
  }
  void store(float* p, vf v) const { _mm256_maskstore_ps(p, mask, v); }
  void store(double* p, vd v) const { _mm256_maskstore_pd(p, mask, v); }
  template <class V>
  V multiply_add(V a, V b, V c) const {
    return fma(a, b, c);
  }
};
#else
template <class T>
struct Lanes {
  using Vector = typename Register<T>::type;
  std::int64_t count;
  explicit Lanes(std::int64_t n) : count(n) {}
  Vector load(const T* p) const {
    Vector v{};
    for (std::int64_t i = 0; i < count; ++i) v[i] = p[i];
    return v;
  }
  Vector load_factors(const T* p) const {
    Vector v = splat(*p);
    for (std::int64_t i = 1; i < count; ++i) v[i] = p[i];
    return v;
  }
  void store(T* p, Vector v) const {
    for (std::int64_t i = 0; i < count; ++i) p[i] = v[i];
  }
  Vector multiply_add(Vector a, Vector b, Vector c) const { return fma(a, b, c); }
};
#endif

template <class T>
PLAIT_INLINE typename Register<T>::type load(const T* p) {
  return *reinterpret_cast<const typename Native<T>::type*>(p);
}
// Panels hold halves as Float32.
PLAIT_INLINE vf load(const Half* p) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  vf v;
  for (int i = 0; i < kFloatLanes; ++i) v[i] = half_to_float(p[i].bits);
  return v;
#endif
}

template <class T>
PLAIT_INLINE void store(T* p, typename Register<T>::type v) {
  *reinterpret_cast<typename Native<T>::type*>(p) = v;
}

// The first lanes of a register, from what is there of its elements.
template <class T>
PLAIT_INLINE typename Register<T>::type load_some(const Lanes<T>& lanes, const T* p, std::int64_t) {
  return lanes.load(p);
}
PLAIT_INLINE vf load_some(const Lanes<float>&, const Half* p, std::int64_t count) {
  Half some[kFloatLanes] = {};
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

// R rows of V vectors. kPacked: of panels of full width; kEdge: the last vector is not a whole one.
template <class T, int R, int V, bool kPacked, bool kEdge>
void tile(const Tile<T>& t) {
  using Vector = typename Register<T>::type;
  constexpr int kLanesOf = kWidth<T>;
  const Lanes<T> lanes(kEdge ? t.last : 0);
  // What the sums are added to is on its way meanwhile.
  if (t.add)
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v) __builtin_prefetch(t.c + r * t.c_row + v * kLanesOf, 1);
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
      y[v] = kEdge && v == V - 1 ? lanes.load_factors(b + v * kLanesOf) : load(b + v * kLanesOf);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector x = splat(a[r * a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        sum[r][v] =
            kEdge && v == V - 1 ? lanes.multiply_add(x, y[v], sum[r][v]) : fma(x, y[v], sum[r][v]);
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
template <class T, int V, bool kEdge, std::size_t... r>
constexpr std::array<TileFn<T>, sizeof...(r)> tiles_of(std::index_sequence<r...>) {
  return {tile<T, static_cast<int>(r) + 1, V, false, kEdge>...};
}
// [rows - 1] of tiles of so many columns. Those at the edges of panels take them for any operand.
template <class T>
const std::array<TileFn<T>, kRows>& tiles(std::int64_t columns) {
  constexpr auto rows = std::make_index_sequence<kRows>();
  static constexpr std::array<TileFn<T>, kRows> table[] = {
      tiles_of<T, 1, true>(rows), tiles_of<T, 1, false>(rows), tiles_of<T, 2, true>(rows),
      tiles_of<T, 2, false>(rows)};
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
    const auto& by_rows = tiles<T>(columns);
    t.last = (columns - 1) % kWidth<T> + 1;
    t.a = a;
    t.c = c + j;
    for (std::int64_t i = 0; i < m; i += height, t.a += a_step, t.c += height * t.c_row) {
      const std::int64_t rows = std::min(height, m - i);
      if (kPacked && columns == wide && rows == kRows)
        tile<T, kRows, kVectors, kPacked, false>(t);
      else
        by_rows[static_cast<std::size_t>(rows - 1)](t);
    }
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

template <class From>
auto element(const std::byte* p) {
  From v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<From, Half>)
    return half_to_float(v.bits);
  else
    return v;
}

// Of two registers side by side: the lower halves interleaved, and the upper ones.
template <class V, std::size_t... i>
PLAIT_INLINE V interleave_low(V a, V b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (i / 2 + i % 2 * sizeof...(i))...);
}
template <class V, std::size_t... i>
PLAIT_INLINE V interleave_high(V a, V b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (i / 2 + sizeof...(i) / 2 + i % 2 * sizeof...(i))...);
}

// As many rows as lanes: interleaving the halves log2(lanes) times turns rows into columns.
template <class T>
PLAIT_INLINE void transpose(typename Register<T>::type (&rows)[kWidth<T>]) {
  using Vector = typename Register<T>::type;
  constexpr int n = kWidth<T>;
  constexpr auto lanes = std::make_index_sequence<n>();
#pragma GCC unroll 4
  for (int stage = 1; stage < n; stage *= 2) {
    Vector next[n];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i) {
      next[2 * i] = interleave_low(rows[i], rows[i + n / 2], lanes);
      next[2 * i + 1] = interleave_high(rows[i], rows[i + n / 2], lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) rows[i] = next[i];
  }
}

// Lines of k contiguous elements, as many as lanes (what lies past the last of `some` repeats it),
// to the first `room` <= lanes of each row of a panel, zeros after them. Returns how far it came:
// whole registers along k.
template <class T, class From>
std::int64_t transpose_lines(T* out, const From* const* from, std::int64_t some, std::int64_t room,
                             std::int64_t k, std::int64_t width) {
  using Vector = typename Register<T>::type;
  constexpr int n = kWidth<T>;
  const Lanes<T> lanes(room);
  std::int64_t i = 0;
  for (; i + n <= k; i += n) {
    Vector rows[n];
#pragma GCC unroll 16
    for (int r = 0; r < n; ++r) rows[r] = load(from[r] + i);
    if (some < n)
      for (std::int64_t r = some; r < n; ++r) rows[r] = Vector{};
    transpose<T>(rows);
    T* to = out + i * width;
    if (room == n)
#pragma GCC unroll 16
      for (int r = 0; r < n; ++r) store(to + r * width, rows[r]);
    else
#pragma GCC unroll 16
      for (int r = 0; r < n; ++r) lanes.store(to + r * width, rows[r]);
  }
  return i;
}

// A panel of lines that lie side by side.
template <class T, class From>
void copy_rows(T* out, const std::byte* at, std::int64_t step, std::int64_t some, std::int64_t k,
               std::int64_t width) {
  using Vector = typename Register<T>::type;
  constexpr int n = kWidth<T>;
  const auto row = [&](std::int64_t i) { return reinterpret_cast<const From*>(at + i * step); };
  if (some == 2 * n && width == some) {
    for (std::int64_t i = 0; i < k; ++i, out += 2 * n) {
      store(out, load(row(i)));
      store(out + n, load(row(i) + n));
    }
    return;
  }
  for (std::int64_t w = 0; w < width; w += n) {
    const std::int64_t here = std::clamp<std::int64_t>(some - w, 0, n);
    const Lanes<T> in(here), lanes(std::min<std::int64_t>(n, width - w));
    for (std::int64_t i = 0; i < k; ++i)
      lanes.store(out + i * width + w, here > 0 ? load_some(in, row(i) + w, here) : Vector{});
  }
}

template <class T, class From>
void pack(void* to, const void* from, std::int64_t line, std::int64_t step, std::int64_t lines,
          std::int64_t k, std::int64_t width) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(From));
  auto* out = static_cast<T*>(to);
  const auto* at = static_cast<const std::byte*>(from);
  for (std::int64_t first = 0; first < lines; first += width, at += width * line) {
    const std::int64_t some = std::min(width, lines - first);
    if (line == item) {
      copy_rows<T, From>(out, at, step, some, k, width);
    } else {
      for (std::int64_t w = 0; w < width; w += kWidth<T>) {
        const std::int64_t room = std::min<std::int64_t>(kWidth<T>, width - w),
                           here = std::clamp<std::int64_t>(some - w, 0, room);
        const std::byte* p = at + w * line;
        std::int64_t i = 0;
        if (step == item && here > 0) {
          const From* from[kWidth<T>];
          for (int r = 0; r < kWidth<T>; ++r)
            from[r] = reinterpret_cast<const From*>(p + std::min<std::int64_t>(r, here - 1) * line);
          i = transpose_lines(out + w, from, here, room, k, width);
        }
        for (; i < k; ++i) {
          T* row = out + i * width + w;
          for (std::int64_t r = 0; r < here; ++r) row[r] = element<From>(p + i * step + r * line);
          for (std::int64_t r = here; r < room; ++r) row[r] = T{};
        }
      }
    }
    out += k * width;
  }
}

// How many of the offsets, from the first on, are those of elements side by side.
template <class From>
std::int64_t side_by_side(const std::int64_t* at, std::int64_t count) {
  std::int64_t run = 1;
  while (run < count && at[run] - at[run - 1] == static_cast<std::int64_t>(sizeof(From))) ++run;
  return run;
}

// Lines side by side to the first columns of `out`.
template <class T, class From>
void gather_run(T* out, const std::byte* from, const std::int64_t* sums_at, std::int64_t lines,
                std::int64_t k, std::int64_t width) {
  constexpr std::int64_t n = kWidth<T>;
  for (std::int64_t w = 0; w < lines; w += n) {
    const auto row = [&](std::int64_t i) {
      return reinterpret_cast<const From*>(from + sums_at[i]) + w;
    };
    T* to = out + w;
    if (lines - w >= n) {
      for (std::int64_t i = 0; i < k; ++i) store(to + i * width, load(row(i)));
      continue;
    }
    const Lanes<T> lanes(lines - w);
    for (std::int64_t i = 0; i < k; ++i)
      lanes.store(to + i * width, load_some(lanes, row(i), lines - w));
  }
}

// At most as many lines as lanes, that lie apart.
template <class T, class From>
void gather_lines(T* out, const std::byte* from, const std::int64_t* lines_at,
                  const std::int64_t* sums_at, std::int64_t lines, std::int64_t k,
                  std::int64_t width) {
  for (std::int64_t i = 0; i < k;) {
    const std::int64_t run = side_by_side<From>(sums_at + i, k - i);
    std::int64_t done = 0;
    if (run >= kWidth<T>) {
      const From* each[kWidth<T>];
      for (int r = 0; r < kWidth<T>; ++r)
        each[r] = reinterpret_cast<const From*>(from + sums_at[i] +
                                                lines_at[std::min<std::int64_t>(r, lines - 1)]);
      done = transpose_lines(out + i * width, each, lines, lines, run, width);
    }
    for (; done < run; ++done)
      for (std::int64_t r = 0; r < lines; ++r)
        out[(i + done) * width + r] = element<From>(from + sums_at[i + done] + lines_at[r]);
    i += run;
  }
}

template <class T, class From>
void gather(void* to, const void* from, const std::int64_t* lines_at, const std::int64_t* sums_at,
            std::int64_t lines, std::int64_t k, std::int64_t width) {
  constexpr std::int64_t kRun = 4;  // lines side by side that are worth a vector
  auto* out = static_cast<T*>(to);
  const auto* base = static_cast<const std::byte*>(from);
  for (std::int64_t first = 0; first < lines; first += width, out += k * width) {
    const std::int64_t some = std::min(width, lines - first);
    const std::int64_t* at = lines_at + first;
    for (std::int64_t l = 0; l < some;) {
      std::int64_t run = side_by_side<From>(at + l, some - l);
      if (run >= kRun) {
        gather_run<T, From>(out + l, base + at[l], sums_at, run, k, width);
      } else {
        const std::int64_t most = std::min<std::int64_t>(kWidth<T>, some - l);
        while (run < most && side_by_side<From>(at + l + run, most - run) < kRun) ++run;
        gather_lines<T, From>(out + l, base, at + l, sums_at, run, k, width);
      }
      l += run;
    }
    if (some < width)
      for (std::int64_t i = 0; i < k; ++i)
        std::fill(out + i * width + some, out + (i + 1) * width, T{});
  }
}

template <class T, class From = T>
constexpr Product kProduct{kRows,      kWidth<T>* kVectors, block<T>,
                           strided<T>, pack<T, From>,       gather<T, From>};

}  // namespace

const Product* product(DType t) {
  switch (t) {
    case DType::Float16:
      return &kProduct<float, Half>;
    case DType::Float32:
      return &kProduct<float>;
    case DType::Float64:
      return &kProduct<double>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
