// Discrete Fourier transforms, numpy.fft's. What is single precision stays so.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {
enum class transform : std::uint8_t { fft, ifft, rfft, irfft };
PLAIT_API Handle fft(transform t, const Handle& a, std::int64_t n, std::int64_t axis);
PLAIT_API Handle hfft(const Handle& a, std::int64_t n, std::int64_t axis, bool back);
PLAIT_API Handle fftn(const Handle& a, const Span* axes, bool forward);
PLAIT_API Handle fft_frequencies(std::int64_t n, double spacing, bool half);
PLAIT_API Handle fftshift(const Handle& a, const Span* axes, bool back);

// What a transform of A computes in.
template <class A>
using precision_of =
    std::conditional_t<sizeof(element_t<real_of(dtype_of_v<element_of<A>>)>) < sizeof(double) &&
                           kind_of(real_of(dtype_of_v<element_of<A>>)) == kind::floating,
                       float, double>;
template <class A>
using spectrum_of = array<std::complex<precision_of<A>>>;
}  // namespace detail

namespace fft {

// Of the lines along an axis, cut or padded with zeros to n elements; -1: as many as there are.
// Throws AxisError, and ValueError for no elements.
template <class A, detail::if_array<A> = 0>
auto fft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return detail::spectrum_of<A>(detail::fft(detail::transform::fft, a.handle(), n, axis));
}
template <class A, detail::if_array<A> = 0>
auto ifft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return detail::spectrum_of<A>(detail::fft(detail::transform::ifft, a.handle(), n, axis));
}
// Of real numbers: the half that is not redundant, n / 2 + 1 complex numbers; and back to n real
// ones, -1: an even number.
template <class A, detail::if_array<A> = 0>
auto rfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  static_assert(detail::kind_of(dtype_of_v<detail::element_of<A>>) != detail::kind::complex,
                "plait: rfft takes real numbers; fft takes complex ones");
  return detail::spectrum_of<A>(detail::fft(detail::transform::rfft, a.handle(), n, axis));
}
template <class A, detail::if_array<A> = 0>
auto irfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return array<detail::precision_of<A>>(detail::fft(detail::transform::irfft, a.handle(), n, axis));
}
// Of the half of a spectrum that is real, because what it is of is Hermitian: n real numbers, -1:
// an even number; and back to the half of a signal.
template <class A, detail::if_array<A> = 0>
auto hfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return array<detail::precision_of<A>>(detail::hfft(a.handle(), n, axis, false));
}
template <class A, detail::if_array<A> = 0>
auto ihfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  static_assert(detail::kind_of(dtype_of_v<detail::element_of<A>>) != detail::kind::complex,
                "plait: ihfft takes real numbers");
  return detail::spectrum_of<A>(detail::hfft(a.handle(), n, axis, true));
}
// Along the axes, or all of them.
#define PLAIT_TRANSFORM(name, forward)                                         \
  template <class A, detail::if_array<A> = 0>                                  \
  auto name(const A& a) {                                                      \
    return detail::spectrum_of<A>(detail::fftn(a.handle(), nullptr, forward)); \
  }                                                                            \
  template <class A, detail::if_array<A> = 0>                                  \
  auto name(const A& a, const extents& axes) {                                 \
    const detail::Span s = detail::span_of(axes);                              \
    return detail::spectrum_of<A>(detail::fftn(a.handle(), &s, forward));      \
  }
PLAIT_TRANSFORM(fftn, true)
PLAIT_TRANSFORM(ifftn, false)
#undef PLAIT_TRANSFORM
// Along the last two axes.
template <class A, detail::if_array<A> = 0>
auto fft2(const A& a) {
  return fftn(a, {-2, -1});
}
template <class A, detail::if_array<A> = 0>
auto ifft2(const A& a) {
  return ifftn(a, {-2, -1});
}
template <class A, detail::if_array<A> = 0>
auto rfft2(const A& a) {
  return fft(rfft(a), -1, -2);
}
template <class A, detail::if_array<A> = 0>
auto irfft2(const A& a, std::int64_t n = -1) {
  return irfft(ifft(a, -1, -2), n);
}

// The frequencies of n points that lie `spacing` apart: all, and those of rfft.
template <class T = double>
array<T> fftfreq(std::int64_t n, double spacing = 1) {
  return array<T>(detail::fft_frequencies(n, spacing, false));
}
template <class T = double>
array<T> rfftfreq(std::int64_t n, double spacing = 1) {
  return array<T>(detail::fft_frequencies(n, spacing, true));
}
// Frequency zero to the middle of the axes, or of all of them; and back.
#define PLAIT_SHIFT(name, back)                                          \
  template <class A, detail::if_array<A> = 0>                            \
  detail::like<A> name(const A& a) {                                     \
    return detail::like<A>(detail::fftshift(a.handle(), nullptr, back)); \
  }                                                                      \
  template <class A, detail::if_array<A> = 0>                            \
  detail::like<A> name(const A& a, const extents& axes) {                \
    const detail::Span s = detail::span_of(axes);                        \
    return detail::like<A>(detail::fftshift(a.handle(), &s, back));      \
  }
PLAIT_SHIFT(fftshift, false)
PLAIT_SHIFT(ifftshift, true)
#undef PLAIT_SHIFT

}  // namespace fft
}  // namespace plait
