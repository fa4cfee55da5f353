// Panels whose words are several elements along k, which one instruction multiplies and adds: pairs
// of 16 bits, and those of processor/panels.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "codegen/loops/panels.hpp"
#include "codegen/loops/tiles.hpp"
#include "core/fragments.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

struct Pairs : Panelled<int> {
  using Element = std::int16_t;
  static constexpr std::int64_t kGroup =
      fragment_shape(FragmentUnit::Lane, DType::Int16, DType::Int16)->k;
  static constexpr bool kLastFirst = false;
  PLAIT_INLINE static vi whole(vi x, vi y, vi s) { return (vi)((vu)s + (vu)multiply_pairs(x, y)); }
};

// A register of words of elements that follow each other.
template <class By, class From>
PLAIT_INLINE vi load_words(const From* p) {
  constexpr int bytes = kVectorBytes / static_cast<int>(sizeof(typename By::Element));
  typedef From Narrow __attribute__((vector_size(bytes * sizeof(From))));
  typedef typename By::Element Wide __attribute__((vector_size(kVectorBytes)));
  Narrow v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (By::kLastFirst)
    return (vi)((vu)v << 16 | (vu)v >> 16);
  else if constexpr (sizeof(From) == sizeof(typename By::Element))
    return (vi)v;
  else
    return (vi) __builtin_convertvector(v, Wide);
}

// One word of at most so many elements; zeros after them.
template <class By, class From, class At>
PLAIT_INLINE int one_word(std::int64_t count, At at) {
  typename By::Element e[By::kGroup] = {};
  for (std::int64_t i = 0; i < std::min(count, By::kGroup); ++i) {
    From v;
    std::memcpy(&v, at(i), sizeof v);
    e[By::kLastFirst ? By::kGroup - 1 - i : i] = static_cast<typename By::Element>(v);
  }
  int word;
  std::memcpy(&word, e, sizeof word);
  return word;
}

// Lines that lie side by side, so many at a time, from as many rows as a word has elements.
template <class By>
constexpr std::int64_t kSideBySide = 16 / sizeof(typename By::Element);
template <class By, class From>
PLAIT_INLINE void interleave(int* out, const From* const* rows) {
  typedef std::int16_t Wide __attribute__((vector_size(16)));
  typedef std::int8_t Bytes __attribute__((vector_size(16)));
  const auto load = [](const From* p) {
    typedef From Some __attribute__((vector_size(8 * sizeof(From))));
    Some v;
    std::memcpy(&v, p, sizeof v);
    return (Wide) __builtin_convertvector(v, Wide);
  };
  const auto load_bytes = [](const From* p) {
    Bytes v;
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  const auto store = [out](int i, Wide v) { std::memcpy(out + 4 * i, &v, sizeof v); };
  const auto low = [](Wide a, Wide b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  };
  const auto high = [](Wide a, Wide b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  };
  if constexpr (By::kGroup == 2) {
    const Wide a = load(rows[By::kLastFirst]), b = load(rows[!By::kLastFirst]);
    store(0, low(a, b));
    store(1, high(a, b));
  } else {
    const auto low_bytes = [](Bytes a, Bytes b) {
      return (Wide)__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                           23);
    };
    const auto high_bytes = [](Bytes a, Bytes b) {
      return (Wide)__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14,
                                           30, 15, 31);
    };
    const Bytes a = load_bytes(rows[0]), b = load_bytes(rows[1]), c = load_bytes(rows[2]),
                d = load_bytes(rows[3]);
    const Wide ab = low_bytes(a, b), cd = low_bytes(c, d), ab_high = high_bytes(a, b),
               cd_high = high_bytes(c, d);
    store(0, low(ab, cd));
    store(1, high(ab, cd));
    store(2, low(ab_high, cd_high));
    store(3, high(ab_high, cd_high));
  }
}

