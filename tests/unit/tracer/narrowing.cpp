#include <catch2/catch.hpp>

#include "plait/error.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {

std::string seen;

// What the cast of a scalar reports under an error state that ignores nothing.
std::string reported(const Scalar& s, DType to, Weak weak = Weak::None) {
  seen.clear();
  set_fp_sink([](FpEvent e, std::string_view op, const ErrorState&, std::uint32_t) {
    seen += std::string(event_name(e)) + " in " + std::string(op) + ';';
  });
  ErrorState all;
  all.under = ErrorAction::Warn;
  set_error_state(all);
  reported_cast(Operand(s, weak), to);
  set_error_state({});
  set_fp_sink(nullptr);
  return seen;
}

}  // namespace

TEST_CASE("a scalar that its new dtype cannot hold is reported") {
  CHECK(reported(scalar_float(1e39), DType::Float32) == "overflow in cast;");
  CHECK(reported(scalar_float(-1e39), DType::Complex64) == "overflow in cast;");
  CHECK(reported(scalar_complex({0, 1e39}), DType::Complex64) == "overflow in cast;");
  CHECK(reported(scalar_int(70000), DType::Float16) == "overflow in cast;");
  CHECK(reported(scalar_float(1e-50), DType::Float32) == "underflow in cast;");
  CHECK(reported(scalar_complex({1e39, 1e-50}), DType::Complex64) ==
        "overflow in cast;underflow in cast;");
}

TEST_CASE("Python's numbers may underflow") {
  CHECK(reported(scalar_float(1e-50), DType::Float32, Weak::Float).empty());
  CHECK(reported(scalar_float(1e39), DType::Float32, Weak::Float) == "overflow in cast;");
}

TEST_CASE("a scalar that its new dtype holds is not reported") {
  for (const double v : {0.0, -0.0, 1.5, 3e38, 0x1.fffffe8p127, HUGE_VAL, std::nan(""), 0x1p-130})
    CHECK(reported(scalar_float(v), DType::Float32).empty());
  CHECK(reported(scalar_float(1e300), DType::Float64).empty());
  CHECK(reported(scalar_float(65519), DType::Float16).empty());
  CHECK(reported(scalar_float(0x1p-24), DType::Float16).empty());
  CHECK(reported(scalar_int(INT64_MAX), DType::Float32).empty());
}

TEST_CASE("under 'raise' the report is an exception") {
  set_fp_sink([](FpEvent, std::string_view, const ErrorState&, std::uint32_t) {});
  ErrorState raise;
  raise.over = ErrorAction::Raise;
  set_error_state(raise);
  const Array x = full({3}, Scalar::of(DType::Float32, 0.0f));
  CHECK_THROWS_AS(assign(x, Operand(scalar_float(1e39), Weak::Float)), FloatingPointError);
  CHECK(read(x)->kind == NodeKind::Fill);
  set_error_state({});
  set_fp_sink(nullptr);
}
