#include "scalar.hpp"

#include "convert.hpp"
#include "dispatch.hpp"

namespace plait {

Scalar scalar_bool(bool v) { return Scalar::of(DType::Bool, v); }
Scalar scalar_int(std::int64_t v) { return Scalar::of(DType::Int64, v); }
Scalar scalar_float(double v) { return Scalar::of(DType::Float64, v); }
Scalar scalar_complex(std::complex<double> v) { return Scalar::of(DType::Complex128, v); }

Scalar cast(const Scalar& s, DType to) {
  if (s.dtype == to) return s;
  return dispatch(s.dtype, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return dispatch(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      return Scalar::of(to, convert<To>(s.as<From>()));
    });
  });
}

}  // namespace plait