// All panels of lines side by side, row by row as they lie in memory: `apart` words from panel to
// panel.
template <class By, class From>
void interleave_lines(int* out, const std::byte* at, std::int64_t step, std::int64_t lines,
                      std::int64_t k, std::int64_t width, std::int64_t apart) {
  constexpr std::int64_t wide = kSideBySide<By>;
  static constexpr From zeros[wide] = {};
  for (std::int64_t i = 0; i < k; i += By::kGroup, at += By::kGroup * step, out += width) {
    const std::int64_t there = std::min(By::kGroup, k - i);
    const From* rows[By::kGroup];
    for (std::int64_t g = 0; g < By::kGroup; ++g)
      rows[g] = reinterpret_cast<const From*>(at + g * step);
    int* to = out;
    for (std::int64_t first = 0; first < lines; first += width, to += apart)
      for (std::int64_t w = 0; w < width; w += wide) {
        const std::int64_t room = std::min(wide, width - w),
                           here = std::clamp<std::int64_t>(lines - first - w, 0, room);
        const From* from[By::kGroup];
        for (std::int64_t g = 0; g < By::kGroup; ++g) from[g] = rows[g] + first + w;
        if (here == wide && there == By::kGroup) {
          interleave<By>(to + w, from);
          continue;
        }
        From copy[By::kGroup][wide];
        int words[wide];
        for (std::int64_t g = 0; g < By::kGroup; ++g) {
          std::memcpy(copy[g], zeros, sizeof zeros);
          if (g < there) std::copy_n(from[g], here, copy[g]);
          from[g] = copy[g];
        }
        interleave<By>(words, from);
        std::copy_n(words, room, to + w);
      }
  }
}

template <class By, class From>
void words_of_panel(int* out, const std::byte* at, std::int64_t line, std::int64_t step,
                    std::int64_t some, std::int64_t k, std::int64_t width) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(From));
  constexpr std::int64_t n = kWidth<int>;
  const std::int64_t words = (k + By::kGroup - 1) / By::kGroup;
  for (std::int64_t w = 0; w < width; w += n) {
    const std::int64_t room = std::min(n, width - w),
                       here = std::clamp<std::int64_t>(some - w, 0, room);
    const std::byte* p = at + w * line;
    const Lanes<int> lanes(room);
    std::int64_t q = 0;
    for (; step == item && here > 0 && (q + n) * By::kGroup <= k; q += n) {
      vi rows[n];
      for (std::int64_t r = 0; r < n; ++r)
        rows[r] = r < here
                      ? load_words<By>(reinterpret_cast<const From*>(p + r * line) + q * By::kGroup)
                      : vi{};
      transpose<int>(rows);
      for (std::int64_t r = 0; r < n; ++r) lanes.store(out + (q + r) * width + w, rows[r]);
    }
    for (; q < words; ++q)
      for (std::int64_t r = 0; r < room; ++r)
        out[q * width + w + r] =
            r < here
                ? one_word<By, From>(
                      k - q * By::kGroup,
                      [&](std::int64_t i) { return p + r * line + (q * By::kGroup + i) * step; })
                : 0;
  }
}

// What a panel has beside its words.
struct AsTheyAre {
  template <class By>
  static void finish(int*, std::int64_t, std::int64_t) {}
};

template <class By, class From, class Finish = AsTheyAre>
void pack_groups(void* to, const void* from, std::int64_t line, std::int64_t step,
                 std::int64_t lines, std::int64_t k, std::int64_t width) {
  auto* out = static_cast<int*>(to);
  const auto* at = static_cast<const std::byte*>(from);
  const std::int64_t words = (k + By::kGroup - 1) / By::kGroup, start = By::kStarts ? width : 0;
  const std::int64_t apart = start + words * width;
  const bool side_by_side = line == static_cast<std::int64_t>(sizeof(From));
  if (side_by_side) interleave_lines<By, From>(out + start, at, step, lines, k, width, apart);
  for (std::int64_t first = 0; first < lines; first += width, at += width * line, out += apart) {
    if (!side_by_side)
      words_of_panel<By, From>(out + start, at, line, step, std::min(width, lines - first), k,
                               width);
    Finish::template finish<By>(out, k, width);
  }
}

// Fewer elements than a register has; without a call for how many.
template <class From>
PLAIT_INLINE void copy_few(From* to, const From* from, std::int64_t count) {
  std::int64_t i = 0;
  const auto copy = [&](auto n) {
    std::memcpy(to + i, from + i, n() * sizeof(From));
    i += n();
  };
  while (i + 8 <= count) copy(std::integral_constant<std::int64_t, 8>());
  if (count & 4) copy(std::integral_constant<std::int64_t, 4>());
  if (count & 2) copy(std::integral_constant<std::int64_t, 2>());
  if (count & 1) copy(std::integral_constant<std::int64_t, 1>());
}

