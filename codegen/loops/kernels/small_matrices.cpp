// Matrices turned so that their lanes lie side by side: each operation on an element is one on a
// register, and rows change places where a mask says so.
#include "codegen/loops/small_matrices.hpp"

#include <algorithm>
#include <limits>

#include "codegen/loops/panels.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
using VectorOf = typename Register<T>::type;

constexpr int kMostElements = static_cast<int>(kSmallMatrix * kSmallMatrix);

// f(n), a constant for the most frequent numbers of rows: their loops are unrolled.
template <class F>
PLAIT_INLINE auto with_rows(int n, F&& f) {
  switch (n) {
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(n);
  }
}

// Elements that lie side by side, in the order of memory. The last register of them overlaps the
// one before it.
template <class T>
PLAIT_INLINE void load_run(VectorOf<T>* to, std::byte* const* at, int count) {
  constexpr int w = kWidth<T>;
  if (count < w) {
    for (int i = 0; i < count; ++i)
#pragma GCC unroll 16
      for (int l = 0; l < w; ++l) to[i][l] = reinterpret_cast<const T*>(at[l])[i];
    return;
  }
  for (int next = 0; next < count; next += w) {
    const int i = std::min(next, count - w);
    VectorOf<T> rows[w];
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) rows[l] = load(reinterpret_cast<const T*>(at[l]) + i);
    transpose<T>(rows);
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) to[i + l] = rows[l];
  }
}
template <class T>
PLAIT_INLINE void store_run(const VectorOf<T>* from, std::byte* const* at, int count, int some) {
  constexpr int w = kWidth<T>;
  if (count < w || some < w) {
    for (int i = 0; i < count; ++i)
      for (int l = 0; l < some; ++l) reinterpret_cast<T*>(at[l])[i] = from[i][l];
    return;
  }
  for (int next = 0; next < count; next += w) {
    const int i = std::min(next, count - w);
    VectorOf<T> rows[w];
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) rows[l] = from[i + l];
    transpose<T>(rows);
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) store(reinterpret_cast<T*>(at[l]) + i, rows[l]);
  }
}

template <class T>
PLAIT_INLINE bool by_rows(const MatrixGroup& g, int n) {
  constexpr std::int64_t item = sizeof(T);
  return g.column == item && g.row == n * item;
}

