// std::vector: an image of a ball on a ring, by marching along rays until they are near a surface.
#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

struct Vec3 {
  array<double> x, y, z;
};
Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec3 operator*(const Vec3& a, const array<double>& t) { return {a.x * t, a.y * t, a.z * t}; }
array<double> dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 normalize(const Vec3& a) { return a * (1.0 / plait::sqrt(dot(a, a))); }

// One source for arrays and numbers.
template <class T>
T scene(const T& x, const T& y, const T& z) {
  using plait::hypot;
  using std::hypot;
  using std::sqrt;
  const T ball = sqrt(x * x + (y - 0.4) * (y - 0.4) + z * z) - 0.6;
  const T ring = hypot(T(hypot(x, z) - 1.2), T(y + 0.3)) - 0.3;
  const T h = 0.2 - (ball - ring) * (ball - ring);  // a soft minimum
  using plait::fmax;
  using plait::fmin;
  using std::fmax;
  using std::fmin;
  return fmin(ball, ring) - fmax(h, T(0.0)) * 0.25;
}

array<double> render(int width, int height) {
  const auto [v, u] = plait::ogrid(range(0, height), range(0, width));
  const auto column = (2.0 * u - width) / double(height) * plait::ones<double>({height, 1});
  const auto row = (height - 2.0 * v) / double(height) * plait::ones<double>({1, width});
  const Vec3 eye{array<double>(0.0), array<double>(0.7), array<double>(-3.0)};
  const Vec3 direction = normalize({column, row - 0.2, 1.5 + plait::zeros_like(column)});
  array<double> t = plait::zeros_like(column);
  array<bool> active = plait::ones<bool>({height, width});
  for (int i = 0; i < 64 && plait::any(active); ++i) {
    const Vec3 p = eye + direction * t;
    const auto d = scene(p.x, p.y, p.z);
    t += plait::where(active, d, 0);
    active = active && d > 1e-4 && t < 10.0;
  }
  const auto hit = t < 10.0;
  const Vec3 p = eye + direction * t;
  const double e = 1e-5;
  const Vec3 normal = normalize({scene(p.x + e, p.y, p.z) - scene(p.x - e, p.y, p.z),
                                 scene(p.x, p.y + e, p.z) - scene(p.x, p.y - e, p.z),
                                 scene(p.x, p.y, p.z + e) - scene(p.x, p.y, p.z - e)});
  const auto light = (normal.x + 2.0 * normal.y - normal.z) / std::sqrt(6.0);
  return plait::where(hit, plait::clip(light, 0.1, 1), 0);
}

Reals loops(int width, int height) {
  Reals image;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) {
      double x = (2.0 * u - width) / height, y = (height - 2.0 * v) / height - 0.2, z = 1.5, t = 0;
      const double length = std::sqrt(x * x + y * y + z * z), e = 1e-5;
      x /= length, y /= length, z /= length;
      for (int i = 0; i < 64; ++i) {
        const double d = scene(x * t, 0.7 + y * t, z * t - 3);
        t += d;
        if (!(d > 1e-4 && t < 10)) break;
      }
      const double px = x * t, py = 0.7 + y * t, pz = z * t - 3;
      const double nx = scene(px + e, py, pz) - scene(px - e, py, pz),
                   ny = scene(px, py + e, pz) - scene(px, py - e, pz),
                   nz = scene(px, py, pz + e) - scene(px, py, pz - e);
      const double light = (nx + 2 * ny - nz) / std::sqrt(6 * (nx * nx + ny * ny + nz * nz));
      image.push_back(t < 10 ? std::fmin(std::fmax(light, 0.1), 1) : 0);
    }
  return image;
}

}  // namespace

void marching() {
  const auto image = render(48, 36);
  expect_same(image, loops(48, 36), 1e-4, "image");
  const double mean = plait::mean(image)();
  expect(mean > 0.05 && mean < 0.6, "there is something to see");
}

}  // namespace ported
