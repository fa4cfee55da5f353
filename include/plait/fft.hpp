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

/// The transform of the lines along an axis, cut or padded with zeros to n elements; -1: as many as
/// there are (numpy.fft.fft). Gives complex64 of single precision and less, else complex128.
/// AxisError; ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto fft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return detail::spectrum_of<A>(detail::fft(detail::transform::fft, a.handle(), n, axis));
}
/// The inverse of fft() (numpy.fft.ifft).
template <class A, detail::if_array<A> = 0>
auto ifft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return detail::spectrum_of<A>(detail::fft(detail::transform::ifft, a.handle(), n, axis));
}
/// fft() of real numbers: the half that is not redundant, n / 2 + 1 complex numbers
/// (numpy.fft.rfft).
template <class A, detail::if_array<A> = 0>
auto rfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  static_assert(detail::kind_of(dtype_of_v<detail::element_of<A>>) != detail::kind::complex,
                "plait: rfft takes real numbers; fft takes complex ones");
  return detail::spectrum_of<A>(detail::fft(detail::transform::rfft, a.handle(), n, axis));
}
/// The inverse of rfft(): n real numbers; -1: an even number (numpy.fft.irfft).
template <class A, detail::if_array<A> = 0>
auto irfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return array<detail::precision_of<A>>(detail::fft(detail::transform::irfft, a.handle(), n, axis));
}
/// The spectrum of what is Hermitian, of one half of it, which is real: n numbers; -1: an even
/// number (numpy.fft.hfft).
template <class A, detail::if_array<A> = 0>
auto hfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  return array<detail::precision_of<A>>(detail::hfft(a.handle(), n, axis, false));
}
/// The inverse of hfft(): one half of a signal (numpy.fft.ihfft).
template <class A, detail::if_array<A> = 0>
auto ihfft(const A& a, std::int64_t n = -1, std::int64_t axis = -1) {
  static_assert(detail::kind_of(dtype_of_v<detail::element_of<A>>) != detail::kind::complex,
                "plait: ihfft takes real numbers");
  return detail::spectrum_of<A>(detail::hfft(a.handle(), n, axis, true));
}
/// The transform along all axes (numpy.fft.fftn).
template <class A, detail::if_array<A> = 0>
auto fftn(const A& a) {
  return detail::spectrum_of<A>(detail::fftn(a.handle(), nullptr, true));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto fftn(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::spectrum_of<A>(detail::fftn(a.handle(), &s, true));
}
/// The inverse transform along all axes (numpy.fft.ifftn).
template <class A, detail::if_array<A> = 0>
auto ifftn(const A& a) {
  return detail::spectrum_of<A>(detail::fftn(a.handle(), nullptr, false));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto ifftn(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::spectrum_of<A>(detail::fftn(a.handle(), &s, false));
}
/// The transform along the last two axes (numpy.fft.fft2).
template <class A, detail::if_array<A> = 0>
auto fft2(const A& a) {
  return fftn(a, {-2, -1});
}
/// The inverse transform along the last two axes (numpy.fft.ifft2).
template <class A, detail::if_array<A> = 0>
auto ifft2(const A& a) {
  return ifftn(a, {-2, -1});
}
/// The transform of real numbers along the last two axes (numpy.fft.rfft2).
template <class A, detail::if_array<A> = 0>
auto rfft2(const A& a) {
  return fft(rfft(a), -1, -2);
}
/// The inverse of rfft2() (numpy.fft.irfft2).
template <class A, detail::if_array<A> = 0>
auto irfft2(const A& a, std::int64_t n = -1) {
  return irfft(ifft(a, -1, -2), n);
}

/// The frequencies of n points that lie `spacing` apart (numpy.fft.fftfreq).
template <class T = double>
array<T> fftfreq(std::int64_t n, double spacing = 1) {
  return array<T>(detail::fft_frequencies(n, spacing, false));
}
/// Those of rfft() (numpy.fft.rfftfreq).
template <class T = double>
array<T> rfftfreq(std::int64_t n, double spacing = 1) {
  return array<T>(detail::fft_frequencies(n, spacing, true));
}
/// Moves frequency zero to the middle of all axes (numpy.fft.fftshift).
template <class A, detail::if_array<A> = 0>
detail::like<A> fftshift(const A& a) {
  return detail::like<A>(detail::fftshift(a.handle(), nullptr, false));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
detail::like<A> fftshift(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::fftshift(a.handle(), &s, false));
}
/// Moves frequency zero from the middle of all axes to their front (numpy.fft.ifftshift).
template <class A, detail::if_array<A> = 0>
detail::like<A> ifftshift(const A& a) {
  return detail::like<A>(detail::fftshift(a.handle(), nullptr, true));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
detail::like<A> ifftshift(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::fftshift(a.handle(), &s, true));
}
}  // namespace fft
}  // namespace plait
