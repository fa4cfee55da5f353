// Products of lines and a vector: along the sums where they are contiguous, else along the lines.
#include "codegen/loops/vector_product.hpp"

#include <algorithm>
#include <type_traits>

#include "codegen/loops/panels.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

constexpr std::int64_t kNear = 2048;  // bytes of sums that stay in the first cache beside lines

template <class T>
T at(const std::byte* p, std::int64_t offset) {
  T v;
  std::memcpy(&v, p + offset, sizeof v);
  return v;
}

// Numbers that wrap, as unsigned ones, and Bool.
template <class T>
struct Wrapping {
  using Element = T;
  static T add(T sum, T x, T y) {
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, T>;
    return static_cast<T>(sum + static_cast<Wide>(x) * y);
  }
};
struct Any {
  using Element = std::uint8_t;
  static Element add(Element sum, Element x, Element y) {
    return static_cast<Element>(sum | (x & y));
  }
};

// Elements that lie apart: making vectors of them takes longer than multiplying them one by one.
template <class By>
[[gnu::optimize("no-tree-vectorize")]] auto dot_apart(const VectorProduct& p, const std::byte* a) {
  using T = typename By::Element;
  T sum{};
  const std::byte* x = p.x;
  for (std::int64_t k = 0; k < p.k; ++k, a += p.step, x += p.x_step) {
    sum = By::add(sum, at<T>(a, 0), at<T>(x, 0));
    if (std::is_same_v<By, Any> && sum != 0) break;
  }
  return sum;
}

template <class By>
auto dot(const VectorProduct& p, const std::byte* a) {
  using T = typename By::Element;
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  if (p.step != item || p.x_step != item) return dot_apart<By>(p, a);
  constexpr std::int64_t kBlock = 4096;  // of Bool, after which more may not be needed
  T sum{};
  for (std::int64_t from = 0; from < p.k; from += kBlock) {
    const std::byte *u = a + from * item, *v = p.x + from * item;
    const std::int64_t some = std::min(kBlock, p.k - from);
    for (std::int64_t k = 0; k < some; ++k)
      sum = By::add(sum, at<T>(u, k * item), at<T>(v, k * item));
    if (std::is_same_v<By, Any> && sum != 0) break;
  }
  return sum;
}

template <class By>
void multiply(const VectorProduct& p) {
  using T = typename By::Element;
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  auto* out = reinterpret_cast<T*>(p.out);
  if (p.lines > 1 && p.line == item && p.step != item) {
    constexpr std::int64_t kBlock = kNear / item;
    for (std::int64_t l = 0; l < p.lines; l += kBlock) {
      const std::int64_t some = std::min(kBlock, p.lines - l);
      T sums[kBlock] = {};
      if (p.add) std::copy_n(out + l, some, sums);
      for (std::int64_t k = 0; k < p.k; ++k) {
        const T x = at<T>(p.x, k * p.x_step);
        const std::byte* row = p.a + l * item + k * p.step;
        for (std::int64_t i = 0; i < some; ++i) sums[i] = By::add(sums[i], at<T>(row, i * item), x);
      }
      std::copy_n(sums, some, out + l);
    }
    return;
  }
  constexpr T kOne = 1;
  for (std::int64_t l = 0; l < p.lines; ++l) {
    const T sum = dot<By>(p, p.a + l * p.line);
    out[l] = p.add ? By::add(sum, out[l], kOne) : sum;
  }
}

// Halves: their products are exact in Float32, so that adding them is the chain of fused
// multiply-adds. Lanes are chains of their own.

constexpr int kChains = kFloatLanes;

// One block of each lane's chain; k contiguous elements of `a` and `x`, or of x[0] for all.
template <bool kShared>
vf chains(const Half* const (&a)[kChains], const Half* const (&x)[kChains], std::int64_t k) {
  vf sum{};
  const std::int64_t whole = k / kChains * kChains;
  for (std::int64_t i = 0; i < whole; i += kChains) {
    vf rows[kChains];
#pragma GCC unroll 16
    for (int r = 0; r < kChains; ++r) {
      rows[r] = load(a[r] + i);
      if constexpr (!kShared) rows[r] = rows[r] * load(x[r] + i);
    }
    transpose<float>(rows);
    if constexpr (kShared) {
      const vf y = load(x[0] + i);
#pragma GCC unroll 16
      for (int r = 0; r < kChains; ++r) sum = sum + rows[r] * splat(y[r]);
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < kChains; ++r) sum = sum + rows[r];
    }
  }
  for (std::int64_t i = whole; i < k; ++i) {
    vf u{}, y{};
    for (int r = 0; r < kChains; ++r) {
      u[r] = half_to_float(a[r][i].bits);
      y[r] = half_to_float(x[kShared ? 0 : r][i].bits);
    }
    sum = sum + u * y;
  }
  return sum;
}

float chain(const Half* a, const Half* x, std::int64_t k) {
  float sum = 0;
  const std::int64_t whole = k / kChains * kChains;
  for (std::int64_t i = 0; i < whole; i += kChains) {
    const vf products = load(a + i) * load(x + i);
#pragma GCC unroll 16
    for (int r = 0; r < kChains; ++r) sum += products[r];
  }
  for (std::int64_t i = whole; i < k; ++i)
    sum += half_to_float(a[i].bits) * half_to_float(x[i].bits);
  return sum;
}

