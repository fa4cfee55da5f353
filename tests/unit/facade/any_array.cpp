// Arrays whose element type is known at run time only: what they give has the dtypes that NumPy
// finds, and what the compiler refuses of typed arrays is an error of the call.
#include "plait/any_array.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "plait/io.hpp"
#include "plait/plait.hpp"

using plait::any_array;
using plait::array;
using plait::dtype;

namespace {
template <class T>
std::vector<T> list(const any_array& a) {
  const array<T> typed = a.as<T>();
  return std::vector<T>(typed.begin(), typed.end());
}
std::string text(const any_array& a) { return plait::to_string(a.dtype()) + plait::to_string(a); }
}  // namespace

TEST_CASE("an any_array is another name of the array that it is made of") {
  const array<float> a{{1, 2, 3}, {4, 5, 6}};
  any_array x = a;
  CHECK(x.dtype() == dtype::float32);
  CHECK(x.shape() == plait::shape_type{2, 3});
  CHECK(x.shape(-1) == 3);
  CHECK(x.ndim() == 2);
  CHECK(x.size() == 6);
  x += 1;
  CHECK(a.get(1, 2) == 7);
  x.as<float>().set(0, 0, 0);
  CHECK(a.get(0, 0) == 0);
  x = a + a;
  CHECK(x.as<float>().get(1, 2) == 14);
  x = plait::view(a, 0);
  CHECK(list<float>(x) == std::vector<float>{0, 3, 4});
  array<float> b = a.copy();
  any_array chosen = b[b > 5];
  CHECK(list<float>(chosen) == std::vector<float>{6, 7});
  CHECK(any_array().size() == 0);
}

TEST_CASE("as() takes the elements' type only, astype() converts") {
  const any_array x = array<std::int16_t>{1, 2};
  CHECK_THROWS_WITH(x.as<double>(), "as: the elements are of type int16: astype() converts them");
  CHECK_THROWS_AS(x.as<std::uint16_t>(), plait::DTypeError);
  CHECK(x.astype<double>().get(1) == 2.0);
  CHECK(text(x.astype(dtype::complex64)) == "complex64[1.+0.j 2.+0.j]");
  CHECK(plait::sum(x).item<double>() == 3.0);
  const any_array z = array<std::complex<double>>{1};
  CHECK_THROWS_AS(z.astype<double>(), plait::DTypeError);
  CHECK_THROWS_AS(z.astype(dtype::int64), plait::DTypeError);
}

TEST_CASE("names and sizes of dtypes") {
  for (int i = 0; i < plait::kDTypes; ++i) {
    const auto t = static_cast<dtype>(i);
    CHECK(plait::to_dtype(plait::to_string(t)) == t);
    const any_array zeros = plait::zeros(t, {2});
    CHECK(zeros.dtype() == t);
    CHECK(zeros.strides() == plait::shape_type{plait::itemsize(t)});
    CHECK(plait::empty(t, {0, 3}).shape() == plait::shape_type{0, 3});
    if (plait::detail::bits_of(t) >= 4)  // what holds 2
      CHECK(plait::sum(plait::ones_like(zeros)).item<std::complex<double>>() == 2.0);
  }
  CHECK(plait::to_string(dtype::bool_) == "bool");
  CHECK_THROWS_WITH(plait::to_dtype("object"),
                    "to_dtype: 'object' names no element type of Plait's arrays");
  CHECK_THROWS_AS(plait::full(dtype::uint8, {2}, 300), plait::OverflowError);
}

TEST_CASE("adapt() borrows memory of a dtype") {
  std::vector<std::int32_t> memory(6);
  std::iota(memory.begin(), memory.end(), 0);
  {
    any_array x = any_array::adapt(memory.data(), dtype::int32, {2, 3});
    x *= 2;
    plait::view(x, 0, 0) = 7;
    x.eval();
    CHECK(memory == std::vector<std::int32_t>{7, 2, 4, 6, 8, 10});
  }
  const void* fixed = memory.data();
  any_array column = any_array::adapt(fixed, dtype::int32, {2}, {12});
  CHECK(list<std::int32_t>(column) == std::vector<std::int32_t>{7, 6});
  CHECK_THROWS_AS(column += 1, plait::ValueError);
}

TEST_CASE("visit() calls with the typed array") {
  for (int i = 0; i < plait::kDTypes; ++i) {
    const auto t = static_cast<dtype>(i);
    const any_array x = plait::ones(t, {3});
    CHECK(plait::visit(x, [](auto a) { return a.dtype(); }) == t);
    const any_array same = plait::visit(x, [](auto a) { return plait::abs(a); });
    CHECK(same.dtype() == plait::abs(x).dtype());
    int calls = 0;
    plait::visit(x, [&](const auto&) { ++calls; });
    CHECK(calls == 1);
  }
  const auto total = [](auto a) {
    double sum = 0;
    for (const double v : a) sum += v;
    return sum;
  };
  const any_array f = array<float>{1, 2};
  CHECK(plait::visit<float, double>(f, total) == 3.0);
  CHECK_THROWS_WITH((plait::visit<float, double>(f.astype(dtype::int8), total)),
                    "visit: the elements are of type int8: astype() converts them");
}

