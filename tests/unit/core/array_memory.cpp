#include "core/array_memory.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace plait;

TEST_CASE("memory for an array has its bytes") {
  CHECK(allocate_array(Dims{2, 3}, DType::Float64)->bytes == 48);
  CHECK(allocate_array(Dims{0, 3}, DType::Float64)->bytes == 0);
}

TEST_CASE("memory that cannot be had is named as NumPy names it") {
  const auto text = [](const Dims& shape, DType t) {
    return std::string(ArrayMemoryError(shape, t).what());
  };
  const std::int64_t big = std::int64_t{1} << 28;
  CHECK(text({big, big}, DType::Float64) ==
        "Unable to allocate 512. PiB for an array with shape (268435456, 268435456) and data type "
        "float64");
  CHECK(text({100}, DType::Int8) ==
        "Unable to allocate 100 bytes for an array with shape (100,) and data type int8");
  CHECK(text({1023, 1024}, DType::Int8) ==
        "Unable to allocate 1023. KiB for an array with shape (1023, 1024) and data type int8");
  CHECK(text({1536}, DType::Int8) ==
        "Unable to allocate 1.50 KiB for an array with shape (1536,) and data type int8");
  CHECK(text(Dims(kMaxDims, 1), DType::Bool).ends_with("1) and data type bool"));
  CHECK_THROWS_AS(allocate_array(Dims{big, big}, DType::Float64), ArrayMemoryError);
}
