// Panels that AMX multiplies: tiles of 16 lines of 64 bytes along k. A has its lines one after
// another, B words of four bytes along k, each of all lines; both stand in pairs, 32 lines a panel.
// One instruction multiplies two of them, with sums of its own order: float32's of the even and of
// the odd elements of 32 along k, each a chain of fused multiply-adds, added, and then added to
// what was there. Subnormal numbers count as zero. The processor has them, or amx() says no.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "codegen/loops/tiles.hpp"
#include "core/fragments.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

constexpr const FragmentShape& kBrainShape =
    *fragment_shape(FragmentUnit::Tiles, DType::BFloat16, DType::BFloat16);
constexpr const FragmentShape& kByteShape =
    *fragment_shape(FragmentUnit::Tiles, DType::Int8, DType::Int8);
constexpr std::int64_t kTileLines = kByteShape.m, kTileBytes = kByteShape.k,
                       kTile = kTileLines * kTileBytes;
static_assert(kBrainShape.m == kTileLines && kBrainShape.k * 2 == kTileBytes);

struct BrainTiles {
  using Packed = BrainTiles;
  using Element = std::uint16_t;
  static constexpr std::int64_t kGroup = kBrainShape.k;
  template <int kC, int kA, int kB>
  PLAIT_INLINE static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};
struct Bytes {
  using Element = std::uint8_t;
  static constexpr std::int64_t kGroup = kByteShape.k;
};
template <class A, class B>
struct ByteTiles : Bytes {
  using Packed = Bytes;  // the same, whatever has a sign
  template <int kC, int kA, int kB>
  PLAIT_INLINE static void multiply() {
    if constexpr (std::is_signed_v<A> && std::is_signed_v<B>)
      asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
    else if constexpr (std::is_signed_v<A>)
      asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
    else if constexpr (std::is_signed_v<B>)
      asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
    else
      asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

// The tile registers, while it lives: sums in 0 to 3, two rows of two; A in 4 and 5, B in 6 and 7.
// Nothing else in the process touches them.
class TileRegisters {
 public:
  TileRegisters() = default;
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
  // Without this each switch to another thread would save them.
  ~TileRegisters() { asm volatile("tilerelease"); }

  // For so many rows of A and columns of B, 32 at most.
  void shape(std::int64_t rows, std::int64_t columns) {
    if (rows == rows_ && columns == columns_) return;
    rows_ = rows;
    columns_ = columns;
    Shapes s{};
    for (int i = 0; i < 2; ++i) {
      const auto high = part(rows, i);
      const auto wide = static_cast<std::uint16_t>(4 * part(columns, i));
      for (int j = 0; j < 2; ++j)
        s.set(2 * i + j, high, static_cast<std::uint16_t>(4 * part(columns, j)));
      s.set(4 + i, high, kTileBytes);
      s.set(6 + i, kTileLines, wide);
    }
    asm volatile("ldtilecfg %0" ::"m"(s));
  }

 private:
  static std::uint8_t part(std::int64_t lines, std::int64_t i) {
    return static_cast<std::uint8_t>(
        std::clamp<std::int64_t>(lines - i * kTileLines, 0, kTileLines));
  }
  struct Shapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    // A tile without rows or columns is none.
    void set(int tile, std::uint8_t high, std::uint16_t wide) {
      if (high == 0 || wide == 0) return;
      rows[tile] = high;
      bytes[tile] = wide;
    }
  };
  static_assert(sizeof(Shapes) == 64);
  std::int64_t rows_ = 0, columns_ = 0;
};

template <int kAt>
PLAIT_INLINE void load_tile(const void* from, std::int64_t stride) {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(kAt), "r"(from), "r"(stride) : "memory");
}
template <int kAt>
PLAIT_INLINE void store_tile(void* to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kAt), "r"(to), "r"(stride) : "memory");
}
template <int kAt>
PLAIT_INLINE void start_tile(const std::byte* c, std::int64_t stride, bool add) {
  if (add)
    load_tile<kAt>(c, stride);
  else
    asm volatile("tilezero %%tmm%c0" ::"i"(kAt));
}

