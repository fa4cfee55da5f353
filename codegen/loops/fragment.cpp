#include "fragment.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/half.hpp"
#include "product.hpp"

namespace plait::loops {
namespace {

constexpr std::int64_t kPanelBytes = 128;
constexpr std::int64_t kPackedRows = 128;

float widened(Half h) { return half_to_float(h.bits); }
template <class T>
T widened(T v) {
  return v;
}

template <class In, class T>
void one_by_one(const Fragment& f) {
  const auto *a = static_cast<const In*>(f.a), *b = static_cast<const In*>(f.b);
  auto* c = static_cast<T*>(f.c);
  for (std::int64_t i = 0; i < f.m; ++i)
    for (std::int64_t j = 0; j < f.n; ++j) {
      const In* row = a + i / f.a_width * f.a_stride + i % f.a_width;
      const In* column = b + j / f.b_width * f.b_stride + j % f.b_width;
      T s = 0;
      for (std::int64_t p = 0; p < f.k; ++p)
        s = std::fma(widened(row[p * f.a_step]), widened(column[p * f.b_step]), s);
      T& out = c[i * f.c_row + j];
      out = f.block == 0 ? s : out + s;
    }
}

// Both operands become panels, of rows as many as the stack may have at a time: tiles are fastest
// on them, and enough columns and rows share one.
template <class In, class T>
void multiply_packed(const Fragment& f, const Product& p) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(In));
  // The panels of all tiers have so many bytes at most.
  alignas(64) std::byte panel[kProductDepth * kPanelBytes];
  alignas(64) std::byte rows[kProductDepth * kPackedRows * sizeof(T)];
  const auto *a = static_cast<const In*>(f.a), *b = static_cast<const In*>(f.b);
  auto* c = static_cast<T*>(f.c);
  const std::int64_t b_stride = f.b_width == 1 ? f.b_stride : 1;
  const std::int64_t most = kPackedRows / p.rows * p.rows;
  for (std::int64_t i = 0; i < f.m; i += most) {
    const std::int64_t m = std::min(most, f.m - i);
    p.pack(rows, a + i * f.a_stride, f.a_stride * item, f.a_step * item, m, f.k, p.rows);
    for (std::int64_t j = 0; j < f.n; j += p.columns) {
      const std::int64_t n = std::min(p.columns, f.n - j);
      p.pack(panel, b + j * b_stride, b_stride * item, f.b_step * item, n, f.k, p.columns);
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
    p.pack(panel, b + j * f.b_stride, f.b_stride * item, f.b_step * item, n, f.k, p.columns);
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

template <class In, class T>
void multiply(const Fragment* f, const Product& p) {
  const bool lies = f->b_width == 1 || f->n <= f->b_width;
  const bool packs = f->a_width == 1 && lies && f->k <= kProductDepth;
  if constexpr (!std::is_same_v<In, T>) {
    if (packs) return multiply_packed<In, T>(*f, p);
    return one_by_one<In, T>(*f);
  }
  const bool large = f->m >= 2 * p.rows && f->n >= 4 * p.columns && 2 * f->k >= kProductDepth;
  if (packs && large) return multiply_packed<T, T>(*f, p);
  if (f->a_width == 1 && f->b_width == 1 && f->n > 1 && f->k <= kProductDepth)
    return multiply_columns<T>(*f, p);
  const bool panels = f->b_width == p.columns && f->b_step == p.columns;
  if (f->a_width != 1 || f->k > kProductDepth || !(panels || f->n <= f->b_width))
    return one_by_one<T, T>(*f);
  const auto* b = static_cast<const T*>(f->b);
  auto* c = static_cast<T*>(f->c);
  // Panels that do not follow each other at once are multiplied one at a time.
  const std::int64_t at_once = !panels || f->b_stride == f->k * p.columns ? f->n : p.columns;
  for (std::int64_t j = 0; j < f->n; j += at_once)
    p.strided({.m = f->m,
               .n = std::min(at_once, f->n - j),
               .k = f->k,
               .a = f->a,
               .a_row = f->a_stride,
               .a_column = f->a_step,
               .b = b + j / p.columns * f->b_stride,
               .b_row = f->b_step,
               .c = c + j,
               .c_row = f->c_row,
               .add = f->block != 0},
              panels);
}

template <DType kOperands, class In, class T, CpuTier kTier>
void at_tier(const Fragment* f) {
  static const Product& p = *product(kOperands, kTier);
  multiply<In, T>(f, p);
}

template <DType kOperands, class In, class T>
FragmentFn of(CpuTier tier) {
  switch (tier) {
    case CpuTier::Avx512:
      return at_tier<kOperands, In, T, CpuTier::Avx512>;
    case CpuTier::Avx2:
      return at_tier<kOperands, In, T, CpuTier::Avx2>;
    default:
      return at_tier<kOperands, In, T, CpuTier::Baseline>;
  }
}

}  // namespace

FragmentFn fragment(DType operands, CpuTier tier) {
  switch (operands) {
    case DType::Float16:
      return of<DType::Float16, Half, float>(tier);
    case DType::Float32:
      return of<DType::Float32, float, float>(tier);
    case DType::Float64:
      return of<DType::Float64, double, double>(tier);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops
