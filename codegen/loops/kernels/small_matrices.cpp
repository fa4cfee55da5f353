// Matrices turned so that their lanes lie side by side: each operation on an element is one on a
// register, and rows change places where a mask says so.
#include "codegen/loops/small_matrices.hpp"

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

// Elements that lie side by side, in the order of memory.
template <class T>
PLAIT_INLINE void load_run(VectorOf<T>* to, std::byte* const* at, int count) {
  constexpr int w = kWidth<T>;
  int i = 0;
  for (; i + w <= count; i += w) {
    VectorOf<T> rows[w];
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) rows[l] = load(reinterpret_cast<const T*>(at[l]) + i);
    transpose<T>(rows);
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l) to[i + l] = rows[l];
  }
  for (; i < count; ++i)
#pragma GCC unroll 16
    for (int l = 0; l < w; ++l)
      __builtin_memcpy(reinterpret_cast<T*>(&to[i]) + l, at[l] + i * std::int64_t{sizeof(T)},
                       sizeof(T));
}
template <class T>
PLAIT_INLINE void store_run(const VectorOf<T>* from, std::byte* const* at, int count, int some) {
  constexpr int w = kWidth<T>;
  int i = 0;
  if (some == w)
    for (; i + w <= count; i += w) {
      VectorOf<T> rows[w];
#pragma GCC unroll 16
      for (int l = 0; l < w; ++l) rows[l] = from[i + l];
      transpose<T>(rows);
#pragma GCC unroll 16
      for (int l = 0; l < w; ++l) store(reinterpret_cast<T*>(at[l]) + i, rows[l]);
    }
  for (; i < count; ++i)
    for (int l = 0; l < some; ++l) reinterpret_cast<T*>(at[l])[i] = from[i][l];
}

template <class T>
PLAIT_INLINE bool by_rows(const MatrixGroup& g, int n) {
  constexpr std::int64_t item = sizeof(T);
  return g.column == item && g.row == n * item;
}

// Matrices (m, n), row by row.
template <class T>
void load_group(VectorOf<T>* to, const MatrixGroup& g, int m, int n) {
  if (by_rows<T>(g, n)) return load_run<T>(to, g.at, m * n);
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
void store_group(const VectorOf<T>* from, const MatrixGroup& g, int m, int n, int some) {
  if (by_rows<T>(g, n)) return store_run<T>(from, g.at, m * n, some);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < some; ++l)
        __builtin_memcpy(g.at[l] + i * g.row + j * g.column,
                         reinterpret_cast<const T*>(&from[i * n + j]) + l, sizeof(T));
}

template <class V>
PLAIT_INLINE V magnitude(V x) {
  return x < 0 ? -x : x;
}

// Lanes that are among the first `some`.
template <class T, class M>
PLAIT_INLINE bool any_of(M mask, int some) {
  bool found = false;
  for (int l = 0; l < some; ++l) found |= mask[l] != 0;
  return found;
}

// a (n, n) to the triangle U on and right of its diagonal, and b (n, k) to what it is times x.
// Returns the lanes in which a pivot is 0; `sign` changes with every two rows that change places.
template <class T, class N>
PLAIT_INLINE auto eliminate(VectorOf<T>* a, N n, VectorOf<T>* b, int k, VectorOf<T>& sign) {
  using V = VectorOf<T>;
  auto zero = V{} != V{};
  for (int c = 0; c < n; ++c) {
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
      for (int j = c; j < n; ++j) exchange(chosen, a[c * n + j], a[i * n + j]);
      for (int j = 0; j < k; ++j) exchange(chosen, b[c * k + j], b[i * k + j]);
    }
    const V pivot = a[c * n + c];
    zero |= pivot == V{};
    for (int i = c + 1; i < n; ++i) {
      const V factor = -(a[i * n + c] / pivot);
      for (int j = c + 1; j < n; ++j) a[i * n + j] = fma(factor, a[c * n + j], a[i * n + j]);
      for (int j = 0; j < k; ++j) b[i * k + j] = fma(factor, b[c * k + j], b[i * k + j]);
    }
  }
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
    return !any_of<T>(zero, some);
  });
}

template <class T>
bool invert(int rows, int some, const MatrixGroup& a, const MatrixGroup& x) {
  return with_rows(rows, [&](auto n) {
    VectorOf<T> matrix[kMostElements], sides[kMostElements], sign = splat(T(1));
    load_group<T>(matrix, a, n, n);
    for (int i = 0; i < n * n; ++i) sides[i] = splat(T(i % (n + 1) == 0 ? 1 : 0));
    const auto zero = eliminate<T>(matrix, n, sides, n, sign);
    substitute<T>(matrix, n, sides, n);
    store_group<T>(sides, x, n, n, some);
    return !any_of<T>(zero, some);
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
    return !any_of<T>(failed, some);
  });
}

template <class T>
constexpr SmallMatrices kFunctions{kWidth<T>, solve<T>, invert<T>, find_pivots<T>, cholesky<T>};

}  // namespace

const SmallMatrices* small_matrices(DType t) {
  return t == DType::Float64   ? &kFunctions<double>
         : t == DType::Float32 ? &kFunctions<float>
                               : nullptr;
}

}  // namespace plait::loops::PLAIT_TIER
