#include "unevaluated.hpp"

using namespace plait;
using namespace plait::numpy;
using namespace plait::numpy::test;

TEST_CASE("moments have NumPy's dtypes and shapes") {
  without_values();
  const struct {
    DType operand, mean, var;
  } rows[] = {{DType::Bool, DType::Float64, DType::Float64},
              {DType::Int8, DType::Float64, DType::Float64},
              {DType::UInt64, DType::Float64, DType::Float64},
              {DType::Float16, DType::Float16, DType::Float16},
              {DType::Float32, DType::Float32, DType::Float32},
              {DType::Complex64, DType::Complex64, DType::Float32},
              {DType::Complex128, DType::Complex128, DType::Float64}};
  for (const auto& row : rows) {
    INFO(name(row.operand));
    const Array a = zeros(Dims{3, 4}, row.operand);
    CHECK(mean(a).dtype == row.mean);
    CHECK(mean(a, along(Dims{0})).dtype == row.mean);
    CHECK(var(a, along(Dims{-1})).dtype == row.var);
    CHECK(numpy::std(a).dtype == row.var);
  }
  const Array a = zeros(Dims{3, 4, 5});
  CHECK(mean(a).shape == Dims{});
  CHECK(mean(a, along(Dims{1})).shape == Dims{3, 5});
  CHECK(var(a, along(Dims{0, -1}, true)).shape == Dims{1, 4, 1});
  CHECK(count_nonzero(a, along(Dims{0})).dtype == DType::Int64);
}

TEST_CASE("float32 sums are divided by their count in float64, as NumPy does") {
  without_values();
  const Array m = mean(zeros(Dims{10}, DType::Float32));
  const tracer::Node& rounded = *tracer::read(m);
  REQUIRE(rounded.kind == tracer::NodeKind::Cast);
  CHECK(rounded.inputs[0]->fn == OpId::Divide);
  CHECK(rounded.inputs[0]->dtype == DType::Float64);
}

TEST_CASE("empty moments warn with NumPy's text") {
  without_values();
  static std::string seen;
  set_warning_hook([](Warning w, std::string_view text) {
    if (w == Warning::Runtime) seen = text;
  });
  mean(zeros(Dims{0}));
  CHECK(seen == "Mean of empty slice");
  var(zeros(Dims{1}), {}, 1);
  CHECK(seen == "Degrees of freedom <= 0 for slice");
  seen.clear();
  var(zeros(Dims{2}), {}, 1);
  mean(zeros(Dims{2}));
  CHECK(seen.empty());
  set_warning_hook(nullptr);
}

TEST_CASE("errors of reductions") {
  without_values();
  CHECK(message<AxisError>([] { mean(zeros(Dims{2, 3}), along(Dims{5})); }) ==
        "axis 5 is out of bounds for array of dimension 2");
  CHECK(message<DTypeError>([] { ptp(zeros(Dims{2}, DType::Bool)); }).find("boolean subtract") !=
        std::string::npos);
}
