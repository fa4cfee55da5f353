// Fourier transforms.
#include "numpy_compat/fft.hpp"

#include "box.hpp"
#include "numpy_compat/record.hpp"
#include "plait/fft.hpp"

namespace plait::detail {

namespace {
tracer::Array conjugate(const tracer::Array& a) {
  return is_complex(a.dtype) ? numpy::call(OpId::Conjugate, a) : a;
}
}  // namespace

Handle fft(transform t, const Handle& a, std::int64_t n, std::int64_t axis) {
  constexpr const char* names[] = {"fft::fft", "fft::ifft", "fft::rfft", "fft::irfft"};
  constexpr decltype(&numpy::fft::fft) functions[] = {numpy::fft::fft, numpy::fft::ifft,
                                                      numpy::fft::rfft, numpy::fft::irfft};
  const auto i = static_cast<std::size_t>(t);
  return made(names[i], [&] {
    return functions[i](unwrap(a), n == -1 ? numpy::fft::Length() : numpy::fft::Length(n), axis);
  });
}
Handle hfft(const Handle& a, std::int64_t n, std::int64_t axis, bool back) {
  return made(back ? "fft::ihfft" : "fft::hfft", [&] {
    const numpy::fft::Length given = n == -1 ? numpy::fft::Length() : numpy::fft::Length(n);
    const tracer::Array& x = unwrap(a);
    const tracer::Array y =
        back ? numpy::fft::rfft(x, given, axis) : numpy::fft::irfft(conjugate(x), given, axis);
    const int along = numpy::normalize_axis(axis, x.ndim());
    // What the transform of that direction divides by, or does not.
    const auto length = static_cast<double>(back && n == -1 ? x.shape[along] : n);
    return back ? numpy::call(OpId::Divide, conjugate(y), numpy::weak(length))
                : numpy::call(OpId::Multiply, y, numpy::weak(static_cast<double>(y.shape[along])));
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