// One panel of A and one of B, whose second tiles there are or not.
template <class By, bool kLow, bool kRight>
void multiply_tiles(std::int64_t steps, const std::byte* a, const std::byte* b, std::byte* c,
                    std::int64_t stride, bool add) {
  std::byte* const right = c + kTileLines * 4;
  std::byte* const low = c + kTileLines * stride;
  start_tile<0>(c, stride, add);
  if constexpr (kRight) start_tile<1>(right, stride, add);
  if constexpr (kLow) start_tile<2>(low, stride, add);
  if constexpr (kLow && kRight) start_tile<3>(low + kTileLines * 4, stride, add);
  for (std::int64_t i = 0; i < steps; ++i, a += 2 * kTile, b += 2 * kTile) {
    load_tile<4>(a, kTileBytes);
    load_tile<6>(b, kTileBytes);
    By::template multiply<0, 4, 6>();
    if constexpr (kRight) {
      load_tile<7>(b + kTile, kTileBytes);
      By::template multiply<1, 4, 7>();
    }
    if constexpr (kLow) {
      load_tile<5>(a + kTile, kTileBytes);
      By::template multiply<2, 5, 6>();
    }
    if constexpr (kLow && kRight) By::template multiply<3, 5, 7>();
  }
  store_tile<0>(c, stride);
  if constexpr (kRight) store_tile<1>(right, stride);
  if constexpr (kLow) store_tile<2>(low, stride);
  if constexpr (kLow && kRight) store_tile<3>(low + kTileLines * 4, stride);
}

constexpr std::int64_t kPanelLines = 2 * kTileLines;

template <class By>
void block_of_tiles(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                    void* c, std::int64_t c_row, bool add) {
  const std::int64_t steps = (k + By::kGroup - 1) / By::kGroup, panel = steps * 2 * kTile,
                     stride = c_row * 4;
  TileRegisters registers;
  for (std::int64_t j = 0; j < n; j += kPanelLines)
    for (std::int64_t i = 0; i < m; i += kPanelLines) {
      const std::int64_t rows = std::min(kPanelLines, m - i),
                         columns = std::min(kPanelLines, n - j);
      registers.shape(rows, columns);
      const bool low = rows > kTileLines, right = columns > kTileLines;
      const auto multiply =
          low     ? right ? multiply_tiles<By, true, true> : multiply_tiles<By, true, false>
              : right ? multiply_tiles<By, false, true>
                  : multiply_tiles<By, false, false>;
      multiply(steps, static_cast<const std::byte*>(a) + i / kPanelLines * panel,
               static_cast<const std::byte*>(b) + j / kPanelLines * panel,
               static_cast<std::byte*>(c) + i * stride + j * 4, stride, add);
    }
}

// Lines that follow each other in memory, `item` bytes apart, among those of a tile.
struct LineRuns {
  struct Run {
    std::int64_t at;  // of what would be the tile's first line
    __mmask16 lanes;
  };
  Run runs[kTileLines];
  int count = 0;

  template <class At>
  LineRuns(std::int64_t lines, std::int64_t item, At at) {
    for (std::int64_t l = 0; l < lines;) {
      std::int64_t end = l + 1;
      while (end < lines && at(end) == at(l) + (end - l) * item) ++end;
      runs[count++] = {at(l) - l * item, static_cast<__mmask16>((1U << end) - (1U << l))};
      l = end;
    }
  }
};

