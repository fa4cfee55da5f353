// From a run-time dtype of NumPy's to a compile-time element type. Narrow dtypes have none that
// could be computed with.
#pragma once
#include <utility>

#include "dtype.hpp"
#include "half.hpp"
#include "plait/error.hpp"

namespace plait {

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<element type>{}).
template <class F>
decltype(auto) dispatch(DType t, F&& f) {
  switch (t) {
    case DType::Bool:
      return f(TypeTag<bool>{});
    case DType::Int8:
      return f(TypeTag<std::int8_t>{});
    case DType::UInt8:
      return f(TypeTag<std::uint8_t>{});
    case DType::Int16:
      return f(TypeTag<std::int16_t>{});
    case DType::UInt16:
      return f(TypeTag<std::uint16_t>{});
    case DType::Int32:
      return f(TypeTag<std::int32_t>{});
    case DType::UInt32:
      return f(TypeTag<std::uint32_t>{});
    case DType::Int64:
      return f(TypeTag<std::int64_t>{});
    case DType::UInt64:
      return f(TypeTag<std::uint64_t>{});
    case DType::Float16:
      return f(TypeTag<Half>{});
    case DType::Float32:
      return f(TypeTag<float>{});
    case DType::Float64:
      return f(TypeTag<double>{});
    case DType::Complex64:
      return f(TypeTag<std::complex<float>>{});
    case DType::Complex128:
      return f(TypeTag<std::complex<double>>{});
    default:
      throw InternalError("no loop computes in " + std::string(name(t)));
  }
}

}  // namespace plait
