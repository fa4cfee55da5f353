// Compile-time result types against the core's: one rule, of two lists of functions.
#include "plait/detail/result_type.hpp"

#include <catch2/catch.hpp>
#include <optional>

#include "core/op_table.hpp"
#include "plait/plait.hpp"

namespace {

using plait::DType;
using plait::dtype;
namespace d = plait::detail;

constexpr plait::OpId ids[] = {
#define PLAIT_FUNCTION(id, ...) plait::OpId::id,
#include "plait/detail/functions.def"
#undef PLAIT_FUNCTION
};
constexpr int kFunctions = sizeof(ids) / sizeof(ids[0]);

// A dtype, or one of the weak kinds with the dtype it has on its own.
d::operand_type operand(int i) {
  if (i < plait::kDTypeCount) return {static_cast<dtype>(i), d::weak::none};
  const auto w = static_cast<d::weak>(i - plait::kDTypeCount + 1);
  return {d::default_dtype(w), w};
}
constexpr int kOperands = plait::kDTypeCount + 4;

std::optional<DType> core_result(plait::OpId id, const d::operand_type* types, int n) {
  plait::OperandType o[3];
  for (int i = 0; i < n; ++i)
    o[i] = {static_cast<DType>(types[i].type), static_cast<plait::Weak>(types[i].weak)};
  try {
    return plait::resolve(id, std::span(o, static_cast<std::size_t>(n))).out;
  } catch (const plait::Error&) {
    return std::nullopt;
  }
}

void check(int f, const d::operand_type* types, int n) {
  const d::resolution r = d::resolve(static_cast<d::fn>(f), types, n);
  const std::optional<DType> expected = core_result(ids[f], types, n);
  INFO(plait::op_info(ids[f]).name << " of " << static_cast<int>(types[0].type) << "/"
                                   << static_cast<int>(types[0].weak) << ", "
                                   << static_cast<int>(types[n - 1].type) << "/"
                                   << static_cast<int>(types[n - 1].weak));
  REQUIRE(r.found() == expected.has_value());
  if (expected) REQUIRE(static_cast<int>(r.result) == static_cast<int>(*expected));
}

}  // namespace

TEST_CASE("dtype promotion equals the core's for every pair") {
  for (int a = 0; a < plait::kDTypeCount; ++a) {
    for (int b = 0; b < plait::kDTypeCount; ++b) {
      const auto x = static_cast<DType>(a), y = static_cast<DType>(b);
      const auto u = static_cast<dtype>(a), v = static_cast<dtype>(b);
      INFO(plait::name(x) << " " << plait::name(y));
      const auto common = d::common_dtype(u, v);
      const auto expected = plait::common_dtype(x, y);
      REQUIRE(common.has_value() == expected.has_value());
      if (common) CHECK(static_cast<int>(*common) == static_cast<int>(*expected));
      CHECK(d::can_cast_safely(u, v) == plait::can_cast(x, y, plait::Casting::Safe));
      CHECK(d::can_cast_same_kind(u, v) == plait::can_cast(x, y, plait::Casting::SameKind));
    }
    for (int w = 1; w <= 4; ++w)
      CHECK(static_cast<int>(d::promote_weak(static_cast<dtype>(a), static_cast<d::weak>(w))) ==
            static_cast<int>(
                plait::promote_weak(static_cast<DType>(a), static_cast<plait::Weak>(w))));
  }
}

TEST_CASE("every row of the operation table but real, imag and fma is a public function") {
  CHECK(kFunctions == plait::kOpCount - 3);
  for (int f = 0; f < kFunctions; ++f) {
    const plait::OpInfo& info = plait::op_info(ids[f]);
    for (int t = 0; t < plait::kNumPyDTypes; ++t) {
      const bool has = (d::fn_table[f].loops & d::set_of(static_cast<dtype>(t))) != 0;
      CHECK(has == (info.loops.find(plait::code(static_cast<DType>(t))) != std::string_view::npos));
    }
    CHECK(static_cast<int>(d::fn_table[f].out) == static_cast<int>(info.out));
  }
}

TEST_CASE("result types equal the core's for every function and operand") {
  for (int f = 0; f < kFunctions; ++f) {
    const int arity = plait::op_info(ids[f]).arity;
    for (int a = 0; a < kOperands; ++a) {
      d::operand_type types[3] = {operand(a), operand(a), operand(a)};
      if (arity == 1) {
        if (types[0].weak == d::weak::none) check(f, types, 1);
        continue;
      }
      for (int b = 0; b < kOperands; ++b) {
        types[arity - 1] = operand(b);
        const bool is_where = ids[f] == plait::OpId::Where;
        if (is_where) {
          types[0] = {dtype::bool_, d::weak::none};
          types[1] = operand(a);
        } else if (arity == 3) {
          types[1] = operand(a);
        }
        // The facade takes operations on scalars alone only beside an array.
        if (operand(a).weak != d::weak::none && operand(b).weak != d::weak::none) continue;
        check(f, types, arity);
      }
    }
  }
}

TEST_CASE("reduction types equal the core's") {
  for (int a = 0; a < plait::kDTypeCount; ++a) {
    const auto t = static_cast<DType>(a);
    const auto u = static_cast<dtype>(a);
    const auto same = [&](d::reduction r, plait::ReduceKind k) {
      INFO(plait::name(t));
      CHECK(static_cast<int>(d::reduced(r, u)) == static_cast<int>(plait::reduce_dtype(k, t)));
    };
    same(d::reduction::sum, plait::ReduceKind::Sum);
    same(d::reduction::prod, plait::ReduceKind::Prod);
    same(d::reduction::min, plait::ReduceKind::Min);
    same(d::reduction::argmax, plait::ReduceKind::ArgMax);
    same(d::reduction::any, plait::ReduceKind::Any);
  }
}

template <class A>
using value_t = typename A::value_type;
#define SAME(expression, type) STATIC_REQUIRE(std::is_same_v<value_t<decltype(expression)>, type>)

TEST_CASE("result types that users see") {
  plait::array<std::uint8_t> u8;
  plait::array<std::int32_t> i32;
  plait::array<std::uint64_t> u64;
  plait::array<plait::float16> f16;
  plait::array<float> f32;
  plait::array<double> f64;
  plait::array<bool> b;
  SAME(f32 * 2.0, float);
  SAME(f32 + f64, double);
  SAME(u8 + 300 / 3, std::uint8_t);
  SAME(u8 / 2, double);
  SAME(i32 / i32, double);
  SAME(u64 + i32, double);
  SAME(plait::sqrt(u8), plait::float16);
  SAME(f16 + 1.0, plait::float16);
  SAME(f32 * std::complex<double>(0, 1), std::complex<float>);
  SAME(b + 1, std::int64_t);
  SAME(f64 < 1, bool);
  SAME(plait::where(b, i32, 0.5), double);
  SAME(plait::clip(f32, 0, 1), float);
  SAME(plait::sum(u8), std::uint64_t);
  SAME(plait::mean(i32, {0}), double);
  SAME(plait::abs(plait::array<std::complex<float>>()), float);
  SAME(plait::argmin(f32, 0), std::int64_t);
}