// The sums of blocks, from the first on.
template <class Sum>
void put(Sum& out, Sum block, bool add) {
  out = add ? out + block : block;
}

void halves_of_line(const Half* a, const Half* x, std::int64_t k, float& out, bool add) {
  const std::int64_t blocks = k / kProductDepth;
  for (std::int64_t b = 0; b < blocks; b += kChains) {
    const std::int64_t some = std::min<std::int64_t>(kChains, blocks - b);
    if (some == 1) {
      put(out, chain(a + b * kProductDepth, x + b * kProductDepth, kProductDepth), add || b > 0);
      continue;
    }
    const Half *u[kChains], *v[kChains];
    for (int r = 0; r < kChains; ++r) {
      const std::int64_t from = (b + std::min<std::int64_t>(r, some - 1)) * kProductDepth;
      u[r] = a + from;
      v[r] = x + from;
    }
    const vf sums = chains<false>(u, v, kProductDepth);
    for (int r = 0; r < some; ++r) put(out, sums[r], add || b + r > 0);
  }
  if (const std::int64_t rest = k % kProductDepth) {
    const std::int64_t from = k - rest;
    put(out, chain(a + from, x + from, rest), add || from > 0);
  }
}

void halves_of_lines(const VectorProduct& p, std::int64_t first, std::int64_t some) {
  const auto* x = reinterpret_cast<const Half*>(p.x);
  auto* out = reinterpret_cast<float*>(p.out) + first;
  vf sums{};
  if (p.add)
    for (int r = 0; r < some; ++r) sums[r] = out[r];
  for (std::int64_t from = 0; from < p.k; from += kProductDepth) {
    const Half *u[kChains], *v[kChains] = {x + from};
    for (int r = 0; r < kChains; ++r)
      u[r] = reinterpret_cast<const Half*>(p.a +
                                           (first + std::min<std::int64_t>(r, some - 1)) * p.line) +
             from;
    put(sums, chains<true>(u, v, std::min(kProductDepth, p.k - from)), p.add || from > 0);
  }
  for (int r = 0; r < some; ++r) out[r] = sums[r];
}

// Lines side by side.
void halves_of_columns(const VectorProduct& p) {
  constexpr std::int64_t kBlock = kNear / static_cast<std::int64_t>(sizeof(float));
  auto* out = reinterpret_cast<float*>(p.out);
  for (std::int64_t l = 0; l < p.lines; l += kBlock) {
    const std::int64_t some = std::min(kBlock, p.lines - l);
    for (std::int64_t from = 0; from < p.k; from += kProductDepth) {
      float sums[kBlock] = {};
      for (std::int64_t k = from; k < std::min(p.k, from + kProductDepth); ++k) {
        const float x = half_to_float(at<Half>(p.x, k * p.x_step).bits);
        const auto* row = reinterpret_cast<const Half*>(p.a + k * p.step) + l;
        std::int64_t i = 0;
        for (; i + kChains <= some; i += kChains)
          store(sums + i, load(sums + i) + load(row + i) * splat(x));
        for (; i < some; ++i) sums[i] += half_to_float(row[i].bits) * x;
      }
      for (std::int64_t i = 0; i < some; ++i) put(out[l + i], sums[i], p.add || from > 0);
    }
  }
}

void multiply_halves(const VectorProduct& p) {
  constexpr std::int64_t item = sizeof(Half);
  auto* out = reinterpret_cast<float*>(p.out);
  if (p.lines > 1 && p.line == item && p.step != item) return halves_of_columns(p);
  std::int64_t l = 0;
  if (p.step == item && p.x_step == item) {
    // Lanes are blocks of one line, or lines: whatever there are more of.
    if (p.lines > 1 && p.lines > p.k / kProductDepth)
      for (; l < p.lines; l += kChains)
        halves_of_lines(p, l, std::min<std::int64_t>(kChains, p.lines - l));
    for (; l < p.lines; ++l)
      halves_of_line(reinterpret_cast<const Half*>(p.a + l * p.line),
                     reinterpret_cast<const Half*>(p.x), p.k, out[l], p.add);
    return;
  }
  for (; l < p.lines; ++l)
    for (std::int64_t from = 0; from < p.k; from += kProductDepth) {
      float sum = 0;
      for (std::int64_t k = from; k < std::min(p.k, from + kProductDepth); ++k)
        sum += half_to_float(at<Half>(p.a, l * p.line + k * p.step).bits) *
               half_to_float(at<Half>(p.x, k * p.x_step).bits);
      put(out[l], sum, p.add || from > 0);
    }
}

}  // namespace

VectorProductFn vector_product(DType t) {
  switch (t) {
    case DType::Bool:
      return multiply<Any>;
    case DType::Int8:
    case DType::UInt8:
      return multiply<Wrapping<std::uint8_t>>;
    case DType::Int16:
    case DType::UInt16:
      return multiply<Wrapping<std::uint16_t>>;
    case DType::Int32:
    case DType::UInt32:
      return multiply<Wrapping<std::uint32_t>>;
    case DType::Int64:
    case DType::UInt64:
      return multiply<Wrapping<std::uint64_t>>;
    case DType::Float16:
      return multiply_halves;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
