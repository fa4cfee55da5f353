// Walks strided operands of one shape row by row: axes in NumPy's iteration order, joined where the
// strides allow it.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "core/dims.hpp"
#include "engine/threads/interruption.hpp"
#include "tracer/layout.hpp"

namespace plait::engine {

inline constexpr int kMaxRowOperands = 5;

// A value in memory, seen with a shape that the caller knows; strides are in bytes.
struct Memory {
  std::byte* data = nullptr;
  Dims strides;
};

struct Rows {
  int operands = 0;
  std::int64_t length = 1;  // of a row
  std::array<std::int64_t, kMaxRowOperands> row_strides{};
  Dims shape;  // the axes outside the row, fastest first
  std::array<Dims, kMaxRowOperands> strides;
  std::array<std::byte*, kMaxRowOperands> start{};
  bool empty = false;
};

// The first `ordering` operands decide the order of the axes.
inline Rows make_rows(const Dims& shape, std::span<const Memory> operands, int ordering) {
  Rows r;
  r.operands = static_cast<int>(operands.size());
  for (int i = 0; i < r.operands; ++i)
    r.start[static_cast<std::size_t>(i)] = operands[static_cast<std::size_t>(i)].data;
  if (shape.size() == 1 && shape[0] != 1) {  // the row; there is nothing to order or to join
    r.length = shape[0];
    r.empty = shape[0] == 0;
    for (std::size_t i = 0; i < operands.size(); ++i) r.row_strides[i] = operands[i].strides[0];
    return r;
  }
  std::array<Dims, kMaxRowOperands> by;
  for (int i = 0; i < ordering; ++i)
    by[static_cast<std::size_t>(i)] = operands[static_cast<std::size_t>(i)].strides;
  const Dims order = tracer::iteration_order(
      shape.size(), std::span<const Dims>(by.data(), static_cast<std::size_t>(ordering)));
  Dims joined;
  std::array<Dims, kMaxRowOperands> strides;
  for (std::int64_t axis64 : order) {
    const int axis = static_cast<int>(axis64);
    const std::int64_t extent = shape[axis];
    if (extent == 0) r.empty = true;
    if (extent == 1) continue;
    bool joins = !joined.empty();
    for (std::size_t i = 0; joins && i < operands.size(); ++i)
      joins = operands[i].strides[axis] == strides[i].back() * joined.back();
    if (joins) {
      joined[joined.size() - 1] *= extent;
      continue;
    }
    joined.push_back(extent);
    for (std::size_t i = 0; i < operands.size(); ++i)
      strides[i].push_back(operands[i].strides[axis]);
  }
  if (!joined.empty()) {
    r.length = joined[0];
    joined.erase(0);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      r.row_strides[i] = strides[i][0];
      strides[i].erase(0);
      r.strides[i] = strides[i];
    }
    r.shape = joined;
  }
  return r;
}

// Where the order of elements does not matter, rows of few elements give way to those along a
// longer axis: a call of a loop costs more than a stride.
inline void lengthen_rows(Rows& r) {
  constexpr std::int64_t kFew = 16;
  if (r.length >= kFew || r.shape.empty()) return;
  int axis = 0;  // the next one, whose elements lie closest together
  if (r.shape[0] < kFew)
    axis = static_cast<int>(std::max_element(r.shape.begin(), r.shape.end()) - r.shape.begin());
  if (r.shape[axis] <= r.length) return;
  std::swap(r.length, r.shape[axis]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(r.operands); ++i)
    std::swap(r.row_strides[i], r.strides[i][axis]);
}

// inner(pointers, row strides, length) for each row; throws nothing itself.
template <class F>
void walk_rows(const Rows& r, F&& inner) {
  if (r.empty) return;
  const int axes = r.shape.size();
  std::array<std::byte*, kMaxRowOperands> start = r.start;
  // Rows along the first axis follow each other without a look at the others.
  const std::int64_t rows = axes > 0 ? r.shape[0] : 1;
  std::array<std::int64_t, kMaxRowOperands> step{};
  for (std::size_t i = 0; axes > 0 && i < static_cast<std::size_t>(r.operands); ++i)
    step[i] = r.strides[i][0];
  Dims counter(axes, 0);
  for (;;) {
    std::array<std::byte*, kMaxRowOperands> at = start;
    for (std::int64_t row = 0; row < rows; ++row) {
      inner(at.data(), r.row_strides.data(), r.length);
      for (std::size_t i = 0; i < kMaxRowOperands; ++i) at[i] += step[i];
    }
    int axis = 1;
    for (; axis < axes; ++axis) {
      const bool more = ++counter[axis] < r.shape[axis];
      const std::int64_t steps = more ? 1 : -(r.shape[axis] - 1);
      for (int i = 0; i < r.operands; ++i)
        start[static_cast<std::size_t>(i)] += steps * r.strides[static_cast<std::size_t>(i)][axis];
      if (more) break;
      counter[axis] = 0;
    }
    if (axis >= axes) return;
  }
}

// The same with looks at interrupts in between.
template <class F>
void for_each_row(const Rows& r, F&& inner) {
  // Elements, and what a row costs beside them, between two looks.
  constexpr std::int64_t kUnseen = 1 << 18, kRow = 16;
  std::int64_t unseen = kUnseen;
  walk_rows(r, [&](std::byte* const* at, const std::int64_t* strides, std::int64_t length) {
    if ((unseen -= length + kRow) < 0) {
      look_around();
      unseen = kUnseen;
    }
    inner(at, strides, length);
  });
}

// A row of any length, so that interrupts are seen: part(first, length).
template <class F>
void in_parts(std::int64_t n, F&& part) {
  constexpr std::int64_t kPart = 1 << 20;
  for (std::int64_t at = 0; at < n; at += kPart) {
    if (at > 0) look_around();
    part(at, std::min(kPart, n - at));
  }
}

// Splits a row at its mask (Bool, byte stride) into runs of true: run(first, length).
template <class F>
void for_each_run(const std::byte* mask, std::int64_t stride, std::int64_t n, F&& run) {
  std::int64_t i = 0;
  while (i < n) {
    while (i < n && mask[i * stride] == std::byte{0}) ++i;
    const std::int64_t first = i;
    while (i < n && mask[i * stride] != std::byte{0}) ++i;
    if (i > first) run(first, i - first);
  }
}

}  // namespace plait::engine
