// What multiplies blocks of matrices: which operands a fragment of the loop IR takes, and the
// instructions that its implementations are made of. The loops of the processor, what is emitted
// for devices and verify() read the same tables.
#pragma once
#include <cstdint>
#include <string_view>

#include "dtype.hpp"

namespace plait {

// What fragments multiply: A, B, and C, which has the dtype that products are summed in.
struct FragmentTypes {
  DType a, b, sums;
};
inline constexpr FragmentTypes kFragmentTypes[] = {
    {DType::Float16, DType::Float16, DType::Float32},
    {DType::Float16, DType::Float32, DType::Float32},
    {DType::Float32, DType::Float16, DType::Float32},
    {DType::Float32, DType::Float32, DType::Float32},
    {DType::BFloat16, DType::BFloat16, DType::Float32},
    {DType::BFloat16, DType::Float32, DType::Float32},
    {DType::Float32, DType::BFloat16, DType::Float32},
    {DType::Float64, DType::Float64, DType::Float64},
    {DType::Int8, DType::Int8, DType::Int32},
    {DType::Int8, DType::UInt8, DType::Int32},
    {DType::UInt8, DType::Int8, DType::Int32},
    {DType::UInt8, DType::UInt8, DType::Int32},
    {DType::Int16, DType::Int16, DType::Int32},
    {DType::UInt16, DType::UInt16, DType::Int32},
    {DType::Int32, DType::Int32, DType::Int32},
    {DType::UInt32, DType::UInt32, DType::UInt32},
    {DType::Int64, DType::Int64, DType::Int64},
    {DType::UInt64, DType::UInt64, DType::UInt64},
};
// The row of these operands; -1: no fragment takes them.
constexpr int fragment_row(DType a, DType b) {
  int row = 0;
  for (const FragmentTypes& t : kFragmentTypes) {
    if (t.a == a && t.b == b) return row;
    ++row;
  }
  return -1;
}
// Of a matrix product: its operands and itself, which may be narrower than the sums. Integers wrap,
// and what wraps in more bits has the right ones in fewer.
struct ProductTypes {
  DType a, b, result;
  constexpr bool uniform() const { return a == b && b == result; }
};
constexpr int fragment_row(const ProductTypes& t) {
  const int row = fragment_row(t.a, t.b);
  if (row < 0) return row;
  const DType sums = kFragmentTypes[row].sums;
  const bool wraps = is_integer(sums) && is_integer(t.result);
  const bool has =
      t.result == sums || t.uniform() || (wraps && itemsize(t.result) <= itemsize(sums));
  return has ? row : -1;
}
constexpr bool has_fragments(const ProductTypes& t) { return fragment_row(t) >= 0; }
// The sums' dtype; the product's where no fragment computes it.
constexpr DType fragment_sums(const ProductTypes& t) {
  const int row = fragment_row(t);
  return row < 0 ? t.result : kFragmentTypes[row].sums;
}

// Who computes a shape: a lane of a processor's vectors, its matrix unit, a thread of a device, or
// the tensor cores of one.
enum class FragmentUnit : std::uint8_t { Lane, Tiles, Thread, TensorCores };
constexpr bool of_device(FragmentUnit u) {
  return u == FragmentUnit::Thread || u == FragmentUnit::TensorCores;
}
// How operands come into registers. Elements: rows as they lie. Packed: the same, which the
// implementation brings into an order of its own. Words: kFragmentWord bytes of a row, aligned,
// from shared memory, wherever the layout puts them.
enum class FragmentLoad : std::uint8_t { Elements, Packed, Words };
inline constexpr std::int64_t kFragmentWord = 16;
// Which elements of C a lane has: number e is in row lane / across + e / beside * down, in column
// lane % across * beside + e % beside.
struct FragmentLanes {
  std::int32_t count = 1, across = 1, beside = 1, down = 1;
  constexpr std::int32_t row(std::int32_t lane, std::int32_t e) const {
    return lane / across + e / beside * down;
  }
  constexpr std::int32_t column(std::int32_t lane, std::int32_t e) const {
    return lane % across * beside + e % beside;
  }
};
// What one instruction does: m rows by n columns of C, from `k` steps.
struct FragmentShape {
  FragmentUnit unit;
  DType a, b, sums;
  std::int32_t m, n, k;
  std::string_view instruction;
  FragmentLoad load;
  FragmentLanes lanes = {};
};
// Implementations of fragments. What has the same types and unit is one row; the first of those
// that a processor or a device has is the fastest there.
inline constexpr FragmentShape kFragmentShapes[] = {
    {FragmentUnit::Tiles, DType::BFloat16, DType::BFloat16, DType::Float32, 16, 16, 32, "tdpbf16ps",
     FragmentLoad::Packed},
    {FragmentUnit::Tiles, DType::Int8, DType::Int8, DType::Int32, 16, 16, 64, "tdpbssd",
     FragmentLoad::Packed},
    {FragmentUnit::Tiles, DType::Int8, DType::UInt8, DType::Int32, 16, 16, 64, "tdpbsud",
     FragmentLoad::Packed},
    {FragmentUnit::Tiles, DType::UInt8, DType::Int8, DType::Int32, 16, 16, 64, "tdpbusd",
     FragmentLoad::Packed},
    {FragmentUnit::Tiles, DType::UInt8, DType::UInt8, DType::Int32, 16, 16, 64, "tdpbuud",
     FragmentLoad::Packed},
    {FragmentUnit::Lane, DType::BFloat16, DType::BFloat16, DType::Float32, 1, 1, 2, "vdpbf16ps",
     FragmentLoad::Packed},
    {FragmentUnit::Lane, DType::UInt8, DType::Int8, DType::Int32, 1, 1, 4, "vpdpbusd",
     FragmentLoad::Packed},
    {FragmentUnit::Lane, DType::Int16, DType::Int16, DType::Int32, 1, 1, 2, "vpmaddwd",
     FragmentLoad::Packed},
    {FragmentUnit::TensorCores,
     DType::Float16,
     DType::Float16,
     DType::Float32,
     16,
     8,
     16,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     FragmentLoad::Words,
     {32, 4, 2, 8}},
    {FragmentUnit::Thread, DType::Float16, DType::Float16, DType::Float32, 1, 1, 1, "fmaf",
     FragmentLoad::Elements},
    {FragmentUnit::Thread, DType::Float32, DType::Float32, DType::Float32, 1, 1, 1, "fmaf",
     FragmentLoad::Elements},
    {FragmentUnit::Thread, DType::Float64, DType::Float64, DType::Float64, 1, 1, 1, "fma",
     FragmentLoad::Elements},
};
// The shape of a unit for these operands; nullptr: it has none.
constexpr const FragmentShape* fragment_shape(FragmentUnit unit, DType a, DType b) {
  for (const FragmentShape& s : kFragmentShapes)
    if (s.unit == unit && s.a == a && s.b == b) return &s;
  return nullptr;
}

}  // namespace plait