template <class T>
__attribute__((noinline)) void load_apart(VectorOf<T>* to, const MatrixGroup& g, int m, int n) {
  if (by_rows<T>({g.at, g.column, g.row}, m)) {
    VectorOf<T> turned[kMostElements];
    load_run<T>(turned, g.at, m * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) to[i * n + j] = turned[j * m + i];
    return;
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
#pragma GCC unroll 16
      for (int l = 0; l < kWidth<T>; ++l)
        __builtin_memcpy(reinterpret_cast<T*>(&to[i * n + j]) + l,
                         g.at[l] + i * g.row + j * g.column, sizeof(T));
}
template <class T>
__attribute__((noinline)) void store_apart(const VectorOf<T>* from, const MatrixGroup& g, int m,
                                           int n, int some) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < some; ++l)
        __builtin_memcpy(g.at[l] + i * g.row + j * g.column,
                         reinterpret_cast<const T*>(&from[i * n + j]) + l, sizeof(T));
}
// Matrices (m, n), row by row.
template <class T, class M, class N>
PLAIT_INLINE void load_group(VectorOf<T>* to, const MatrixGroup& g, M m, N n) {
  by_rows<T>(g, n) ? load_run<T>(to, g.at, m * n) : load_apart<T>(to, g, m, n);
}
template <class T, class M, class N>
PLAIT_INLINE void store_group(const VectorOf<T>* from, const MatrixGroup& g, M m, N n, int some) {
  by_rows<T>(g, n) ? store_run<T>(from, g.at, m * n, some) : store_apart<T>(from, g, m, n, some);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, vi, vl>;

template <class V>
PLAIT_INLINE V magnitude(V x) {
  using I = std::conditional_t<sizeof(x[0]) == 4, int, long long>;
  typedef I Each __attribute__((vector_size(sizeof(V))));
  return (V)((Each)x & std::numeric_limits<I>::max());
}

// a (n, n) to the triangle U on and right of its diagonal and L left of it, and b (n, k) to what U
// is times x. Returns the lanes in which a pivot is 0; `sign` changes with every two rows that
// change places. Column by column, of sums that are rounded at each product, as OpenBLAS has it:
// which singular matrices have a pivot of 0 is a matter of rounding, and so it is the same that
// NumPy finds, up to 4 rows at least.
template <class T, class N>
PLAIT_INLINE auto eliminate(VectorOf<T>* a, N n, VectorOf<T>* b, int k, VectorOf<T>& sign) {
  using V = VectorOf<T>;
  auto zero = V{} != V{};
  for (int c = 0; c < n; ++c) {
    for (int i = 1; i < n && c > 0; ++i) {
      V sum = a[i * n] * a[c];
      for (int t = 1; t < std::min(i, c); ++t) sum += a[i * n + t] * a[t * n + c];
      a[i * n + c] -= sum;
    }
    V best = magnitude(a[c * n + c]), at = splat(static_cast<T>(c));
    for (int i = c + 1; i < n; ++i) {
      const V x = magnitude(a[i * n + c]);
      const auto better = x > best;
      best = better ? x : best;
      at = better ? splat(static_cast<T>(i)) : at;
    }
    sign = at != splat(static_cast<T>(c)) ? -sign : sign;
    const auto exchange = [](auto mask, V& x, V& y) {
      const V first = x;
      x = mask ? y : first;
      y = mask ? first : y;
    };
    for (int i = c + 1; i < n; ++i) {
      const auto chosen = at == splat(static_cast<T>(i));
      for (int j = 0; j < n; ++j) exchange(chosen, a[c * n + j], a[i * n + j]);
      for (int j = 0; j < k; ++j) exchange(chosen, b[c * k + j], b[i * k + j]);
    }
    const V pivot = a[c * n + c], inverse = 1 / pivot;
    zero |= pivot == V{};
    const auto tiny = magnitude(pivot) < splat(std::numeric_limits<T>::min());
    for (int i = c + 1; i < n; ++i) {
      V& x = a[i * n + c];
      const V of_tiny = any((Bits<T>)tiny) ? x / pivot : x;
      x = tiny ? of_tiny : x * inverse;
    }
  }
  for (int i = 1; i < n; ++i)
    for (int t = 0; t < i; ++t)
      for (int j = 0; j < k; ++j) b[i * k + j] = fma(-a[i * n + t], b[t * k + j], b[i * k + j]);
  return zero;
}

// b (n, k) to x of u x = b
template <class T, class N>
PLAIT_INLINE void substitute(const VectorOf<T>* u, N n, VectorOf<T>* b, int k) {
  for (int i = n - 1; i >= 0; --i) {
    const VectorOf<T> inverse = 1 / u[i * n + i];
    for (int j = 0; j < k; ++j) {
      VectorOf<T> x = b[i * k + j];
      for (int t = i + 1; t < n; ++t) x = fma(-u[i * n + t], b[t * k + j], x);
      b[i * k + j] = x * inverse;
    }
  }
}

// a b - c d, where it cancels too: what the second product is rounded by is added again.
template <class V>
PLAIT_INLINE V difference(V a, V b, V c, V d) {
  const V w = c * d;
  return fma(a, b, -w) + fma(-c, d, w);
}

// The determinant of a (n, n), n from 2 to 4, by cofactors, which choose no pivots; and the inverse
// `x`, if it is asked for. Minors of two rows are exact to a rounding or two, so a determinant is
// as inexact as the sum of them cancels. Returns the lanes in which that leaves all but a few bits,
// and nothing is near the ends of the range: others are for `eliminate`. No zero is negative.
template <class T, int n>
PLAIT_INLINE auto by_cofactors(const VectorOf<T>* a, VectorOf<T>& det, VectorOf<T>* x) {
  using V = VectorOf<T>;
  constexpr T kCancels = T(1) / 512, kMost = sizeof(T) == 8 ? T(0x1p250) : T(0x1p30),
              kLeast = sizeof(T) == 8 ? T(0x1p-400) : T(0x1p-50);
  V largest{}, terms{};
#pragma GCC unroll 16
  for (int i = 0; i < n * n; ++i) {
    const V v = magnitude(a[i]);
    largest = v > largest ? v : largest;
  }
  det = V{};
  const auto add = [&](V u, V v) {
    det = fma(u, v, det);
    terms = fma(magnitude(u), magnitude(v), terms);
  };
  if constexpr (n == 2) {
    det = difference(a[0], a[3], a[1], a[2]);
    terms = fma(magnitude(a[0]), magnitude(a[3]), magnitude(a[1] * a[2]));
    const V inverse = 1 / det;
    if (x)
#pragma GCC unroll 16
      for (int i = 0; i < 4; ++i) x[i] = fma(i % 3 == 0 ? a[3 - i] : -a[i], inverse, V{});
  } else if constexpr (n == 3) {
    const auto cofactor = [&](int i, int j) {
      const V *p = a + (i + 1) % 3 * 3, *q = a + (i + 2) % 3 * 3;
      const int c = (j + 1) % 3, d = (j + 2) % 3;
      return difference(p[c], q[d], p[d], q[c]);
    };
    const V first[] = {cofactor(0, 0), cofactor(0, 1), cofactor(0, 2)};
#pragma GCC unroll 16
    for (int j = 0; j < 3; ++j) add(a[j], first[j]);
    const V inverse = 1 / det;
    if (x)
#pragma GCC unroll 16
      for (int i = 0; i < 3; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < 3; ++j)
          x[i * 3 + j] = fma(j == 0 ? first[i] : cofactor(j, i), inverse, V{});
  } else {
    V upper[6], lower[6];  // minors, by their columns: 01, 02, 03, 12, 13, 23
#pragma GCC unroll 16
    for (int c = 0, at = 0; c < 4; ++c)
#pragma GCC unroll 16
      for (int d = c + 1; d < 4; ++d, ++at) {
        upper[at] = difference(a[c], a[4 + d], a[4 + c], a[d]);
        lower[at] = difference(a[8 + c], a[12 + d], a[12 + c], a[8 + d]);
      }
#pragma GCC unroll 16
    for (int i = 0; i < 6; ++i) add(i == 1 || i == 4 ? -upper[i] : upper[i], lower[5 - i]);
    const V inverse = 1 / det;
    constexpr int kColumns[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}},
                  kMinors[4][3] = {{5, 4, 3}, {5, 2, 1}, {4, 2, 0}, {3, 1, 0}};
    if (x)
#pragma GCC unroll 16
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < 4; ++j) {
          const V *row = a + (j ^ 1) * 4, *minors = j < 2 ? lower : upper;
          const auto term = [&](int t) { return row[kColumns[i][t]] * minors[kMinors[i][t]]; };
          const V c = fma(row[kColumns[i][2]], minors[kMinors[i][2]], term(0) - term(1));
          x[i * 4 + j] = fma(c, (i + j) % 2 == 0 ? inverse : -inverse, V{});
        }
  }
  return (magnitude(det) >= splat(kCancels) * terms) & (terms >= splat(kLeast)) &
         (largest <= splat(kMost));
}

