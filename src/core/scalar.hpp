// One value of any native dtype, as stored in memory. Scalars travel to kernels as arguments in
// this form.
#pragma once
#include <cstring>
#include <type_traits>

#include "dtype.hpp"

namespace plait {

struct Scalar {
  alignas(16) unsigned char bytes[16] = {};
  DType dtype = DType::Float64;

  template <class T>
  static Scalar of(DType t, T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
    Scalar s;
    s.dtype = t;
    std::memcpy(s.bytes, &value, sizeof(T));
    return s;
  }
  template <class T>
  T as() const {  // reinterprets; the caller knows the dtype
    T v;
    std::memcpy(&v, bytes, sizeof(T));
    return v;
  }
};

Scalar scalar_bool(bool v);
Scalar scalar_int(std::int64_t v);
Scalar scalar_float(double v);
Scalar scalar_complex(std::complex<double> v);
// Converts with NumPy's unsafe-cast semantics.
Scalar cast(const Scalar& s, DType to);

}  // namespace plait
