// Unsigned integers in the order of elements: equal where NumPy takes elements for equal (0.0 and
// -0.0, all NaNs). Not for complex numbers.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/half.hpp"
#include "order.hpp"

namespace plait::engine {

template <class T>
std::uint64_t key_of(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    constexpr U kSign = std::is_signed_v<T> ? U{1} << (sizeof(U) * 8 - 1) : 0;
    return static_cast<U>(static_cast<U>(x) ^ kSign);
  } else {
    using U = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                 std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
    auto bits = std::bit_cast<U>(x);
    if (is_nan(x)) return static_cast<U>(~U{0});
    if (static_cast<U>(bits << 1) == 0) bits = 0;
    return static_cast<U>(bits & kSign ? ~bits : bits | kSign);
  }
}

template <class T>
T element_at(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

}  // namespace plait::engine