// Lines side by side to the first columns of `out`.
template <class By, class From>
void gather_run_of_groups(int* out, const std::byte* from, const std::int64_t* sums_at,
                          std::int64_t lines, std::int64_t k, std::int64_t width) {
  constexpr std::int64_t wide = kSideBySide<By>;
  for (std::int64_t i = 0; i < k; i += By::kGroup, out += width) {
    const std::int64_t there = std::min(By::kGroup, k - i);
    const From* rows[By::kGroup];
    for (std::int64_t g = 0; g < there; ++g)
      rows[g] = reinterpret_cast<const From*>(from + sums_at[i + g]);
    const auto some = [&](std::int64_t first, std::int64_t count) {
      From copy[By::kGroup][wide] = {};
      const From* of[By::kGroup];
      int words[wide];
      for (std::int64_t g = 0; g < By::kGroup; ++g) {
        of[g] = copy[g];
        if (g < there) copy_few(copy[g], rows[g] + first, count);
      }
      interleave<By>(words, of);
      copy_few(out + first, words, count);
    };
    const auto all = [&](std::int64_t first) {
      if (there < By::kGroup) return some(first, wide);
      const From* of[By::kGroup];
      for (std::int64_t g = 0; g < By::kGroup; ++g) of[g] = rows[g] + first;
      interleave<By>(out + first, of);
    };
    std::int64_t w = 0;
    for (; w + wide <= lines; w += wide) all(w);
    if (w == lines) continue;
    if (lines >= wide)
      all(lines - wide);  // some of them again
    else
      some(0, lines);
  }
}

// At most as many lines as lanes, that lie apart: of each a register at a time, whose elements are
// copied side by side where they are not.
template <class By, class From>
void gather_lines_of_groups(int* out, const std::byte* from, const std::int64_t* lines_at,
                            const std::int64_t* sums_at, std::int64_t lines, std::int64_t k,
                            std::int64_t width) {
  constexpr std::int64_t n = kWidth<int>, most = n * By::kGroup;
  const Lanes<int> lanes(lines);
  for (std::int64_t i = 0; i < k; i += most, out += n * width) {
    const std::int64_t there = std::min(most, k - i);
    struct Run {
      std::int64_t first, count;
    } runs[most];
    std::int64_t count = 0;
    for (std::int64_t e = 0; e < there; e += runs[count++].count)
      runs[count] = {e, side_by_side<From>(sums_at + i + e, there - e)};
    vi words[n];
    for (std::int64_t l = 0; l < lines; ++l) {
      const std::byte* const line = from + lines_at[l];
      if (runs[0].count == most) {
        words[l] = load_words<By>(reinterpret_cast<const From*>(line + sums_at[i]));
        continue;
      }
      From copy[most];
      for (std::int64_t r = 0; r < count; ++r)
        copy_few(copy + runs[r].first,
                 reinterpret_cast<const From*>(line + sums_at[i + runs[r].first]), runs[r].count);
      std::fill(copy + there, copy + most, From{});
      words[l] = load_words<By>(copy);
    }
    for (std::int64_t l = lines; l < n; ++l) words[l] = vi{};
    transpose<int>(words);
    const std::int64_t groups = (there + By::kGroup - 1) / By::kGroup;
    for (std::int64_t q = 0; q < groups; ++q) lanes.store(out + q * width, words[q]);
  }
}

template <class By, class From, class Finish = AsTheyAre>
void gather_groups(void* to, const void* from, const std::int64_t* lines_at,
                   const std::int64_t* sums_at, std::int64_t lines, std::int64_t k,
                   std::int64_t width) {
  constexpr std::int64_t kRun = 4;  // lines side by side that are worth a vector
  auto* out = static_cast<int*>(to);
  const auto* base = static_cast<const std::byte*>(from);
  const std::int64_t words = (k + By::kGroup - 1) / By::kGroup, start = By::kStarts ? width : 0;
  for (std::int64_t first = 0; first < lines; first += width) {
    const std::int64_t some = std::min(width, lines - first);
    const std::int64_t* const at = lines_at + first;
    int* const panel = out + start;
    for (std::int64_t l = 0; l < some;) {
      std::int64_t run = side_by_side<From>(at + l, some - l);
      if (run >= kRun) {
        gather_run_of_groups<By, From>(panel + l, base + at[l], sums_at, run, k, width);
      } else {
        const std::int64_t most = std::min<std::int64_t>(kWidth<int>, some - l);
        while (run < most && side_by_side<From>(at + l + run, most - run) < kRun) ++run;
        gather_lines_of_groups<By, From>(panel + l, base, at + l, sums_at, run, k, width);
      }
      l += run;
    }
    if (some < width)
      for (std::int64_t q = 0; q < words; ++q)
        std::fill(panel + q * width + some, panel + (q + 1) * width, 0);
    Finish::template finish<By>(out, k, width);
    out += start + words * width;
  }
}

template <class By, class From>
constexpr Packing kPackingOfPairs{pack_groups<By, From>, gather_groups<By, From>};

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
