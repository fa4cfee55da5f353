#include <algorithm>
#include <complex>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using namespace plait;
using plait::placeholders::_;

namespace {

const double kPi = std::acos(-1.0);

// A melody through a short-time transform: the loudest bin of each frame is the note that sounds.
void stft() {
  const int rate = 8000, size = 256, hop = 128;
  const double notes[] = {440, 660, 880};
  std::vector<array<double>> parts;
  for (double f : notes) parts.push_back(sin(2 * kPi * f / rate * arange<double>(0, 2048)));
  array<double> sound = concatenate(parts);
  auto frames = view(sliding_window_view(sound, size), range(_, _, hop));
  array<double> magnitude = abs(fft::rfft(frames * hanning(size)));
  auto loudest = argmax(magnitude, 1) * (double(rate) / size);
  expect(magnitude.shape(0) == (3 * 2048 - size) / hop + 1 && magnitude.shape(1) == size / 2 + 1,
         "frames");
  for (int frame : {3, 22, 40}) {
    const double note = notes[frame * hop / 2048];
    expect(std::fabs(loudest(frame) - note) <= double(rate) / size, "note");
  }
  std::complex<double> plain = 0;
  for (int t = 0; t < size; ++t)
    plain += sound(5 * hop + t) * (0.5 - 0.5 * std::cos(2 * kPi * t / (size - 1))) *
             std::polar(1.0, -2 * kPi * 14 * t / size);
  expect_near(magnitude(5, 14), std::abs(plain), 1e-10, "bin");
}

// Autocorrelation by transforms and by sums; the period is its first peak.
void autocorrelation() {
  random::engine rng(1);
  const int n = 500;
  array<double> x = cos(2 * kPi / 25 * arange<double>(n)) + rng.normal(0, 0.1, {n});
  x -= mean(x);
  auto power = fft::rfft(x, 2 * n);
  array<double> r = view(fft::irfft(power * conj(power), 2 * n), range(0, n));
  r /= r(0).value();
  array<double> direct = view(correlate(x, x, convolve_mode::full), range(n - 1, _));
  expect(allclose(r, direct / direct(0), 1e-9, 1e-12), "by sums");
  expect(argmax(view(r, range(10, 40))).item() + 10 == 25, "period");
  double lag = 0, zero = 0;
  for (int t = 0; t < n; ++t) zero += x(t) * x(t);
  for (int t = 0; t + 7 < n; ++t) lag += x(t) * x(t + 7);
  expect_near(r(7), lag / zero, 1e-11, "lag 7");
}

// An AR(2) process and the coefficients that Yule and Walker find in it.
void yule_walker() {
  random::engine rng(8);
  const int n = 4000;
  array<double> noise = rng.standard_normal({n});
  std::vector<double> x(n);
  const double* e = noise.data();
  for (std::size_t t = 0; t < x.size(); ++t)
    x[t] = e[t] + (t > 0 ? 0.6 * x[t - 1] : 0) - (t > 1 ? 0.3 * x[t - 2] : 0);
  array<double> series(x), r = zeros<double>({3});
  for (int lag = 0; lag < 3; ++lag)
    r(lag) = dot(view(series, range(lag, _)), view(series, range(_, n - lag))) / n;
  auto lags = abs(view(arange(2), all(), newaxis()) - arange(2));
  array<double> phi = linalg::solve(take(r, lags), view(r, range(1, _)));
  const double determinant = r(0) * r(0) - r(1) * r(1);
  expect_near(phi(0), (r(1) * r(0) - r(1) * r(2)) / determinant, 1e-12, "first");
  expect(std::fabs(phi(0) - 0.6) < 0.05 && std::fabs(phi(1) + 0.3) < 0.05, "close");
}

// Exponential averages of many series, forwards in time.
void ewma() {
  random::engine rng(2);
  array<double> prices = exp(cumsum(rng.normal(0, 0.01, {50, 8}), 0));
  array<double> smooth = empty_like(prices);
  const double alpha = 0.2;
  row(smooth, 0) = row(prices, 0);
  for (int t = 1; t < 50; ++t)
    row(smooth, t) = alpha * row(prices, t) + (1 - alpha) * row(smooth, t - 1);
  // The same as weights of the past.
  auto weights = alpha * pow(1 - alpha, arange<double>(49, -1, -1));
  weights(0) /= alpha;
  expect(allclose(matmul(weights, prices), row(smooth, 49), 1e-12), "weights");
  double s = prices(0, 3);
  for (int t = 1; t < 50; ++t) s = alpha * prices(t, 3) + (1 - alpha) * s;
  expect_near(smooth(-1, 3), s, 1e-13, "loop");
}

// A hundred Kalman filters of constant velocity in step.
void kalman() {
  const int n = 100, steps = 30;
  random::engine rng(21);
  array<double> truth = rng.normal(0, 1, {n, 2, 1}), z = empty<double>({steps, n, 1, 1});
  const array<double> F{{1, 1}, {0, 1}}, H{{1, 0}}, Q = 1e-3 * eye(2), R{{0.25}};
  for (int t = 0; t < steps; ++t) {
    truth = matmul(F, truth);
    view(z, t) = matmul(H, truth) + rng.normal(0, 0.5, {n, 1, 1});
  }
  array<double> x = zeros<double>({n, 2, 1}), P = 10.0 * broadcast_to(eye(2), {n, 2, 2});
  for (int t = 0; t < steps; ++t) {
    x = matmul(F, x);
    P = matmul(matmul(F, P), transpose(F)) + Q;
    auto S = matmul(matmul(H, P), transpose(H)) + R;
    auto K = matmul(matmul(P, transpose(H)), linalg::inv(S));
    x = x + matmul(K, view(z, t) - matmul(H, x));
    P = matmul(eye(2) - matmul(K, H), P);
  }
  double p[2][2] = {{10, 0}, {0, 10}}, at = 0, velocity = 0;
  for (int t = 0; t < steps; ++t) {
    at += velocity;
    const double a = p[0][0] + p[0][1] + p[1][0] + p[1][1] + 1e-3, b = p[0][1] + p[1][1],
                 d = p[1][1] + 1e-3, c = p[1][0] + p[1][1];
    const double k0 = a / (a + 0.25), k1 = c / (a + 0.25), innovation = z(t, 17, 0, 0) - at;
    at += k0 * innovation;
    velocity += k1 * innovation;
    p[0][0] = (1 - k0) * a, p[0][1] = (1 - k0) * b, p[1][0] = c - k1 * a, p[1][1] = d - k1 * b;
  }
  expect_near(x(17, 0, 0), at, 1e-10, "position");
  expect_near(x(17, 1, 0), velocity, 1e-10, "velocity");
  expect(mean(abs(x - truth)).item() < 0.3, "close to the truth");
}

// A known pulse in noise: the matched filter, and the times of threshold crossings.
void detection() {
  random::engine rng(12);
  array<double> pulse = blackman(32) * sin(0.9 * arange<double>(32));
  array<double> signal = rng.normal(0, 0.1, {1000});
  for (int at : {200, 640}) view(signal, range(at, at + 32)) += pulse;
  array<double> score = correlate(signal, pulse, convolve_mode::valid) / norm_l2(pulse);
  auto above = score > 0.8 * amax(score);
  auto rises = flatnonzero(diff(above.astype<int>()) == 1) + 1;
  expect(argmax(view(score, range(0, 400))).item() == 200, "first");
  expect(argmax(view(score, range(400, _))).item() + 400 == 640, "second");
  expect(rises.size() >= 2 && rises(0) <= 200, "rises");
  double sum = 0, energy = 0;
  for (int i = 0; i < 32; ++i) {
    sum += signal(203 + i) * pulse(i);
    energy += pulse(i) * pulse(i);
  }
  expect_near(score(203), sum / std::sqrt(energy), 1e-11, "score");
}

// Impulses out of a signal by a running median.
void despike() {
  random::engine rng(6);
  array<double> clean = sin(linspace(0, 6, 200)), noisy = clean.copy();
  noisy[rng.choice(200, 20, false)] = 9.0;
  array<double> filtered = median(sliding_window_view(pad(noisy, 2, pad_mode::edge), 5), -1);
  expect(filtered.shape() == clean.shape(), "shape");
  expect(count_nonzero(abs(filtered - clean) > 1.0).item() < count_nonzero(noisy == 9.0).item(),
         "fewer");
  std::vector<double> window;
  for (int i = 98; i < 103; ++i) window.push_back(noisy(i));
  std::sort(window.begin(), window.end());
  expect(filtered(100) == window[2], "median");
}

// Morphology: opening removes specks, distances and labels spread by neighbours.
void morphology() {
  array<bool> image = zeros<bool>({12, 16});
  view(image, range(2, 7), range(3, 9)) = true;
  image(9, 12) = true;
  view(image, range(8, 11), range(1, 4)) = true;
  const auto windows = [](const array<bool>& m) { return sliding_window_view(pad(m, 1), {3, 3}); };
  auto eroded = all(windows(image), {2, 3});
  auto opened = any(windows(eroded), {2, 3});
  expect(count_nonzero(image).item() == 40 && count_nonzero(opened).item() == 39, "opening");
  expect(array_equal(opened & image, opened), "inside");

  array<std::int64_t> labels = where(image, arange(1, 12 * 16 + 1).reshape({12, 16}), 0);
  for (;;) {
    auto p = pad(labels, 1);
    array<std::int64_t> next = labels;
    for (auto [dy, dx] : {std::pair{0, 1}, {2, 1}, {1, 0}, {1, 2}})
      next = maximum(next, view(p, range(dy, dy + 12), range(dx, dx + 16)));
    next = where(image, next, 0);
    if (array_equal(next, labels)) break;
    labels = next;
  }
  auto [names, sizes] = unique_counts(labels[image]);
  std::vector<std::int64_t> found(sizes.begin(), sizes.end());
  std::sort(found.begin(), found.end());
  expect(found == std::vector<std::int64_t>{1, 9, 30}, "three things");
}

// Otsu's threshold from the histogram of an image.
void otsu() {
  random::engine rng(31);
  array<std::uint8_t> dark = rng.integers(20, 90, {60, 40}).astype<std::uint8_t>(),
                      light = rng.integers(140, 230, {60, 30}).astype<std::uint8_t>();
  array<std::uint8_t> image = hstack({dark, light});
  array<double> p = bincount(ravel(image), 256) / double(image.size());
  auto w = cumsum(p), m = cumsum(p * arange(256));
  auto between = pow(m(255) * w - m, 2) / (w * (1.0 - w));
  const auto threshold = nanargmax(where(isfinite(between), between, 0.0)).item();
  expect(threshold >= 89 && threshold < 140, "between");
  expect(array_equal(image > threshold, image >= 140), "light");

  double best = -1;
  int at = 0;
  for (int t = 0; t < 256; ++t) {
    double n0 = 0, n1 = 0, s0 = 0, s1 = 0;
    for (std::uint8_t v : image) (v <= t ? n0 : n1) += 1, (v <= t ? s0 : s1) += v;
    if (n0 == 0 || n1 == 0) continue;
    const double spread = n0 * n1 * std::pow(s0 / n0 - s1 / n1, 2);
    if (spread > best * (1 + 1e-12)) best = spread, at = t;
  }
  expect(threshold == at, "threshold");
}

// An image turned by bilinear interpolation between its pixels.
void resample() {
  array<float> image =
      fromfunction<float>([](auto i, auto j) { return 2 * i + 3 * j + 1; }, 20, 30);
  auto [y, x] = meshgrid(indexing::ij, linspace<float>(1, 18, 25), linspace<float>(2, 27, 35));
  const double angle = 0.1;
  array<double> u = std::cos(angle) * (y - 10) - std::sin(angle) * (x - 15) + 10;
  array<double> v = std::sin(angle) * (y - 10) + std::cos(angle) * (x - 15) + 15;
  auto inside = (u >= 0) & (u < 19) & (v >= 0) & (v < 29);
  array<std::int64_t> i = clip(floor(u), 0, 18).astype<std::int64_t>();
  array<std::int64_t> j = clip(floor(v), 0, 28).astype<std::int64_t>();
  auto fu = u - i, fv = v - j;
  const auto pixel = [&](const array<std::int64_t>& a, const array<std::int64_t>& b) {
    return take(image, a * 30 + b);
  };
  auto turned = where(inside,
                      (1 - fu) * ((1 - fv) * pixel(i, j) + fv * pixel(i, j + 1)) +
                          fu * ((1 - fv) * pixel(i + 1, j) + fv * pixel(i + 1, j + 1)),
                      0.0);
  // Of a plane, interpolation is the plane.
  expect(allclose(turned, where(inside, 2 * u + 3 * v + 1, 0.0), 1e-5), "plane");
  expect(any(inside).item() && !all(inside).item(), "corners");
}

// Speech as telephones send it: eight bits by the mu-law.
void telephone() {
  array<float> sound = 0.8f * sin(0.05f * arange<float>(400));
  const double mu = 255;
  auto squeezed = sign(sound) * log1p(mu * abs(sound)) / std::log1p(mu);
  array<std::int8_t> sent = rint(squeezed * 127).astype<std::int8_t>();
  auto heard = sent.astype<float>() / 127;
  auto back = sign(heard) * expm1(abs(heard) * std::log1p(mu)) / mu;
  expect(back.dtype() == dtype::float32, "single precision");
  expect(amax(abs(back - sound)).item() < 0.02f, "close");
  const double s = sound(33), c = std::copysign(std::log1p(mu * std::fabs(s)) / std::log1p(mu), s);
  expect(sent(33) == std::int8_t(std::nearbyint(c * 127)), "byte");
}

// A zero-phase band-pass, and the envelope by the analytic signal.
void envelope() {
  const int n = 512;
  auto t = arange<double>(n);
  array<double> slow = 1 + 0.5 * cos(2 * kPi * 4 / n * t);
  array<double> x = slow * cos(2 * kPi * 64 / n * t) + 3 * sin(2 * kPi * 5 / n * t);
  auto f = fft::fftfreq(n, 1.0 / n);
  auto band = where((f > 50) & (f < 80), 2.0, 0.0);
  array<std::complex<double>> analytic = fft::ifft(fft::fft(x) * band);
  expect(allclose(abs(analytic), slow, 1e-10), "envelope");
  array<double> phase = unwrap(angle(analytic));
  expect(allclose(diff(phase), 2 * kPi * 64 / n, 1e-8), "frequency");
  expect_near(phase(n - 1) - phase(0), 2 * kPi * 64 * (n - 1) / n, 1e-9, "turns");
}

}  // namespace

const std::vector<Program>& signals() {
  static const std::vector<Program> programs{{"stft", stft},
                                             {"autocorrelation", autocorrelation},
                                             {"yule walker", yule_walker},
                                             {"ewma", ewma},
                                             {"kalman", kalman},
                                             {"detection", detection},
                                             {"despike", despike},
                                             {"morphology", morphology},
                                             {"otsu", otsu},
                                             {"resample", resample},
                                             {"telephone", telephone},
                                             {"envelope", envelope}};
  return programs;
}
