#include "long_fft.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "core/buffer.hpp"
#include "engine/calls/lines.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kLeast = 1 << 16;
constexpr std::int64_t kLines = 16;       // transformed together: a run of 256 bytes in memory
constexpr double kElementSeconds = 6e-9;  // an element of a round

// rows * columns == n with both near the root of n; 0 rows where there are none.
struct Cut {
  std::int64_t rows = 0, columns = 0;
};
Cut cut(std::int64_t n) {
  auto r = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  for (const std::int64_t least = r / 4; r > least && r > 1; --r)
    if (n % r == 0) return {r, n / r};
  return {};
}
std::int64_t complex_length(std::int64_t n, DType t) { return is_complex(t) ? n : n / 2; }

// exp(-2 pi i j / n) for 0 <= j < n as the product of two entries; in double precision.
class Roots {
 public:
  explicit Roots(std::int64_t n) {
    while ((std::int64_t{1} << (2 * shift_)) < n) ++shift_;
    const std::int64_t step = std::int64_t{1} << shift_;
    for (std::int64_t j = 0; j < step; ++j) low_.push_back(root(j, n));
    for (std::int64_t j = 0; j < n; j += step) high_.push_back(root(j, n));
  }
  std::complex<double> operator[](std::int64_t j) const {
    const std::complex<double>&a = high_[static_cast<std::size_t>(j >> shift_)],
          &b = low_[static_cast<std::size_t>(j & ((std::int64_t{1} << shift_) - 1))];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  static std::complex<double> root(std::int64_t j, std::int64_t n) {
    const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(j) /
                              static_cast<long double>(n);
    return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
  }
  int shift_ = 0;
  std::vector<std::complex<double>> low_, high_;
};

template <class T>
using Complex = std::complex<T>;

template <class T>
Complex<T> times(Complex<T> a, Complex<double> w) {
  const double re = a.real(), im = a.imag();
  return {static_cast<T>(re * w.real() - im * w.imag()),
          static_cast<T>(re * w.imag() + im * w.real())};
}

template <class T>
class Rounds {
 public:
  Rounds(const LongFft& f, std::int64_t n, const Roots& roots)
      : f_(f), cut_(cut(n)), n_(n), roots_(roots) {
    between_ = allocate(static_cast<std::size_t>(n) * sizeof(Complex<T>));
  }

  // `load(from, count, to)` gives elements of the line.
  template <class Load>
  void run(Load&& load, T scale, Complex<T>* out) {
    auto* const between = reinterpret_cast<Complex<T>*>(between_->data);
    const auto [rows, columns] = cut_;
    blocks(columns, rows,
           [&](std::int64_t first, std::int64_t count, Complex<T>* a, Complex<T>* b) {
             for (std::int64_t r = 0; r < rows; ++r) {
               Complex<T> line[kLines];
               load(r * columns + first, count, line);
               for (std::int64_t c = 0; c < count; ++c) a[c * rows + r] = line[c];
             }
             transform(a, b, count, rows, T{1});
             for (std::int64_t c = 0; c < count; ++c) {
               Complex<T>* const line = b + c * rows;
               std::int64_t power = 0;
               for (std::int64_t r = 0; r < rows; ++r, power += first + c) {
                 const Complex<double> w = roots_[power];
                 line[r] = times(line[r], f_.forward ? w : std::conj(w));
               }
             }
             for (std::int64_t r = 0; r < rows; ++r)
               for (std::int64_t c = 0; c < count; ++c)
                 between[r * columns + first + c] = b[c * rows + r];
           });
    blocks(rows, columns, [&](std::int64_t first, std::int64_t count, Complex<T>*, Complex<T>* b) {
      transform(between + first * columns, b, count, columns, scale);
      for (std::int64_t k = 0; k < columns; ++k)
        for (std::int64_t r = 0; r < count; ++r) out[k * rows + first + r] = b[r * columns + k];
    });
  }

