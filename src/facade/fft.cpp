// Fourier transforms.
#include "numpy_compat/fft.hpp"

#include "box.hpp"
#include "plait/fft.hpp"

namespace plait::detail {

Handle fft(transform t, const Handle& a, std::int64_t n, std::int64_t axis) {
  constexpr const char* names[] = {"fft::fft", "fft::ifft", "fft::rfft", "fft::irfft"};
  constexpr decltype(&numpy::fft::fft) functions[] = {numpy::fft::fft, numpy::fft::ifft,
                                                      numpy::fft::rfft, numpy::fft::irfft};
  const auto i = static_cast<std::size_t>(t);
  return made(names[i], [&] {
    return functions[i](unwrap(a), n == -1 ? numpy::fft::Length() : numpy::fft::Length(n), axis);
  });
}
Handle fftn(const Handle& a, const Span* axes, bool forward) {
  return made(forward ? "fft::fftn" : "fft::ifftn",
              [&] { return numpy::fft::fftn(unwrap(a), optional_dims(axes), forward); });
}
Handle fft_frequencies(std::int64_t n, double spacing, bool half) {
  return made("fft::fftfreq", [&] {
    return half ? numpy::fft::rfftfreq(n, spacing) : numpy::fft::fftfreq(n, spacing);
  });
}
Handle fftshift(const Handle& a, const Span* axes, bool back) {
  return made("fft::fftshift",
              [&] { return numpy::fft::fftshift(unwrap(a), optional_dims(axes), back); });
}

}  // namespace plait::detail
