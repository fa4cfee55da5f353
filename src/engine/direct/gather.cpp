// Elements at computed places, and the check of the indices that name them.
#include "gather.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "codegen/loops/gather.hpp"
#include "codegen/loops/loops.hpp"
#include "core/machine.hpp"
#include "direct_kernels.hpp"
#include "engine/threads/split.hpp"

namespace plait::engine {
namespace {

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Widens a running least and greatest by a row of integers, a block in the first cache at a time.
template <class T>
void widen(DType t, const std::byte* at, std::int64_t stride, std::int64_t n, T& least,
           T& greatest) {
  constexpr std::int64_t kBlock = 2048;
  const loops::ReduceFn low = loops::reduce(ReduceKind::Min, t, config().tier);
  const loops::ReduceFn high = loops::reduce(ReduceKind::Max, t, config().tier);
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t some = std::min(kBlock, n - i);
    low(&least, at + i * stride, stride, some);
    high(&greatest, at + i * stride, stride, some);
  }
}

// What is wrong with a row of indices.
struct Seen {
  bool negative = false, outside = false;
};

template <class T>
Seen look_at(DType t, const std::byte* at, std::int64_t stride, std::int64_t n,
             std::int64_t extent) {
  if (n == 0) return {};
  T least = load<T>(at), greatest = least;
  widen(t, at, stride, n, least, greatest);
  if constexpr (std::is_unsigned_v<T>)
    return {false, static_cast<std::uint64_t>(greatest) >= static_cast<std::uint64_t>(extent)};
  else
    return {least < 0, greatest >= extent || least < -extent};
}

Seen look_at(DType t, const std::byte* at, std::int64_t stride, std::int64_t n,
             std::int64_t extent) {
  switch (t) {
    case DType::Int8:
      return look_at<std::int8_t>(t, at, stride, n, extent);
    case DType::Int16:
      return look_at<std::int16_t>(t, at, stride, n, extent);
    case DType::Int32:
      return look_at<std::int32_t>(t, at, stride, n, extent);
    case DType::UInt8:
      return look_at<std::uint8_t>(t, at, stride, n, extent);
    case DType::UInt16:
      return look_at<std::uint16_t>(t, at, stride, n, extent);
    case DType::UInt32:
      return look_at<std::uint32_t>(t, at, stride, n, extent);
    case DType::UInt64:
      return look_at<std::uint64_t>(t, at, stride, n, extent);
    default:
      return look_at<std::int64_t>(t, at, stride, n, extent);
  }
}

}  // namespace

Indices look_at_indices(DType t, const Dims& shape, const Memory& at, std::int64_t extent) {
  std::atomic<bool> negative{false}, outside{false};
  split_rows(shape, std::span(&at, 1), host_machine().checked, [&](const Rows& rows) {
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
  split(n, host_machine().checked, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) at[i] += at[i] < 0 ? extent : 0;
  });
}

Ends ends_of(const std::int64_t* values, std::int64_t n) {
  std::atomic<std::int64_t> least{std::numeric_limits<std::int64_t>::max()},
      greatest{std::numeric_limits<std::int64_t>::min()};
  split(n, host_machine().checked, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t low = values[begin], high = low;
    widen(DType::Int64, reinterpret_cast<const std::byte*>(values + begin), sizeof *values,
          end - begin, low, high);
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
  split_rows(shape, operands, host_machine().far_element, [&](Rows rows) {
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
