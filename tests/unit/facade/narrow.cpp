// Arrays of the element types that ml_dtypes has: bfloat16, the floats of a byte and less, and the
// integers of less than 8 bits.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "plait/io.hpp"
#include "plait/plait.hpp"

using plait::any_array;
using plait::array;
using plait::bfloat16;
using plait::dtype;
using plait::float8_e4m3fn;
using plait::float8_e5m2;
using plait::int4;
using plait::uint4;

namespace {

template <class T>
std::string printed(const array<T>& a) {
  std::ostringstream out;
  out << a;
  return out.str();
}
template <class T>
std::vector<float> floats(const array<T>& a) {
  return std::vector<float>(a.begin(), a.end());
}
// The elements are of the type that the array says.
template <class T>
void check_type(const array<T>& a) {
  CHECK(plait::to_string(plait::detail::dtype_of(a.handle())) ==
        plait::to_string(plait::dtype_of_v<T>));
}
template <class A>
using value_t = typename A::value_type;
#define SAME(expression, type) STATIC_REQUIRE(std::is_same_v<value_t<decltype(expression)>, type>)

}  // namespace

TEST_CASE("single values convert as they are rounded or wrap") {
  STATIC_REQUIRE(sizeof(bfloat16) == 2);
  STATIC_REQUIRE(sizeof(float8_e4m3fn) == 1);
  STATIC_REQUIRE(sizeof(int4) == 1);
  CHECK(bfloat16(1.0F).bits == 0x3f80);
  CHECK(float(bfloat16(3.14159F)) == 3.140625F);
  CHECK(float8_e4m3fn(448.0F).bits == 0x7e);
  CHECK(float(float8_e4m3fn(0.3F)) == 0.3125F);
  CHECK(float(plait::float4_e2m1fn(100.0F)) == 6);
  CHECK(int4(-3).bits == 0xd);
  for (int i = -100; i < 100; ++i) {
    CHECK(int4(i) == (i + 1608) % 16 - 8);
    CHECK(uint4(i) == (i + 1600) % 16);
    CHECK(plait::int1(i) == -(i & 1));
    CHECK(plait::uint2(i) == (i & 3));
  }
  constexpr int4 wrapped(9);
  STATIC_REQUIRE(wrapped == -7);
  CHECK(int4(bfloat16(2.5F)) == 2);
  CHECK(int4(uint4(15)) == -1);
}

TEST_CASE("result types of narrow arrays") {
  array<bfloat16> bf;
  array<plait::float16> f16;
  array<float> f32;
  array<float8_e4m3fn> f8;
  array<float8_e5m2> e5;
  array<int4> i4;
  array<uint4> u4;
  array<std::int8_t> i8;
  array<bool> b;
  SAME(bf + bf, bfloat16);
  SAME(bf * 2, bfloat16);
  SAME(bf * 1.5, float);
  SAME(bf + f16, float);
  SAME(bf + f32, float);
  SAME(bf + bfloat16(1), bfloat16);
  SAME(bf < bf, bool);
  SAME(bf + f8, float);
  SAME(f8 + plait::array<plait::float8_e3m4>(), float8_e4m3fn);
  SAME(plait::sqrt(bf), bfloat16);
  SAME(plait::where(b, bf, bf), bfloat16);
  SAME(bf * std::complex<double>(0, 1), std::complex<float>);
  SAME(i4 + i4, int4);
  SAME(i4 + 1, std::int8_t);
  SAME(i4 + i8, std::int8_t);
  SAME(u4 + i8, std::int8_t);
  SAME(i4 / i4, plait::float16);
  SAME(plait::sqrt(i4), plait::float16);
  SAME(plait::sum(bf), bfloat16);
  SAME(plait::sum(i4), int4);
  SAME(plait::mean(i4), double);
  SAME(plait::argmax(bf, 0), std::int64_t);
  SAME(plait::matmul(bf, bf), float);
  SAME(plait::matmul(bf, f8), float);
  SAME(plait::matmul(i4, i4), std::int8_t);
  SAME(plait::dot(bf, bf), bfloat16);
  SAME(plait::dot(i4, f8), float8_e4m3fn);
  SAME(e5 + f16, float);
  STATIC_REQUIRE(std::is_convertible_v<array<bfloat16>, array<float>>);
  STATIC_REQUIRE(!std::is_convertible_v<array<float>, array<bfloat16>>);
  STATIC_REQUIRE(std::is_constructible_v<array<bfloat16>, array<float>>);
}

