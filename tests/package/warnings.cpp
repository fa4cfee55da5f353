// Compiled with warnings as errors, for each element type: nobody runs it.
#include <algorithm>
#include <plait/io.hpp>
#include <plait/plait.hpp>

using namespace plait;

template <class T>
void each(array<T> a, array<T> b, array<std::int64_t> k, array<bool> m) {
  const array<T> fixed = a;
  array<T> list{T(1), T(0)}, rows{{T(1)}, {T(0)}}, copy(std::vector<T>(3)), zero = zeros<T>({2});
  auto element = a(0), again = element;
  again = element;
  again = T(1);
  element = 1;
  a.set(T(1), 0);
  (void)a.get(0);
  (void)a.at(0);
  (void)a[{0, 1}];
  std::swap(element, again);
  auto v = view(a, 0, range(1, 3)), w = v;
  w = v;
  v = b;
  v = T(1);
  v = 1;
  v = {T(1)};
  auto read = view(fixed, 0), read2 = read;
  auto s = a[k], t = s;
  t = s;
  s = T(0);
  s = 0;
  a[m] = b;
  auto masked = masked_view(a, m), masked2 = masked;
  masked2 = T(1);
  for (T& x : a) x = T(1);
  for (auto i = axis_begin(a), e = axis_end(a); i != e; ++i) *i = b;
  std::swap(v, w);
  a.fill(T(1));
  a.assign(b, m);
  (void)(a == b);
  (void)where(m, a, b);
  (void)where(m, a, 1);
  (void)sum(a, 0);
  (void)mean(a);
  (void)concatenate({a, b});
  (void)a.reshape({3, -1}).transpose().copy();
  (void)full<T>({2}, T(1));
  (void)full<T>({2}, 1);
  (void)full_like(a, 1);
  (void)eye<T>(3);
  (void)pad(a, 1);
  (void)take(a, k, 0);
  (void)isclose(a, b);
  (void)allclose(a, 1);
  (void)a.item();
  (void)T(a(0));
  (void)vectorize([](auto x, auto y) { return where(x == y, x, y); }, a, b);
  (void)vectorize([](T x) { return x; }, a);
  (void)(matmul(a, b));
  if constexpr (!std::is_same_v<T, bool>) {
    a += b;
    a *= T(1);
    (void)(a * 2 + b * 1.5F - a / 3.0);
    (void)(a + a(0));
    element += T(1);
    element -= T(1);
    element *= T(1);
    element /= T(1);
    a[k] += b;
    masked += T(1);
    (void)(-a);
  }
  if constexpr (std::is_arithmetic_v<T>) {
    (void)arange<T>(0, 5);
    (void)clip(a, 0, 1);
    (void)median(a);
    (void)quantile(a, 0.5);
    (void)round(a, 2);
    (void)sort(a);
    (void)searchsorted(a, T(1));
    (void)histogram(a, 10);
    (void)unique(a);
    (void)linspace<T>(0, 1, 5);
    (void)trapezoid(a);
    (void)cumsum(a);
  }
  if constexpr (std::is_floating_point_v<T>) {
    (void)random::rand<T>({3});
    (void)random::randn<T>({3});
    (void)var(a, 0, 1);
    (void)linalg::norm(a, 2);
    (void)linalg::inv(a);
    (void)exp(a);
  }
  if constexpr (std::is_integral_v<T>) {
    (void)random::randint<T>({3}, 0, 1);
  }
}
template void each(array<bool>, array<bool>, array<std::int64_t>, array<bool>);
#define EACH(T) template void each(array<T>, array<T>, array<std::int64_t>, array<bool>)
EACH(std::int8_t);
EACH(std::uint8_t);
EACH(std::int16_t);
EACH(std::uint16_t);
EACH(std::int32_t);
EACH(std::uint32_t);
EACH(std::int64_t);
EACH(std::uint64_t);
EACH(float16);
EACH(float);
EACH(double);
EACH(std::complex<float>);
EACH(std::complex<double>);
EACH(char);
EACH(long long);
EACH(unsigned long long);
EACH(bfloat16);
EACH(float8_e4m3fn);
EACH(float8_e5m2);
EACH(int4);
EACH(uint1);
