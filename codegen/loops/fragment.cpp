#include "fragment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/half.hpp"
#include "core/narrow.hpp"
#include "product.hpp"
#include "types.hpp"

namespace plait::loops {
namespace {

constexpr std::int64_t kPanelBytes = 128;
constexpr std::int64_t kPackedRows = 128;

template <class T>
constexpr DType type_of() {
  if constexpr (std::is_same_v<T, Half>)
    return DType::Float16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BFloat16;
  else
    return dtype_of<T>();
}

template <class T, class From>
T widened(From v) {
  if constexpr (std::is_same_v<From, Half>)
    return half_to_float(v.bits);
  else
    return static_cast<T>(v);
}
template <class T>
T multiply_add(T x, T y, T s) {
  if constexpr (std::is_integral_v<T>)
    return s + x * y;  // unsigned, so that it wraps
  else
    return std::fma(x, y, s);
}

template <class A, class B, class T>
void one_by_one(const Fragment& f) {
  const auto* a = static_cast<const A*>(f.a);
  const auto* b = static_cast<const B*>(f.b);
  auto* c = static_cast<T*>(f.c);
  for (std::int64_t i = 0; i < f.m; ++i)
    for (std::int64_t j = 0; j < f.n; ++j) {
      const A* row = a + i / f.a_width * f.a_stride + i % f.a_width;
      const B* column = b + j / f.b_width * f.b_stride + j % f.b_width;
      T s = 0;
      for (std::int64_t p = 0; p < f.k; ++p)
        s = multiply_add<T>(widened<T>(row[p * f.a_step]), widened<T>(column[p * f.b_step]), s);
      T& out = c[i * f.c_row + j];
      out = f.block == 0 ? s : out + s;
    }
}

// Both operands become panels, of rows as many as the stack may have at a time: tiles are fastest
// on them, and enough columns and rows share one.
template <class A, class B, class T>
void multiply_packed(const Fragment& f, const Product& p) {
  constexpr auto a_item = static_cast<std::int64_t>(sizeof(A)),
                 b_item = static_cast<std::int64_t>(sizeof(B));
  // The panels of all tiers have so many bytes at most.
  alignas(64) std::byte panel[(kProductDepth + 1) * kPanelBytes];
  alignas(64) std::byte rows[(kProductDepth + 1) * kPackedRows * sizeof(T)];
  const auto* a = static_cast<const A*>(f.a);
  const auto* b = static_cast<const B*>(f.b);
  auto* c = static_cast<T*>(f.c);
  const std::int64_t b_stride = f.b_width == 1 ? f.b_stride : 1;
  const std::int64_t most = kPackedRows / p.rows * p.rows;
  for (std::int64_t i = 0; i < f.m; i += most) {
    const std::int64_t m = std::min(most, f.m - i);
    p.a.pack(rows, a + i * f.a_stride, f.a_stride * a_item, f.a_step * a_item, m, f.k, p.rows);
    for (std::int64_t j = 0; j < f.n; j += p.columns) {
      const std::int64_t n = std::min(p.columns, f.n - j);
      p.b.pack(panel, b + j * b_stride, b_stride * b_item, f.b_step * b_item, n, f.k, p.columns);
      p.block(m, n, f.k, rows, panel, c + i * f.c_row + j, f.c_row, f.block != 0);
    }
  }
}

// Columns that lie as they lie become a panel after another.
template <class T>
void multiply_columns(const Fragment& f, const Product& p) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  // The panels of all tiers have so many bytes at most.
  alignas(64) std::byte panel[kProductDepth * kPanelBytes];
  const auto* b = static_cast<const T*>(f.b);
  auto* c = static_cast<T*>(f.c);
  for (std::int64_t j = 0; j < f.n; j += p.columns) {
    const std::int64_t n = std::min(p.columns, f.n - j);
    p.b.pack(panel, b + j * f.b_stride, f.b_stride * item, f.b_step * item, n, f.k, p.columns);
    p.strided({.m = f.m,
               .n = n,
               .k = f.k,
               .a = f.a,
               .a_row = f.a_stride,
               .a_column = f.a_step,
               .b = panel,
               .b_row = p.columns,
               .c = c + j,
               .c_row = f.c_row,
               .add = f.block != 0},
              true);
  }
}

template <class T>
void multiply_where_it_lies(const Fragment& f, const Product& p, bool packs) {
  const bool large = f.m >= 2 * p.rows && f.n >= 4 * p.columns && 2 * f.k >= kProductDepth;
  if (packs && large) return multiply_packed<T, T, T>(f, p);
  if (f.a_width == 1 && f.b_width == 1 && f.n > 1 && f.k <= kProductDepth)
    return multiply_columns<T>(f, p);
  const bool panels = f.b_width == p.columns && f.b_step == p.columns;
  if (f.a_width != 1 || f.k > kProductDepth || !(panels || f.n <= f.b_width))
    return one_by_one<T, T, T>(f);
  const auto* b = static_cast<const T*>(f.b);
  auto* c = static_cast<T*>(f.c);
  // Panels that do not follow each other at once are multiplied one at a time.
  const std::int64_t at_once = !panels || f.b_stride == f.k * p.columns ? f.n : p.columns;
  for (std::int64_t j = 0; j < f.n; j += at_once)
    p.strided({.m = f.m,
               .n = std::min(at_once, f.n - j),
               .k = f.k,
               .a = f.a,
               .a_row = f.a_stride,
               .a_column = f.a_step,
               .b = b + j / p.columns * f.b_stride,
               .b_row = f.b_step,
               .c = c + j,
               .c_row = f.c_row,
               .add = f.block != 0},
              panels);
}

template <class A, class B, class T>
void multiply(const Fragment* f, const Product& p) {
  const bool lies = f->b_width == 1 || f->n <= f->b_width;
  const bool packs = f->a_width == 1 && lies && f->k <= kProductDepth;
  if constexpr (!std::is_floating_point_v<T> || !std::is_same_v<A, T> || !std::is_same_v<B, T>)
    return packs ? multiply_packed<A, B, T>(*f, p) : one_by_one<A, B, T>(*f);
  else
    multiply_where_it_lies<T>(*f, p, packs);
}

template <class A, class B, class T, CpuTier kTier>
void at_tier(const Fragment* f) {
  static const Product& p = *product(type_of<A>(), type_of<B>(), kTier);
  multiply<A, B, T>(f, p);
}

template <class A, class B, class T>
FragmentFn of(CpuTier tier) {
  static constexpr auto of_tiers = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{&at_tier<A, B, T, kTiers[i]>...};
  }(std::make_index_sequence<kTiers.size()>());
  return of_tiers[static_cast<std::size_t>(tier)];
}