// Whether cofactors are for so many rows.
template <class N>
constexpr bool kByCofactors = !std::is_same_v<N, int>;

template <class T>
bool solve(int rows, int k, int some, const MatrixGroup& a, const MatrixGroup& b,
           const MatrixGroup& x) {
  return with_rows(rows, [&](auto n) {
    VectorOf<T> matrix[kMostElements], sides[kMostElements], sign = splat(T(1));
    load_group<T>(matrix, a, n, n);
    load_group<T>(sides, b, n, k);
    const auto zero = eliminate<T>(matrix, n, sides, k, sign);
    substitute<T>(matrix, n, sides, k);
    store_group<T>(sides, x, n, k, some);
    return !any((Bits<T>)zero);
  });
}

template <class T>
bool invert(int rows, int some, const MatrixGroup& a, const MatrixGroup& x) {
  return with_rows(rows, [&]<class N>(N n) {
    using V = VectorOf<T>;
    V matrix[kMostElements], sides[kMostElements], sign = splat(T(1));
    load_group<T>(matrix, a, n, n);
    auto todo = V{} == V{};
    V direct[kMostElements], det;
    if constexpr (kByCofactors<N>) {
      todo = ~by_cofactors<T, N::value>(matrix, det, direct);
      if (!any((Bits<T>)todo)) {
        store_group<T>(direct, x, n, n, some);
        return true;
      }
    }
    for (int i = 0; i < n * n; ++i) sides[i] = splat(T(i % (n + 1) == 0 ? 1 : 0));
    const auto zero = eliminate<T>(matrix, n, sides, n, sign);
    substitute<T>(matrix, n, sides, n);
    if constexpr (kByCofactors<N>)
      for (int i = 0; i < n * n; ++i) sides[i] = todo ? sides[i] : direct[i];
    store_group<T>(sides, x, n, n, some);
    return !any((Bits<T>)(zero & todo));
  });
}

