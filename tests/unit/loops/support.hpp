// Calls of loops on vectors, for the tests of this layer.
#pragma once
#include <cfenv>
#include <cstring>
#include <limits>
#include <vector>

#include "codegen/loops/loops.hpp"

namespace loops_test {

namespace loops = plait::loops;
using loops::LoopFn;
using namespace plait;

inline std::vector<CpuTier> tiers() {
  std::vector<CpuTier> t;
  for (CpuTier tier : kTiers)
    if (tier <= detected_tier()) t.push_back(tier);
  return t;
}
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr int kFlags = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

template <class T>
constexpr DType dtype() {
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::Int8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::UInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::Int16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::UInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::Int32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::UInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::Int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::UInt64;
  if constexpr (std::is_same_v<T, float>) return DType::Float32;
  if constexpr (std::is_same_v<T, double>) return DType::Float64;
}

template <class R, class T>
std::vector<R> apply(LoopFn fn, std::vector<T> a, int* flags = nullptr) {
  std::vector<R> r(a.size());
  void* args[] = {a.data(), r.data()};
  const std::int64_t strides[] = {sizeof(T), sizeof(R)};
  std::feclearexcept(FE_ALL_EXCEPT);
  fn(args, strides, static_cast<std::int64_t>(a.size()));
  if (flags) *flags = std::fetestexcept(kFlags);
  return r;
}
template <class R, class T>
std::vector<R> apply(LoopFn fn, std::vector<T> a, std::vector<T> b, int* flags = nullptr) {
  std::vector<R> r(a.size());
  void* args[] = {a.data(), b.data(), r.data()};
  const std::int64_t strides[] = {sizeof(T), sizeof(T), sizeof(R)};
  std::feclearexcept(FE_ALL_EXCEPT);
  fn(args, strides, static_cast<std::int64_t>(a.size()));
  if (flags) *flags = std::fetestexcept(kFlags);
  return r;
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace loops_test