TEST_CASE("operators find their dtype at run time as typed ones do when they are compiled") {
  for (int i = 0; i < plait::kDTypes; ++i)
    for (int j = 0; j < plait::kDTypes; ++j) {
      const auto t = static_cast<dtype>(i), u = static_cast<dtype>(j);
      const any_array a = plait::full(t, {2}, true), b = plait::full(u, {2}, true);
      INFO(plait::to_string(t) << " " << plait::to_string(u));
      const plait::detail::operand_type types[] = {{t, plait::detail::weak::none},
                                                   {u, plait::detail::weak::none}};
      CHECK((a + b).dtype() == plait::detail::resolve(plait::detail::fn::Add, types, 2).result);
      CHECK((a < b).dtype() == dtype::bool_);
      CHECK(plait::matmul(a, b).dtype() == plait::detail::numpys_dtype(t, u));
    }
  const array<float> typed{1, 2};
  const any_array f = typed, i = array<std::int32_t>{3, 4};
  CHECK(text(f * 2.0) == "float32[2. 4.]");
  CHECK(text(f + i) == "float64[4. 6.]");
  CHECK(text(typed + i) == "float64[4. 6.]");
  CHECK(text(i / 2) == "float64[1.5 2. ]");
  CHECK(text(1 - i) == "int32[-2 -3]");
  CHECK(text(-i) == "int32[-3 -4]");
  CHECK(text(i * std::complex<double>(0, 1)) == "complex128[0.+3.j 0.+4.j]");
  CHECK(text(plait::where(f > 1, i, 0.5)) == "float64[0.5 4. ]");
  CHECK(text(plait::sqrt(i.astype(dtype::uint8))).substr(0, 7) == "float16");
  CHECK_THROWS_AS(i + std::uint64_t(1) + (std::uint64_t(1) << 63), plait::OverflowError);
  CHECK(text(i.astype(dtype::uint64) + (std::uint64_t(1) << 63)).substr(0, 6) == "uint64");
}

TEST_CASE("what has no loop, or does not fit, is an error of the call") {
  any_array m = array<bool>{true, false}, i = array<std::int64_t>{1, 2}, f = array<double>{1, 2};
  const any_array z = array<std::complex<double>>{1, 2};
  CHECK_THROWS_AS(m - m, plait::DTypeError);
  CHECK_THROWS_AS(f & f, plait::DTypeError);
  CHECK_THROWS_AS(i += f, plait::DTypeError);
  CHECK_THROWS_AS(f.assign(z), plait::DTypeError);
  CHECK_THROWS_AS(f.fill(std::complex<double>(1)), plait::DTypeError);
  array<double> typed{1, 2};
  CHECK_THROWS_AS(plait::view(typed) = z, plait::DTypeError);
  array<std::int64_t> ints{1, 2};
  CHECK_THROWS_AS(ints += f, plait::DTypeError);
  typed += i;
  plait::view(ints) = i * 3;
  CHECK(text(typed) == "float64[2. 4.]");
  CHECK(text(ints) == "int64[3 6]");
}

TEST_CASE("reductions and functions of any_arrays") {
  const any_array x = array<std::uint8_t>{{3, 1, 2}, {6, 5, 4}};
  CHECK(text(plait::sum(x)) == "uint6421");
  CHECK(text(plait::sum(x, 0)) == "uint64[9 6 6]");
  CHECK(text(plait::mean(x, 1, plait::keep_dims)) == "float64[[2.]\n [5.]]");
  CHECK(text(plait::argmax(x, 1)) == "int64[0 0]");
  CHECK(text(plait::amax(x)) == "uint86");
  CHECK(text(plait::var(x, 1, 1)) == "float64[1. 1.]");
  CHECK(text(plait::cumsum(x, 1)) == "uint64[[ 3  4  6]\n [ 6 11 15]]");
  CHECK(text(plait::sort(x, 1)) == "uint8[[1 2 3]\n [4 5 6]]");
  CHECK(text(plait::transpose(x).reshape({-1})) == "uint8[3 6 1 5 2 4]");
  CHECK(text(plait::concatenate({x, x}, 1)).substr(0, 5) == "uint8");
  CHECK(text(plait::flip(x, 0)) == "uint8[[6 5 4]\n [3 1 2]]");
  CHECK(text(plait::view(x, 1, plait::range(1, 3))) == "uint8[5 4]");
  CHECK(plait::array_equal(x, x.astype<double>()));
  std::ostringstream out;
  out << plait::view(x, 0);
  CHECK(out.str() == "[3 1 2]");
  const any_array large = plait::ones(dtype::float32, {1 << 16});
  CHECK(plait::explain(plait::sqrt(large) + large).substr(0, 8) == "1 region");
  plait::eval(x + x, plait::sqrt(x));
}

TEST_CASE("masks and indices of any_arrays") {
  any_array x = array<float>{1, 2, 3, 4};
  const any_array fixed = x, k = array<std::int64_t>{0, -1};
  CHECK(text(fixed[fixed > 2]) == "float32[3. 4.]");
  x[k] = 7;
  x[x < 3] += 1;
  CHECK(text(fixed) == "float32[7. 3. 3. 7.]");
  CHECK(text(plait::view(fixed, k)) == "float32[7. 7.]");
  CHECK(text(plait::take(x, array<int>{1, 0})) == "float32[3. 7.]");
  CHECK_THROWS_AS(x[k] = std::complex<double>(1), plait::DTypeError);
  CHECK_THROWS_AS(fixed[x], plait::IndexError);
}

TEST_CASE("load_npy() gives what the file holds") {
  char path[] = "/tmp/plait_any_XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  close(fd);
  for (int i = 0; i < plait::kDTypes; ++i) {
    const any_array a = plait::full(static_cast<dtype>(i), {2, 2}, true);
    plait::dump_npy(path, a);
    const any_array b = plait::load_npy(path, static_cast<dtype>(i));
    CHECK(text(b) == text(a));
  }
  std::remove(path);
}