TEST_CASE("each operation of bfloat16 is computed in float32 and rounded") {
  const array<float> x = plait::arange<float>(0, 1000) * 0.37F;
  const array<bfloat16> b(x);
  const std::vector<float> made = floats(b * b + b), roots = floats(plait::sqrt(b));
  const std::vector<float> sums = floats(b.astype<float8_e5m2>() + b.astype<float8_e5m2>());
  for (int i = 0; i < 1000; ++i) {
    const float v = bfloat16(x(i));
    REQUIRE(float(b(i)) == v);
    REQUIRE(made[i] == float(bfloat16(float(bfloat16(v * v)) + v)));
    REQUIRE(roots[i] == float(bfloat16(std::sqrt(v))));
    const float e = float8_e5m2(v);
    REQUIRE(sums[i] == float(float8_e5m2(e + e)));
  }
  CHECK(float(plait::sum(plait::ones<bfloat16>({1000})).item()) == 1000);
  CHECK(float(plait::mean(b).item()) == float(bfloat16(plait::mean(array<float>(b)).item())));
  const array<float> product = plait::matmul(b.reshape({20, 50}), b.reshape({50, 20}));
  CHECK(plait::allclose(product, plait::matmul(array<float>(b).reshape({20, 50}),
                                               array<float>(b).reshape({50, 20}))));
}

TEST_CASE("small integers wrap") {
  const array<int4> x{int4(7), int4(-8), int4(3)}, y = plait::full<int4>({3}, 2);
  CHECK(floats(x + y) == std::vector<float>{-7, -6, 5});
  CHECK(floats(x * y) == std::vector<float>{-2, 0, 6});
  CHECK(floats(x + 7) == std::vector<float>{14, -1, 10});
  CHECK(floats(x / y) == std::vector<float>{3.5, -4, 1.5});
  CHECK(int(plait::sum(x).item()) == 2);
  CHECK(plait::mean(x).item() == Approx(2.0 / 3));
  CHECK(int(plait::amin(x).item()) == -8);
  CHECK(plait::argmax(x).item() == 0);
  CHECK(floats(plait::array<std::int32_t>{15, 16, -1}.astype<uint4>()) ==
        std::vector<float>{15, 0, 15});
  CHECK(plait::array_equal(plait::matmul(x, y), array<std::int8_t>(4)));
  const array<int4> drawn = plait::random::randint<int4>({1000}, -8, 8);
  CHECK(int(plait::amin(drawn).item()) == -8);
  CHECK(int(plait::amax(drawn).item()) == 7);
  CHECK_THROWS_AS(plait::random::randint<uint4>({2}, 0, 17), plait::ValueError);
}

TEST_CASE("elements of narrow arrays are read and written") {
  array<bfloat16> a = plait::zeros<bfloat16>({2, 3});
  a(0, 1) = 2.5;
  a(1, 2) = bfloat16(7);
  a(1, 2) += bfloat16(1);
  plait::view(a, 1, 0) = 3;
  a += a;
  a *= 1.5;
  CHECK(floats(a) == std::vector<float>{0, 7.5, 0, 9, 0, 24});
  a[a > 8] = bfloat16(1);
  CHECK(float(plait::sum(a).item()) == 9.5F);
  CHECK(float(a.data()[1]) == 7.5F);
  for (bfloat16& v : a) v = bfloat16(v + 1);
  CHECK(float(a.get(0, 0)) == 1);

  array<int4> i = plait::zeros<int4>({4});
  i(0) = 7;
  i.set(-8, 1);
  plait::view(i, plait::range(2, 4)) = int4(3);
  CHECK(floats(i) == std::vector<float>{7, -8, 3, 3});
  CHECK_THROWS_WITH(i(0) = 8, "integer 8 out of bounds for int4");
  CHECK_THROWS_AS(i.set(-9, 0), plait::OverflowError);
  CHECK_THROWS_AS(plait::full<uint4>({2}, -1), plait::OverflowError);
  const std::vector<bfloat16> values{bfloat16(1), bfloat16(2)};
  CHECK(floats(array<bfloat16>(values)) == std::vector<float>{1, 2});
}