 private:
  // block(first line, lines, scratch, scratch) for all lines of `length` elements.
  template <class Block>
  void blocks(std::int64_t lines, std::int64_t length, Block&& block) {
    const double seconds = static_cast<double>(n_) * kElementSeconds;
    run_pieces((lines + kLines - 1) / kLines, seconds, 1,
               [&](std::int64_t begin, std::int64_t end) {
                 if (begin == end) return;
                 const Ref<Buffer> scratch =
                     allocate(static_cast<std::size_t>(2 * kLines * length) * sizeof(Complex<T>));
                 auto* const a = reinterpret_cast<Complex<T>*>(scratch->data);
                 for (std::int64_t i = begin; i < end; ++i)
                   block(i * kLines, std::min(kLines, lines - i * kLines), a, a + kLines * length);
               });
  }
  void transform(const Complex<T>* in, Complex<T>* out, std::int64_t lines, std::int64_t length,
                 T scale) const {
    char* args[] = {const_cast<char*>(reinterpret_cast<const char*>(in)),
                    reinterpret_cast<char*>(&scale), reinterpret_cast<char*>(out)};
    const std::intptr_t item = sizeof(Complex<T>), line = length * item;
    const std::intptr_t dims[] = {lines, length, length}, steps[] = {line, 0, line, item, item};
    f_.fn(args, dims, steps, f_.data);
  }

  const LongFft& f_;
  Cut cut_;
  std::int64_t n_;
  const Roots& roots_;
  Ref<Buffer> between_;
};

template <class T>
void run_complex(const LongFft& f, const char* in, std::int64_t n, std::int64_t stride, char* to) {
  const Roots roots(n);
  Rounds<T>(f, n, roots)
      .run(
          [&](std::int64_t from, std::int64_t count, Complex<T>* line) {
            for (std::int64_t i = 0; i < count; ++i)
              std::memcpy(&line[i], in + (from + i) * stride, sizeof line[i]);
          },
          static_cast<T>(f.scale), reinterpret_cast<Complex<T>*>(to));
}

// Even and odd elements are real and imaginary parts of a line half as long, whose transform is
// taken apart by its symmetry.
template <class T>
void run_real(const LongFft& f, const char* in, std::int64_t n, std::int64_t stride, char* to) {
  const std::int64_t half = n / 2;
  auto* const out = reinterpret_cast<Complex<T>*>(to);
  {
    const Roots roots(half);
    Rounds<T>(f, half, roots)
        .run(
            [&](std::int64_t from, std::int64_t count, Complex<T>* line) {
              for (std::int64_t i = 0; i < count; ++i) {
                T parts[2];
                std::memcpy(&parts[0], in + 2 * (from + i) * stride, sizeof(T));
                std::memcpy(&parts[1], in + (2 * (from + i) + 1) * stride, sizeof(T));
                line[i] = {parts[0], parts[1]};
              }
            },
            static_cast<T>(f.scale), out);
  }
  const Roots roots(n);
  const Complex<T> first = out[0];
  out[0] = {first.real() + first.imag(), 0};
  out[half] = {first.real() - first.imag(), 0};
  // k and half - k together; the one in the middle with itself.
  run_pieces(half / 2, static_cast<double>(half) * 2e-9, 1 << 12,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t k = begin + 1; k <= end; ++k) {
                 const Complex<T> a = out[k], b = std::conj(out[half - k]);
                 const Complex<T> even = (a + b) * T(0.5), odd = (a - b) * T(0.5);
                 const Complex<T> turned = times(Complex<T>(odd.imag(), -odd.real()), roots[k]);
                 out[k] = even + turned;
                 out[half - k] = std::conj(even - turned);
               }
             });
}

}  // namespace

bool LongFft::takes(std::int64_t n, DType t) {
  const std::int64_t length = complex_length(n, t);
  return length >= kLeast && (is_complex(t) || n % 2 == 0) && cut(length).rows > 0;
}

void LongFft::run(DType t, const char* in, std::int64_t n, std::int64_t stride, char* out) const {
  switch (t) {
    case DType::Complex64:
      return run_complex<float>(*this, in, n, stride, out);
    case DType::Complex128:
      return run_complex<double>(*this, in, n, stride, out);
    case DType::Float32:
      return run_real<float>(*this, in, n, stride, out);
    default:
      return run_real<double>(*this, in, n, stride, out);
  }
}

}  // namespace plait::engine
