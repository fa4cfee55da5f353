#include "core/call_table.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "plait/error.hpp"

using namespace plait;

TEST_CASE("calls stand at their identifier and are found by name") {
  for (int i = 0; i < kCallCount; ++i) {
    const auto id = static_cast<CallId>(i);
    const CallInfo& info = call_info(id);
    CHECK(info.id == id);
    CHECK(find_call(info.name) == id);
    CHECK(info.rule != nullptr);
    CHECK(info.seconds > 0);
    CHECK(info.fewest_inputs <= info.most_inputs);
    CHECK(info.results >= 1);
    CHECK(info.results <= kMaxCallResults);
  }
  CHECK(find_call("no such call") == kNoCall);
}

TEST_CASE("a rule gives dtypes and shapes, or NumPy's error") {
  const ValueType floats{DType::Float32, {3, 4}}, integers{DType::Int16, {3}};
  std::vector<ValueType> results(2);
  const CallInfo& frexp = call_info(CallId::Frexp);
  frexp.rule({&floats, 1}, {}, results);
  CHECK(results[0].dtype == DType::Float32);
  CHECK(results[1].dtype == DType::Int32);
  CHECK(results[1].shape == Dims{3, 4});
  CHECK_THROWS_AS(frexp.rule({&integers, 1}, {}, results), DTypeError);
}

TEST_CASE("several results lie apart in one block") {
  const ValueType types[] = {{DType::Float64, {3}}, {DType::Int8, {0}}, {DType::Int32, {2, 20}}};
  const CallBlock b = call_block(types);
  CHECK(b.offsets[0] == 0);
  CHECK(b.offsets[1] == 64);
  CHECK(b.offsets[2] == 64);
  CHECK(b.bytes == 64 + 192);
  const ValueType large[] = {{DType::Float64, {std::int64_t{1} << 62}}};
  CHECK_THROWS_AS(call_block(large), ValueError);
}
