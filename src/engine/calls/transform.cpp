// Fourier transforms of lines, by pocketfft: NumPy's algorithms.
#include <complex>
#include <cstring>
#include <vector>

#define POCKETFFT_NO_MULTITHREADING
#include "lines.hpp"
#include "third_party/pocketfft/pocketfft_hdronly.h"

namespace plait::engine {

namespace {

namespace fft = pocketfft::detail;

// each(line of the input, line of the result, scratch of n elements) for all lines.
template <class T, class F>
void each_line(const CallRun& r, std::int64_t n, F&& each) {
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const Lines in(r.inputs[0], axis), out(r.results[0], axis);
  const double line = 2e-9 * static_cast<double>(n) * std::log2(2.0 + static_cast<double>(n));
  run_pieces(in.count(), line * static_cast<double>(in.count()), 1,
             [&](std::int64_t begin, std::int64_t end) {
               std::vector<T> scratch(static_cast<std::size_t>(n));
               for (std::int64_t i = begin; i < end; ++i) each(in[i], out[i], scratch.data());
             });
}
template <class T>
std::byte* bytes(T* p) {
  return reinterpret_cast<std::byte*>(p);
}
template <class T>
T factor(const CallRun& r) {
  return static_cast<T>(r.attributes.scalar.as<double>());
}

template <class T>
void complex_lines(const CallRun& r) {
  using C = fft::cmplx<T>;
  const std::int64_t n = r.inputs[0].shape[static_cast<int>(r.attributes.numbers[0])];
  const fft::pocketfft_c<T> plan(static_cast<std::size_t>(n));
  each_line<C>(r, n, [&](const Line& in, const Line& out, C* line) {
    gather_line(in, sizeof(C), bytes(line));
    plan.exec(line, factor<T>(r), r.attributes.numbers[1] != 0);
    scatter_line(bytes(line), sizeof(C), out);
  });
}

// pocketfft's order of a real line's spectrum: r0, r1, i1, r2, i2 ..., without the imaginary parts
// that are 0.
template <class T>
void from_real_lines(const CallRun& r) {
  const std::int64_t n = r.inputs[0].shape[static_cast<int>(r.attributes.numbers[0])];
  const fft::pocketfft_r<T> plan(static_cast<std::size_t>(n));
  each_line<T>(r, n, [&](const Line& in, const Line& out, T* line) {
    gather_line(in, sizeof(T), bytes(line));
    plan.exec(line, factor<T>(r), true);
    for (std::int64_t k = 0; k < out.n; ++k) {
      const std::int64_t at = 2 * k - 1;
      const T z[] = {line[k == 0 ? 0 : at], k > 0 && at + 1 < n ? line[at + 1] : T(0)};
      std::memcpy(out.data + k * out.stride, z, sizeof z);
    }
  });
}
template <class T>
void to_real_lines(const CallRun& r) {
  const std::int64_t n = r.attributes.numbers[1];
  const fft::pocketfft_r<T> plan(static_cast<std::size_t>(n));
  each_line<T>(r, n, [&](const Line& in, const Line& out, T* line) {
    for (std::int64_t k = 0; k < in.n; ++k) {
      T z[2];
      std::memcpy(z, in.data + k * in.stride, sizeof z);
      const std::int64_t at = 2 * k - 1;
      line[k == 0 ? 0 : at] = z[0];
      if (k > 0 && at + 1 < n) line[at + 1] = z[1];
    }
    plan.exec(line, factor<T>(r), false);
    scatter_line(bytes(line), sizeof(T), out);
  });
}

}  // namespace

void run_fft(const CallRun& r) {
  r.inputs[0].dtype == DType::Complex64 ? complex_lines<float>(r) : complex_lines<double>(r);
}
void run_rfft(const CallRun& r) {
  r.inputs[0].dtype == DType::Float32 ? from_real_lines<float>(r) : from_real_lines<double>(r);
}
void run_irfft(const CallRun& r) {
  r.inputs[0].dtype == DType::Complex64 ? to_real_lines<float>(r) : to_real_lines<double>(r);
}

}  // namespace plait::engine