template <class A, class B, class T>
struct Row {
  static FragmentFn find(DType a, DType b, CpuTier tier) {
    return a == type_of<A>() && b == type_of<B>() ? of<A, B, T>(tier) : nullptr;
  }
};
template <class... Rows>
FragmentFn first_of(DType a, DType b, CpuTier tier) {
  FragmentFn found = nullptr;
  ((found = found ? found : Rows::find(a, b, tier)), ...);
  return found;
}

}  // namespace

FragmentFn fragment(DType a, DType b, CpuTier tier) {
  using std::int16_t, std::int32_t, std::int64_t, std::int8_t;
  using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
  return first_of<Row<Half, Half, float>, Row<Half, float, float>, Row<float, Half, float>,
                  Row<BFloat16, BFloat16, float>, Row<BFloat16, float, float>,
                  Row<float, BFloat16, float>, Row<float, float, float>,
                  Row<double, double, double>, Row<int8_t, int8_t, uint32_t>,
                  Row<int8_t, uint8_t, uint32_t>, Row<uint8_t, int8_t, uint32_t>,
                  Row<uint8_t, uint8_t, uint32_t>, Row<int16_t, int16_t, uint32_t>,
                  Row<uint16_t, uint16_t, uint32_t>, Row<int32_t, int32_t, uint32_t>,
                  Row<uint32_t, uint32_t, uint32_t>, Row<int64_t, int64_t, uint64_t>,
                  Row<uint64_t, uint64_t, uint64_t>>(a, b, tier);
}

}  // namespace plait::loops
