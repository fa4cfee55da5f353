// Elements at computed places, and the check of the indices that name them.
#include "gather.hpp"

#include <atomic>
#include <cstring>
#include <limits>

#include "codegen/loops/gather.hpp"
#include "direct_kernels.hpp"
#include "split.hpp"

namespace plait::engine {
namespace {

// Seconds of an element, roughly: of one gathered from memory, and of one that is looked at.
constexpr double kGathered = 2e-9, kChecked = 0.5e-9;

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// What is wrong with a row of indices: the first one that is outside; and whether one is negative.
struct Seen {
  bool negative = false, outside = false;
};

template <class T>
Seen look_at(const std::byte* at, std::int64_t stride, std::int64_t n, std::int64_t extent) {
  // Least and greatest, in loops that vectorise.
  T least = std::numeric_limits<T>::max(), greatest = std::numeric_limits<T>::min();
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T v = load<T>(at + i * static_cast<std::int64_t>(sizeof(T)));
      least = v < least ? v : least;
      greatest = v > greatest ? v : greatest;
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      const T v = load<T>(at + i * stride);
      least = v < least ? v : least;
      greatest = v > greatest ? v : greatest;
    }
  }
  if (n == 0) return {};
  Seen s;
  if constexpr (std::is_unsigned_v<T>) {
    s.outside = greatest > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
                static_cast<std::int64_t>(greatest) >= extent;
  } else {
    s.negative = least < 0;
    s.outside = greatest >= extent || least < -extent;
  }
  return s;
}

Seen look_at(DType t, const std::byte* at, std::int64_t stride, std::int64_t n,
             std::int64_t extent) {
  switch (t) {
    case DType::Int8:
      return look_at<std::int8_t>(at, stride, n, extent);
    case DType::Int16:
      return look_at<std::int16_t>(at, stride, n, extent);
    case DType::Int32:
      return look_at<std::int32_t>(at, stride, n, extent);
    case DType::UInt8:
      return look_at<std::uint8_t>(at, stride, n, extent);
    case DType::UInt16:
      return look_at<std::uint16_t>(at, stride, n, extent);
    case DType::UInt32:
      return look_at<std::uint32_t>(at, stride, n, extent);
    case DType::UInt64:
      return look_at<std::uint64_t>(at, stride, n, extent);
    default:
      return look_at<std::int64_t>(at, stride, n, extent);
  }
}

}  // namespace

Indices look_at_indices(DType t, const Dims& shape, const Memory& at, std::int64_t extent) {
  std::atomic<bool> negative{false}, outside{false};
  split_rows(shape, std::span(&at, 1), kChecked, [&](const Rows& rows) {
    walk_rows(rows, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
      const Seen seen = look_at(t, p[0], s[0], n, extent);
      if (seen.negative) negative.store(true, std::memory_order_relaxed);
      if (seen.outside) outside.store(true, std::memory_order_relaxed);
    });
  });
  if (outside) return Indices::Outside;
  return negative ? Indices::Negative : Indices::Fine;
}

void wrap_indices(std::int64_t* at, std::int64_t n, std::int64_t extent) {
  split(n, kChecked, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) at[i] += at[i] < 0 ? extent : 0;
  });
}

Ends ends_of(const std::int64_t* values, std::int64_t n) {
  std::atomic<std::int64_t> least{std::numeric_limits<std::int64_t>::max()},
      greatest{std::numeric_limits<std::int64_t>::min()};
  split(n, kChecked, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t low = least, high = greatest;
    for (std::int64_t i = begin; i < end; ++i) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    for (std::int64_t seen = least; low < seen && !least.compare_exchange_weak(seen, low);) {
    }
    for (std::int64_t seen = greatest;
         high > seen && !greatest.compare_exchange_weak(seen, high);) {
    }
  });
  return {least, greatest};
}

void run_gather(DType t, const Dims& shape, const Memory& in, const Memory& index,
                std::int64_t step, const Memory& out) {
  const auto size = static_cast<std::int64_t>(itemsize(t));
  const Memory operands[] = {out, index, in};
  split_rows(shape, operands, kGathered, [&](Rows rows) {
    lengthen_rows(rows);
    walk_rows(rows, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
      // A row that one index names, and that lies in one piece, is copied.
      if (s[1] == 0 && s[0] == size && s[2] == size)
        std::memcpy(p[0], p[2] + load<std::int64_t>(p[1]) * step,
                    static_cast<std::size_t>(n * size));
      else
        loops::gather(p[0], s[0], {p[2], s[2], step, p[1], s[1]}, n, static_cast<int>(size));
    });
  });
}

}  // namespace plait::engine