template <class T>
void find_pivots(int rows, const MatrixGroup& a, void* pivots, void* signs) {
  with_rows(rows, [&](auto n) {
    VectorOf<T> matrix[kMostElements], sign = splat(T(1));
    load_group<T>(matrix, a, n, n);
    eliminate<T>(matrix, n, nullptr, 0, sign);
    for (int i = 0; i < n; ++i) store(static_cast<T*>(pivots) + i * kWidth<T>, matrix[i * n + i]);
    store(static_cast<T*>(signs), sign);
  });
}

template <class T>
void determinants(int rows, const MatrixGroup& a, void* values) {
  with_rows(rows, [&]<class N>(N n) {
    using V = VectorOf<T>;
    V matrix[kMostElements], det{}, product = splat(T(1));
    load_group<T>(matrix, a, n, n);
    auto todo = V{} == V{};
    if constexpr (kByCofactors<N>) todo = ~by_cofactors<T, N::value>(matrix, det, nullptr);
    if (any((Bits<T>)todo)) {
      eliminate<T>(matrix, n, nullptr, 0, product);
      for (int i = 0; i < n; ++i) {
        product *= matrix[i * n + i];
        const V m = magnitude(product);
        product = (m >= splat(std::numeric_limits<T>::min())) &
                          (m <= splat(std::numeric_limits<T>::max()))
                      ? product
                      : V{};
      }
      det = todo ? product : det;
    }
    store(static_cast<T*>(values), det);
  });
}

template <class T>
bool cholesky(int rows, int some, const MatrixGroup& a, const MatrixGroup& x) {
  return with_rows(rows, [&](auto n) {
    using V = VectorOf<T>;
    V l[kMostElements];
    load_group<T>(l, a, n, n);
    auto failed = V{} != V{};
    for (int j = 0; j < n; ++j) {
      V square = l[j * n + j];
      for (int t = 0; t < j; ++t) square = fma(-l[j * n + t], l[j * n + t], square);
      failed |= square <= V{};
      const V root = sqrt(square);
      l[j * n + j] = root;
      for (int i = j + 1; i < n; ++i) {
        V s = l[i * n + j];
        for (int t = 0; t < j; ++t) s = fma(-l[i * n + t], l[j * n + t], s);
        l[i * n + j] = s / root;
        l[j * n + i] = V{};
      }
    }
    store_group<T>(l, x, n, n, some);
    return !any((Bits<T>)failed);
  });
}

template <class T>
constexpr SmallMatrices kFunctions{kWidth<T>,      solve<T>,        invert<T>,
                                   find_pivots<T>, determinants<T>, cholesky<T>};

}  // namespace

const SmallMatrices* small_matrices(DType t) {
  return t == DType::Float64   ? &kFunctions<double>
         : t == DType::Float32 ? &kFunctions<float>
                               : nullptr;
}

}  // namespace plait::loops::PLAIT_TIER
