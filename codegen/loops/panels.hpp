// How panels are packed whose words are single elements.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codegen/loops/tiles.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T, class From>
T element(const std::byte* p) {
  From v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<From, Half>)
    return half_to_float(v.bits);
  else
    return static_cast<T>(v);
}

// Two rows of a matrix of blocks (2, 2) of `block` lanes, transposed: the first one, and the
// second.
template <int block, class V, int... i>
PLAIT_INLINE void exchange_blocks(V& a, V& b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  const V first = a;
  a = __builtin_shufflevector(first, b, (i & block ? n + i - block : i)...);
  b = __builtin_shufflevector(first, b, (i & block ? n + i : i + block)...);
}

// As many rows as lanes, by blocks of 1, 2, 4 ... lanes: most of that stays in a quarter of a
// register.
template <class T, int block = 1>
PLAIT_INLINE void transpose(typename Register<T>::type (&rows)[kWidth<T>]) {
  constexpr int n = kWidth<T>;
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i)
    if (!(i & block))
      exchange_blocks<block>(rows[i], rows[i + block], std::make_integer_sequence<int, n>());
  if constexpr (2 * block < n) transpose<T, 2 * block>(rows);
}

// Rows of a panel that a whole register may be stored to from column `w` on, though the row ends
// before: what is too much lands in rows that are written later. Stores by a mask take ten times as
// long on some processors.
template <class T>
std::int64_t whole_rows(std::int64_t k, std::int64_t width, std::int64_t w) {
  return std::max<std::int64_t>(0, k * width - w - kWidth<T> + width) / width;
}

// Lines of k contiguous elements, as many as lanes (what lies past the last of `some` repeats it),
// to the first `room` <= lanes of each row of a panel, zeros after them; to whole registers in the
// first `whole` rows. Returns how far it came: whole registers along k.
template <class T, class From>
std::int64_t transpose_lines(T* out, const From* const* from, std::int64_t some, std::int64_t room,
                             std::int64_t k, std::int64_t width, std::int64_t whole = 0) {
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
    if (room == n || i + n <= whole)
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
  for (std::int64_t w = (width - 1) / n * n; w >= 0; w -= n) {
    const std::int64_t here = std::clamp<std::int64_t>(some - w, 0, n);
    const Lanes<T> in(here), lanes(std::min<std::int64_t>(n, width - w));
    const auto at = [&](std::int64_t i) {
      return here == n ? load(row(i) + w) : here > 0 ? load_some(in, row(i) + w, here) : Vector{};
    };
    std::int64_t i = 0;
    for (const std::int64_t whole = whole_rows<T>(k, width, w); i < whole; ++i)
      store(out + i * width + w, at(i));
    for (; i < k; ++i) lanes.store(out + i * width + w, at(i));
  }
}

template <class T, class From>
void pack(void* to, const void* from, std::int64_t line, std::int64_t step, std::int64_t lines,
          std::int64_t k, std::int64_t width) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(From));
  auto* out = static_cast<T*>(to);
  const auto* at = static_cast<const std::byte*>(from);
  // What lies side by side is read along, a few rows for all panels: so it is fetched ahead.
  constexpr std::int64_t kRows = 64;
  if (line == item) {
    for (std::int64_t i = 0; i < k; i += kRows)
      for (std::int64_t first = 0; first < lines; first += width)
        copy_rows<T, From>(out + first * k + i * width, at + first * item + i * step, step,
                           std::min(width, lines - first), std::min(kRows, k - i), width);
    return;
  }
  for (std::int64_t first = 0; first < lines; first += width, at += width * line) {
    const std::int64_t some = std::min(width, lines - first);
    for (std::int64_t w = (width - 1) / kWidth<T> * kWidth<T>; w >= 0; w -= kWidth<T>) {
      const std::int64_t room = std::min<std::int64_t>(kWidth<T>, width - w),
                         here = std::clamp<std::int64_t>(some - w, 0, room);
      const std::byte* p = at + w * line;
      std::int64_t i = 0;
      if (step == item && here > 0) {
        const From* from[kWidth<T>];
        for (int r = 0; r < kWidth<T>; ++r)
          from[r] = reinterpret_cast<const From*>(p + std::min<std::int64_t>(r, here - 1) * line);
        i = transpose_lines(out + w, from, here, room, k, width, whole_rows<T>(k, width, w));
      }
      for (; i < k; ++i) {
        T* row = out + i * width + w;
        for (std::int64_t r = 0; r < here; ++r) row[r] = element<T, From>(p + i * step + r * line);
        for (std::int64_t r = here; r < room; ++r) row[r] = T{};
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
        out[(i + done) * width + r] = element<T, From>(from + sums_at[i + done] + lines_at[r]);
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

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
