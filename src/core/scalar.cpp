#include "scalar.hpp"

#include "convert.hpp"
#include "dispatch.hpp"
#include "narrow.hpp"

namespace plait {

Scalar scalar_bool(bool v) { return Scalar::of(DType::Bool, v); }
Scalar scalar_int(std::int64_t v) { return Scalar::of(DType::Int64, v); }
Scalar scalar_float(double v) { return Scalar::of(DType::Float64, v); }
Scalar scalar_complex(std::complex<double> v) { return Scalar::of(DType::Complex128, v); }

namespace {
Scalar from_narrow(const Scalar& s) {
  return dispatch_narrow(s.dtype, [&]<DType t>() {
    if constexpr (is_float(t)) {
      const auto bits = itemsize(t) == 2 ? s.as<std::uint16_t>() : s.as<std::uint8_t>();
      return Scalar::of(DType::Float32, plait::from_narrow<t>(bits));
    } else {
      return Scalar::of(computes_in(t), from_narrow_int<t>(s.as<std::uint8_t>()));
    }
  });
}
Scalar to_narrow(const Scalar& s, DType to) {
  return dispatch_narrow(to, [&]<DType t>() {
    if constexpr (is_float(t))
      return Scalar::of(t, plait::to_narrow<t>(s.as<float>()));
    else
      return Scalar::of(t, to_narrow_int<t>(s.as<std::uint8_t>()));
  });
}
}  // namespace

Scalar cast(const Scalar& s, DType to) {
  if (s.dtype == to) return s;
  if (is_narrow(s.dtype)) return cast(from_narrow(s), to);
  if (is_narrow(to)) return to_narrow(cast(s, computes_in(to)), to);
  return dispatch(s.dtype, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return dispatch(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      return Scalar::of(to, convert<To>(s.as<From>()));
    });
  });
}

}  // namespace plait