// The words of a tile, lines in lanes: each of the elements at four bytes of k.
template <class By, class SumAt>
PLAIT_INLINE vi word_of_lines(const std::byte* from, const LineRuns& lines, std::int64_t i,
                              std::int64_t k, SumAt sum_at) {
  using Element = typename By::Element;
  constexpr int bits = 8 * sizeof(Element);
  __m512i word = _mm512_setzero_si512();
  for (int g = 0; g < 32 / bits && i + g < k; ++g) {
    const std::byte* const row = from + sum_at(i + g);
    __m512i elements;
    if constexpr (bits == 16) {
      __m256i some = _mm256_setzero_si256();
      for (int r = 0; r < lines.count; ++r)
        some = _mm256_mask_loadu_epi16(some, lines.runs[r].lanes, row + lines.runs[r].at);
      elements = _mm512_cvtepu16_epi32(some);
    } else {
      __m128i some = _mm_setzero_si128();
      for (int r = 0; r < lines.count; ++r)
        some = _mm_mask_loadu_epi8(some, lines.runs[r].lanes, row + lines.runs[r].at);
      elements = _mm512_cvtepu8_epi32(some);
    }
    word = _mm512_or_si512(word, _mm512_slli_epi32(elements, g * bits));
  }
  return (vi)word;
}

// The lines of a tile, what follows along k in lanes.
template <class By, class LineAt>
PLAIT_INLINE vi line_of_words(const std::byte* from, std::int64_t l, std::int64_t lines,
                              std::int64_t k, LineAt line_at) {
  const std::int64_t bytes =
      std::min(By::kGroup, k) * static_cast<std::int64_t>(sizeof(typename By::Element));
  const __mmask64 there = l < lines ? ~std::uint64_t{0} >> (kTileBytes - bytes) : 0;
  return (vi)_mm512_maskz_loadu_epi8(there, l < lines ? from + line_at(l) : from);
}

// Panels of A, or of B, whose words follow each other.
template <class By, bool kWordsFirst, class LineAt, class SumAt>
void pack_tiles(void* to, const std::byte* from, std::int64_t lines, std::int64_t k,
                std::int64_t width, LineAt line_at, SumAt sum_at) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(typename By::Element));
  const std::int64_t steps = (k + By::kGroup - 1) / By::kGroup;
  const auto along = [&](std::int64_t i, std::int64_t end) {
    for (std::int64_t s = i + 1; s < end; ++s)
      if (sum_at(s) - sum_at(i) != (s - i) * item) return false;
    return true;
  };
  for (std::int64_t first = 0; first < (lines + width - 1) / width * width; first += kTileLines) {
    auto* out = static_cast<std::byte*>(to) + first / width * steps * width * kTileBytes +
                first % width / kTileLines * kTile;
    const std::int64_t here = std::clamp<std::int64_t>(lines - first, 0, kTileLines);
    const LineRuns runs(here, item, [&](std::int64_t l) { return line_at(first + l); });
    for (std::int64_t i = 0; i < k; i += By::kGroup, out += width * kTileBytes) {
      vi words[kTileLines];
      const bool rows = along(i, std::min(i + By::kGroup, k));
      if (rows)
        for (std::int64_t l = 0; l < kTileLines; ++l)
          words[l] = line_of_words<By>(from + sum_at(i), l, here, k - i,
                                       [&](std::int64_t at) { return line_at(first + at); });
      else
        for (std::int64_t w = 0; w < kTileLines; ++w)
          words[w] = word_of_lines<By>(from, runs, i + w * By::kGroup / kTileLines, k, sum_at);
      if (rows == kWordsFirst) transpose<int>(words);
      std::memcpy(out, words, sizeof words);
    }
  }
}

template <class By, bool kWordsFirst>
constexpr Packing kPackingOfTiles{
    [](void* to, const void* from, std::int64_t line, std::int64_t step, std::int64_t lines,
       std::int64_t k, std::int64_t width) {
      pack_tiles<By, kWordsFirst>(
          to, static_cast<const std::byte*>(from), lines, k, width,
          [line](std::int64_t l) { return l * line; }, [step](std::int64_t i) { return i * step; });
    },
    [](void* to, const void* from, const std::int64_t* lines_at, const std::int64_t* sums_at,
       std::int64_t lines, std::int64_t k, std::int64_t width) {
      pack_tiles<By, kWordsFirst>(
          to, static_cast<const std::byte*>(from), lines, k, width,
          [lines_at](std::int64_t l) { return lines_at[l]; },
          [sums_at](std::int64_t i) { return sums_at[i]; });
    }};

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
