// Sums by index are cut where there are many elements: each piece has a table of its own, and the
// tables are joined in order. That decides bits, so extents alone do.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "op_table.hpp"

namespace plait {

// So many elements are summed one after the other, as NumPy does.
inline constexpr std::int64_t kScatteredInPieces = 1 << 20;

inline std::int64_t scatter_pieces(std::int64_t elements, std::int64_t table) {
  if (elements < kScatteredInPieces) return 1;
  // Small ones, so that threads end together.
  const std::int64_t each = std::max(kScatteredInPieces / 8, 16 * table);
  return std::clamp<std::int64_t>(elements / each, 1, 64);
}

// The same on a device, where a thread takes a piece: as many as tables are no larger than. Pieces
// that would keep one thread for too long are none of a device's.
inline constexpr std::int64_t kDevicePieces = 8192, kLeastPiece = 256, kMostPiece = 8192;
inline std::int64_t device_scatter_pieces(std::int64_t elements, std::int64_t table) {
  return std::clamp<std::int64_t>(elements / std::max(kLeastPiece, table), 1, kDevicePieces);
}
inline bool scatters_on_device(std::int64_t elements, std::int64_t table) {
  return elements / device_scatter_pieces(elements, table) <= kMostPiece;
}

// The reduction that joins partial results by an operation.
constexpr std::optional<ReduceKind> kind_combining(OpId fn) {
  for (const ReduceInfo& r : kReductions)
    if (r.combine == fn && fn != OpId::Count_) return r.kind;
  return std::nullopt;
}

// The fold that combines by addition, multiplication or an extremum.
constexpr ReduceKind scatter_fold(OpId fn) {
  return fn == OpId::Add        ? ReduceKind::Sum
         : fn == OpId::Multiply ? ReduceKind::Prod
         : fn == OpId::Minimum  ? ReduceKind::Min
                                : ReduceKind::Max;
}

}  // namespace plait
