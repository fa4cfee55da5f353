// Window functions of n points, numpy.hanning and its kin.
#pragma once
#include "plait/special.hpp"

namespace plait {

namespace detail {
enum class window : std::uint8_t { bartlett, blackman, hamming, hanning };
PLAIT_API any_array window_of(window w, std::int64_t n);
PLAIT_API any_array kaiser(std::int64_t n, double beta);
}  // namespace detail

/// The triangular window of n points (numpy.bartlett).
inline array<double> bartlett(std::int64_t n) {
  return array<double>(detail::window_of(detail::window::bartlett, n).handle());
}
/// The Blackman window of n points (numpy.blackman).
inline array<double> blackman(std::int64_t n) {
  return array<double>(detail::window_of(detail::window::blackman, n).handle());
}
/// The Hamming window of n points (numpy.hamming).
inline array<double> hamming(std::int64_t n) {
  return array<double>(detail::window_of(detail::window::hamming, n).handle());
}
/// The Hann window of n points (numpy.hanning).
inline array<double> hanning(std::int64_t n) {
  return array<double>(detail::window_of(detail::window::hanning, n).handle());
}
/// The Kaiser window of n points and of shape `beta` (numpy.kaiser).
inline array<double> kaiser(std::int64_t n, double beta) {
  return array<double>(detail::kaiser(n, beta).handle());
}

}  // namespace plait
