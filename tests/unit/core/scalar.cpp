#include "core/scalar.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "core/convert.hpp"
#include "golden.hpp"

using namespace plait;

namespace {

template <class T>
T to(DType t, const Scalar& s) {
  const Scalar r = cast(s, t);
  CHECK(r.dtype == t);
  return r.as<T>();
}

}  // namespace

TEST_CASE("every pair of dtypes keeps a value that both hold") {
  for (int a = 0; a < kNumPyDTypes; ++a)
    for (int b = 0; b < kNumPyDTypes; ++b) {
      INFO(name(golden::dtype(a)) << " to " << name(golden::dtype(b)));
      const Scalar one = cast(scalar_int(1), golden::dtype(a));
      CHECK(cast(cast(one, golden::dtype(b)), DType::Int64).as<std::int64_t>() == 1);
    }
}

TEST_CASE("integers wrap") {
  CHECK(to<std::int8_t>(DType::Int8, scalar_int(300)) == 44);
  CHECK(to<std::uint8_t>(DType::UInt8, scalar_int(-1)) == 255);
  CHECK(to<std::uint64_t>(DType::UInt64, scalar_int(-1)) == UINT64_MAX);
  CHECK(to<std::int32_t>(DType::Int32, scalar_int(1ll << 33)) == 0);
}

TEST_CASE("floats truncate; out of range gives what x86 gives") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(to<std::int64_t>(DType::Int64, scalar_float(-1.9)) == -1);
  CHECK(to<std::int8_t>(DType::Int8, scalar_float(300.0)) == 44);
  CHECK(to<std::uint16_t>(DType::UInt16, scalar_float(-1.5)) == 65535);
  CHECK(to<std::int32_t>(DType::Int32, scalar_float(-2147483648.5)) == INT32_MIN);
  CHECK(to<std::int32_t>(DType::Int32, scalar_float(1e10)) == INT32_MIN);
  CHECK(to<std::uint32_t>(DType::UInt32, scalar_float(3e9)) == 3000000000u);
  CHECK(to<std::int64_t>(DType::Int64, scalar_float(nan)) == INT64_MIN);
  CHECK(to<std::int16_t>(DType::Int16, scalar_float(inf)) == 0);
  CHECK(to<std::uint64_t>(DType::UInt64, scalar_float(1.5e19)) == 15000000000000000000ull);
  CHECK(to<std::uint64_t>(DType::UInt64, scalar_float(-1.0)) == UINT64_MAX);
  CHECK(to<std::uint64_t>(DType::UInt64, scalar_float(nan)) == 1ull << 63);
  CHECK(to<std::uint64_t>(DType::UInt64, scalar_float(inf)) == 0);
}

TEST_CASE("truth of a value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(to<bool>(DType::Bool, scalar_float(0.5)));
  CHECK(to<bool>(DType::Bool, scalar_float(nan)));
  CHECK_FALSE(to<bool>(DType::Bool, scalar_float(-0.0)));
  CHECK(to<bool>(DType::Bool, scalar_complex({0, 1})));
  CHECK_FALSE(to<bool>(DType::Bool, Scalar::of(DType::Float16, std::uint16_t{0x8000})));
}

TEST_CASE("complex and half") {
  CHECK(to<double>(DType::Float64, scalar_complex({2, 3})) == 2);
  CHECK(to<std::complex<float>>(DType::Complex64, scalar_float(2)) == std::complex<float>(2, 0));
  // Through float it would round twice, to 1.
  CHECK(to<std::uint16_t>(DType::Float16, scalar_float(1 + 0x1p-11 + 0x1p-40)) == 0x3c01);
  CHECK(to<std::uint16_t>(DType::Float16, scalar_int(70000)) == 0x7c00);
}
