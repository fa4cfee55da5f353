#include <cmath>

#include "unevaluated.hpp"

using namespace plait;
using namespace plait::numpy;
using namespace plait::numpy::test;

TEST_CASE("arange has NumPy's length and dtype") {
  without_values();
  const auto length = [](double a, double b, double s) {
    return arange_length(scalar_float(a), scalar_float(b), scalar_float(s));
  };
  CHECK(length(0, 1, 0.1) == 10);
  CHECK(length(1, 1.3, 0.1) == 4);  // NumPy's well-known surprise
  CHECK(length(5, 0, -2) == 3);
  CHECK(length(0, 5, -1) == 0);
  const auto whole = [](std::int64_t a, std::int64_t b, std::int64_t s) {
    return arange_length(scalar_int(a), scalar_int(b), scalar_int(s));
  };
  CHECK(whole(0, 7, 3) == 3);
  CHECK(whole(7, 0, -3) == 3);
  CHECK(whole(3, 3, 1) == 0);
  CHECK(whole(INT64_MIN, INT64_MAX, INT64_MAX) == 3);
  CHECK(arange(scalar_int(0), scalar_int(5), scalar_int(1)).dtype == DType::Int64);
  CHECK(arange(scalar_int(0), scalar_float(5), scalar_int(1)).dtype == DType::Float64);
  CHECK(arange(scalar_int(0), scalar_int(5), scalar_int(1), DType::Float32).dtype ==
        DType::Float32);
  CHECK(message<FloatingPointError>([&] { whole(0, 5, 0); }) == "division by zero");
  CHECK(message<ValueError>([&] { length(0, NAN, 1); }) == "arange: cannot compute length");
  CHECK(message<ValueError>([&] { length(0, INFINITY, 1); }) == "Maximum allowed size exceeded");
}

TEST_CASE("linspace") {
  without_values();
  double step = 0;
  CHECK(linspace(0, 1, 5, true, {}, &step).shape == Dims{5});
  CHECK(step == 0.25);
  CHECK(linspace(0, 1, 1, true, {}, &step).shape == Dims{1});
  CHECK(std::isnan(step));
  CHECK(linspace(0, 1, 4, false, DType::Int32).dtype == DType::Int32);
  CHECK(message<ValueError>([] { linspace(0, 1, -1); }) ==
        "Number of samples, -1, must be non-negative.");
}

TEST_CASE("arrays like another keep its layout") {
  without_values();
  const std::int64_t axes[] = {1, 2, 0};
  const Array a = tracer::transpose(zeros(Dims{2, 3, 4}), axes);  // (3, 4, 2)
  CHECK(empty_like(a).strides == Dims{32, 8, 96});
  CHECK(zeros_like(a).strides == Dims{32, 8, 96});
  LikeOptions c;
  c.order = 'C';
  c.dtype = DType::Int8;
  CHECK(ones_like(a, c).strides == Dims{8, 2, 1});
  LikeOptions reshaped;
  reshaped.shape = Dims{5};
  CHECK(full_like(a, scalar_int(3), reshaped).shape == Dims{5});
}

TEST_CASE("matrices") {
  without_values();
  CHECK(eye(2, 3).shape == Dims{2, 3});
  CHECK(eye(2, 3, 1, DType::Int8, 'F').strides == Dims{1, 2});
  CHECK(identity(3).dtype == DType::Float64);
  CHECK(tri(2, -1).shape == Dims{2, 0});
  CHECK(tril(zeros(Dims{4, 2, 3}, DType::Int16)).shape == Dims{4, 2, 3});
  CHECK(triu(zeros(Dims{3}, DType::Int16)).shape == Dims{3, 3});
  CHECK(triu(zeros(Dims{3}, DType::Int16)).dtype == DType::Int16);
  CHECK(message<ValueError>([] { eye(-1, 2); }) == "negative dimensions are not allowed");
}
