// numpy.fft. Lines are cut or padded with zeros to the length that is asked for. Single precision
// stays single; integers are computed in float64, float16 in float32.
#pragma once
#include <optional>

#include "tracer/array.hpp"

namespace plait::numpy::fft {

using tracer::Array;
using Length = std::optional<std::int64_t>;  // of the lines; of irfft's result

Array fft(const Array& a, Length n = {}, std::int64_t axis = -1);
Array ifft(const Array& a, Length n = {}, std::int64_t axis = -1);
Array rfft(const Array& a, Length n = {}, std::int64_t axis = -1);  // of real numbers; DTypeError
Array irfft(const Array& a, Length n = {}, std::int64_t axis = -1);
// Along several axes, the last one first; all of them without `axes`.
Array fftn(const Array& a, const std::optional<Dims>& axes = {}, bool forward = true);

Array fftfreq(std::int64_t n, double spacing = 1);
Array rfftfreq(std::int64_t n, double spacing = 1);
// The zero frequency to the middle of the axes, and back.
Array fftshift(const Array& a, const std::optional<Dims>& axes = {}, bool back = false);

}  // namespace plait::numpy::fft
