#include "core/op_table.hpp"

#include <catch2/catch.hpp>

#include "plait/error.hpp"

using namespace plait;

TEST_CASE("rows stand at their identifier and are found by NumPy's name") {
  for (int i = 0; i < kOpCount; ++i) {
    const auto id = static_cast<OpId>(i);
    CHECK(op_info(id).id == id);
    CHECK(find_op(op_info(id).name) == id);
  }
  CHECK(find_op("true_divide") == OpId::Divide);
  CHECK(find_op("abs") == OpId::Absolute);
  CHECK(find_op("atan2") == OpId::Arctan2);
  CHECK(find_op("bitwise_left_shift") == OpId::LeftShift);
  CHECK(find_op("frexp") == OpId::Count_);
}

TEST_CASE("loops stand in the order of DType, which type resolution relies on") {
  for (int i = 0; i < kOpCount; ++i) {
    const auto loops = op_info(static_cast<OpId>(i)).loops;
    for (std::size_t j = 1; j < loops.size(); ++j)
      CHECK(from_code(loops[j - 1]) < from_code(loops[j]));
  }
}

TEST_CASE("reductions have NumPy's result dtypes") {
  CHECK(reduce_dtype(ReduceKind::Sum, DType::Bool) == DType::Int64);
  CHECK(reduce_dtype(ReduceKind::Sum, DType::Int8) == DType::Int64);
  CHECK(reduce_dtype(ReduceKind::Prod, DType::UInt16) == DType::UInt64);
  CHECK(reduce_dtype(ReduceKind::Sum, DType::Float16) == DType::Float16);
  CHECK(reduce_dtype(ReduceKind::Min, DType::Int8) == DType::Int8);
  CHECK(reduce_dtype(ReduceKind::ArgMax, DType::Float32) == DType::Int64);
  CHECK(reduce_dtype(ReduceKind::Any, DType::Complex64) == DType::Bool);
  CHECK(reduce_dtype(ReduceKind::BitAnd, DType::UInt8) == DType::UInt8);
  CHECK_THROWS_AS(reduce_dtype(ReduceKind::BitAnd, DType::Float32), DTypeError);
  for (int i = 0; i < kReduceKindCount; ++i)
    CHECK(reduce_info(static_cast<ReduceKind>(i)).kind == static_cast<ReduceKind>(i));
  CHECK(reduce_info(ReduceKind::All).combine == OpId::LogicalAnd);
  CHECK_FALSE(reduce_info(ReduceKind::Min).has(kHasIdentity));
}
