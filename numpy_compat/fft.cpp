#include "fft.hpp"

#include <algorithm>
#include <string>

#include "record.hpp"
#include "tracer/calls.hpp"

namespace plait::numpy::fft {
namespace {

bool is_single(DType t) {
  return t == DType::Float16 || t == DType::Float32 || t == DType::Complex64;
}
Array complex_of(const Array& a) {
  return as(a, is_single(a.dtype) ? DType::Complex64 : DType::Complex128);
}

// `size` elements along the axis of which `n` are asked for: the first ones, or zeros behind them.
Array resized(const Array& a, int axis, std::int64_t size, std::int64_t n) {
  if (n < 1)
    throw ValueError("Invalid number of FFT data points (" + std::to_string(n) + ") specified.");
  if (a.shape[axis] == size) return a;
  if (a.shape[axis] > size) return slice_axis(a, axis, 0, size);
  Dims widths;
  for (int i = 0; i < a.ndim(); ++i) {
    widths.push_back(0);
    widths.push_back(i == axis ? size - a.shape[axis] : 0);
  }
  return pad(a, widths, Padding::Constant, plait::cast(scalar_int(0), a.dtype));
}

Array transform(CallId id, const Array& a, const Dims& numbers, double factor) {
  return tracer::call(id, {&a, 1}, {numbers, scalar_float(factor), OpId::Count_})[0];
}
Array complex_transform(const Array& a, Length n, std::int64_t given, bool forward) {
  const int axis = normalize_axis(given, a.ndim());
  const std::int64_t size = n.value_or(a.shape[axis]);
  const Array line = resized(complex_of(a), axis, size, size);
  return transform(CallId::Fft, line, {axis, forward},
                   forward ? 1.0 : 1.0 / static_cast<double>(size));
}
Dims all_axes(const Array& a, const std::optional<Dims>& axes) {
  if (axes) return normalize_axes(*axes, a.ndim());
  Dims all;
  for (int i = 0; i < a.ndim(); ++i) all.push_back(i);
  return all;
}
Array frequencies(std::int64_t n, std::int64_t first, std::int64_t count, double spacing) {
  if (n < 1) throw ValueError("fftfreq: n has to be at least 1, not " + std::to_string(n));
  const Array k = as(tracer::arange(count, scalar_int(first), scalar_int(1)), DType::Float64);
  return call(OpId::Multiply, k, strong(scalar_float(1.0 / (static_cast<double>(n) * spacing))));
}

}  // namespace

Array fft(const Array& a, Length n, std::int64_t axis) {
  return complex_transform(a, n, axis, true);
}
Array ifft(const Array& a, Length n, std::int64_t axis) {
  return complex_transform(a, n, axis, false);
}
Array rfft(const Array& a, Length n, std::int64_t given) {
  if (is_complex(a.dtype))
    throw DTypeError("rfft: takes real numbers, not " + std::string(name(a.dtype)) + "; see fft");
  const int axis = normalize_axis(given, a.ndim());
  const std::int64_t size = n.value_or(a.shape[axis]);
  const Array real = as(a, is_single(a.dtype) ? DType::Float32 : DType::Float64);
  return transform(CallId::Rfft, resized(real, axis, size, size), {axis}, 1.0);
}
Array irfft(const Array& a, Length n, std::int64_t given) {
  const int axis = normalize_axis(given, a.ndim());
  const std::int64_t size = n.value_or(2 * (a.shape[axis] - 1));
  const Array half = resized(complex_of(a), axis, size / 2 + 1, size);
  return transform(CallId::Irfft, half, {axis, size}, 1.0 / static_cast<double>(size));
}
Array fftn(const Array& a, const std::optional<Dims>& axes, bool forward) {
  const Dims along = all_axes(a, axes);
  Array out = complex_of(a);
  for (int i = along.size(); i-- > 0;) out = complex_transform(out, {}, along[i], forward);
  return out;
}

Array fftfreq(std::int64_t n, double spacing) {
  const std::int64_t positive = (n - 1) / 2 + 1;
  const Array parts[] = {frequencies(n, 0, positive, spacing),
                         frequencies(n, positive - n, n - positive, spacing)};
  return concatenate(parts);
}
Array rfftfreq(std::int64_t n, double spacing) { return frequencies(n, 0, n / 2 + 1, spacing); }

Array fftshift(const Array& a, const std::optional<Dims>& axes, bool back) {
  Array out = a;
  for (const std::int64_t axis : all_axes(a, axes)) {
    const std::int64_t n = a.shape[static_cast<int>(axis)];
    out = roll(out, Dims{back ? -(n / 2) : n / 2}, Dims{axis});
  }
  return out;
}

}  // namespace plait::numpy::fft