TEST_CASE("narrow arrays print as NumPy prints those of ml_dtypes") {
  const array<bfloat16> b(array<float>{1.5F, 2.25F, 1e10F, -3});
  CHECK(printed(b) == "[1.5 2.25 9.99922e+09 -3]");
  CHECK(printed(array<bfloat16>(array<float>{0.1F, 100, 1e-5F, NAN, -INFINITY})) ==
        "[0.100098 100 1.00136e-05 nan -inf]");
  CHECK(printed(plait::full<bfloat16>({}, 1.1)) == "1.10156");
  CHECK(printed(array<int4>{{int4(-8)}, {int4(7)}}) == "[[-8]\n [7]]");
}

TEST_CASE(".npy files of narrow arrays are read as what is asked for") {
  char path[] = "/tmp/plait_narrow_XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  std::fclose(fdopen(fd, "wb"));
  const array<bfloat16> b(plait::arange<float>(6).reshape({2, 3}) + 0.5F);
  plait::dump_npy(path, b);
  CHECK(plait::array_equal(plait::load_npy<bfloat16>(path), b));
  CHECK(plait::load_npy(path, dtype::bfloat16).dtype() == dtype::bfloat16);
  CHECK_THROWS_AS(plait::load_npy(path), plait::DTypeError);
  CHECK_THROWS_AS(plait::load_npy<float>(path), plait::DTypeError);
  CHECK_THROWS_AS(plait::load_npy<int4>(path), plait::DTypeError);
  const array<float8_e5m2> e(b);
  plait::dump_npy(path, e);
  CHECK(plait::array_equal(plait::load_npy<float8_e5m2>(path), e));
  CHECK_THROWS_AS(plait::load_npy<float8_e4m3fn>(path), plait::DTypeError);
  const array<int4> i = plait::arange<std::int32_t>(-8, 8).astype<int4>();
  plait::dump_npy(path, i);
  CHECK(plait::array_equal(plait::load_npy<int4>(path), i));
  std::remove(path);
}

TEST_CASE("results have the types that the templates say, of every element type") {
  for (int n = 0; n < plait::kDTypes; ++n) {
    const auto t = static_cast<dtype>(n);
    if (t == dtype::bool_) continue;
    INFO(plait::to_string(t));
    plait::visit(plait::ones(t, {4, 4}), [](const auto& x) {
      check_type(x + x);
      check_type(x * 2);
      check_type(x * 1.5);
      check_type(plait::sqrt(x));
      check_type(plait::abs(x));
      check_type(plait::where(x == x, x, x));
      check_type(plait::sum(x, 0));
      check_type(plait::prod(x));
      check_type(plait::amax(x, 1));
      check_type(plait::mean(x, 0));
      check_type(plait::var(x));
      check_type(plait::stddev(x, 1));
      check_type(plait::any(x, 0));
      check_type(plait::argmin(x, 0));
      check_type(plait::nansum(x));
      check_type(plait::nanmean(x));
      check_type(plait::ptp(x, 0));
      check_type(plait::cumsum(x, 0));
      check_type(plait::matmul(x, x));
      check_type(plait::dot(x, x));
      check_type(plait::inner(x, x));
      check_type(plait::outer(x, x));
      check_type(plait::tensordot(x, x, 1));
      check_type(plait::vecdot(x, x));
      check_type(plait::einsum("ij,jk->ik", x, x));
      check_type(plait::trace(x));
      check_type(plait::diff(x));
      check_type(plait::average(x, x));
      check_type(plait::gradient(x));
      check_type(plait::trapezoid(x));
      check_type(plait::nanvar(x));
      check_type(plait::nanmax(x));
      check_type(plait::sort(x));
      check_type(plait::round(x));
      check_type(plait::concatenate({x, x}));
    });
  }
}

TEST_CASE("what has no common dtype is an error of the call") {
  const any_array b = plait::ones(dtype::bfloat16, {2, 2}),
                  e = plait::ones(dtype::float8_e4m3fn, {2, 2});
  CHECK((b + e).dtype() == dtype::float32);
  CHECK(plait::matmul(b, e).dtype() == dtype::float32);
  CHECK_THROWS_AS(plait::dot(b, e), plait::DTypeError);
  CHECK_THROWS_AS(plait::where(b > 0, b, e), plait::DTypeError);
  CHECK_THROWS_AS(plait::promote(dtype::bfloat16, dtype::float8_e4m3fn), plait::DTypeError);
  CHECK(plait::promote(dtype::bfloat16, dtype::float32) == dtype::float32);
  CHECK(plait::promote(dtype::float8_e5m2, dtype::float16) == dtype::float32);
}
