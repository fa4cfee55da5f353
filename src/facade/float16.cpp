#include "core/scalar.hpp"
#include "plait/dtype.hpp"

namespace plait {

std::uint16_t float16::from_float(float v) {
  return cast(Scalar::of(DType::Float32, v), DType::Float16).as<std::uint16_t>();
}
float float16::to_float(std::uint16_t bits) {
  return cast(Scalar::of(DType::Float16, bits), DType::Float32).as<float>();
}

}  // namespace plait
