// Window functions of n points, numpy.hanning and its kin.
#pragma once
#include "plait/special.hpp"

namespace plait {

namespace detail {
enum class window : std::uint8_t { bartlett, blackman, hamming, hanning };
PLAIT_API any_array window_of(window w, std::int64_t n);
PLAIT_API any_array kaiser(std::int64_t n, double beta);
}  // namespace detail

#define PLAIT_WINDOW(name)                                                     \
  inline array<double> name(std::int64_t n) {                                  \
    return array<double>(detail::window_of(detail::window::name, n).handle()); \
  }
PLAIT_WINDOW(bartlett)
PLAIT_WINDOW(blackman)
PLAIT_WINDOW(hamming)
PLAIT_WINDOW(hanning)
#undef PLAIT_WINDOW
inline array<double> kaiser(std::int64_t n, double beta) {
  return array<double>(detail::kaiser(n, beta).handle());
}

}  // namespace plait
