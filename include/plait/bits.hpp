// Bits as elements: numpy.packbits and unpackbits.
#pragma once
#include "plait/any_array.hpp"

namespace plait {

/// Which bit of a byte is the first.
enum class bit_order { big, little };

namespace detail {
PLAIT_API any_array packbits(const any_array& a, const std::int64_t* axis, bit_order order);
PLAIT_API any_array unpackbits(const any_array& a, const std::int64_t* axis,
                               const std::int64_t* count, bit_order order);
}  // namespace detail

/// Whether elements are not 0 as bits of bytes, of all elements in C order (numpy.packbits). The
/// last byte is filled with zeros.
template <class A, detail::if_array<A> = 0>
array<std::uint8_t> packbits(const A& a) {
  return array<std::uint8_t>(detail::packbits(a, nullptr, bit_order::big).handle());
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
array<std::uint8_t> packbits(const A& a, std::int64_t axis, bit_order order = bit_order::big) {
  return array<std::uint8_t>(detail::packbits(a, &axis, order).handle());
}
/// The bits of bytes as elements, of all in C order (numpy.unpackbits).
template <class A, detail::if_array<A> = 0>
array<std::uint8_t> unpackbits(const A& a) {
  return array<std::uint8_t>(detail::unpackbits(a, nullptr, nullptr, bit_order::big).handle());
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
array<std::uint8_t> unpackbits(const A& a, std::int64_t axis, bit_order order = bit_order::big) {
  return array<std::uint8_t>(detail::unpackbits(a, &axis, nullptr, order).handle());
}
/// The first `count` bits along an axis, or all but so many when it is negative.
template <class A, detail::if_array<A> = 0>
array<std::uint8_t> unpackbits(const A& a, std::int64_t axis, std::int64_t count,
                               bit_order order = bit_order::big) {
  return array<std::uint8_t>(detail::unpackbits(a, &axis, &count, order).handle());
}

}  // namespace plait
