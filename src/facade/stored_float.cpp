#include "core/scalar.hpp"
#include "plait/dtype.hpp"

namespace plait::detail {

std::uint16_t float_to_bits(float v, dtype t) {
  return cast(Scalar::of(DType::Float32, v), static_cast<DType>(t)).as<std::uint16_t>();
}
float bits_to_float(std::uint16_t bits, dtype t) {
  return cast(Scalar::of(static_cast<DType>(t), bits), DType::Float32).as<float>();
}

}  // namespace plait::detail
