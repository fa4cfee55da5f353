// C++ types of the dtypes, inside loops. Bool is a byte that holds 0 or 1.
#pragma once
#include <cstdint>
#include <type_traits>

#include "core/dtype.hpp"

namespace plait::loops {

using f32 = float;
using f64 = double;
template <class T>
struct Complex {
  T re, im;
};
using c64 = Complex<float>;
using c128 = Complex<double>;

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::Int8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::UInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::Int16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::UInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::Int32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::UInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::Int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::UInt64;
  if constexpr (std::is_same_v<T, f32>) return DType::Float32;
  if constexpr (std::is_same_v<T, f64>) return DType::Float64;
  if constexpr (std::is_same_v<T, c64>) return DType::Complex64;
  if constexpr (std::is_same_v<T, c128>) return DType::Complex128;
}

template <class... Ts>
struct Types {};
using Unsigneds = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Signeds = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using Ints = Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t>;
using Floats = Types<f32, f64>;

// The unsigned dtype of the same width: two's complement makes many operations the same.
constexpr DType as_unsigned(DType t) {
  switch (t) {
    case DType::Bool:
    case DType::Int8:
      return DType::UInt8;
    case DType::Int16:
      return DType::UInt16;
    case DType::Int32:
      return DType::UInt32;
    case DType::Int64:
      return DType::UInt64;
    default:
      return t;
  }
}

}  // namespace plait::loops
