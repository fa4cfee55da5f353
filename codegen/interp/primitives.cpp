#include "primitives.hpp"

#include <complex>
#include <cstring>

#include "plait/error.hpp"

namespace plait::interp {
namespace {

template <class T>
void copy_items(char* out, std::int64_t os, const char* in, std::int64_t is, std::int64_t n) {
  if (os == sizeof(T) && is == 0) {
    T v;
    std::memcpy(&v, in, sizeof v);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * sizeof(T), &v, sizeof v);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * os, in + i * is, sizeof(T));
}

template <class T>
bool is_nan(T v) {
  return v != v;
}
template <class T>
bool is_nan(std::complex<T> v) {
  return v.real() != v.real() || v.imag() != v.imag();
}
template <class T>
bool before(T a, T b) {
  return a < b;
}
template <class T>
bool before(std::complex<T> a, std::complex<T> b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

template <class T, bool max>
void arg_step(void* best, std::int64_t* index, const void* in, std::int64_t stride,
              std::int64_t position, std::int64_t n) {
  T* b = static_cast<T*>(best);
  auto step = [&](std::int64_t i, T v) {
    bool better = max ? before(b[i], v) : before(v, b[i]);
    bool update = better | (is_nan(v) & !is_nan(b[i]));
    b[i] = update ? v : b[i];
    index[i] = update ? position : index[i];
  };
  if (stride == sizeof(T)) {
    const T* v = static_cast<const T*>(in);
    for (std::int64_t i = 0; i < n; ++i) step(i, v[i]);
  } else {
    const char* v = static_cast<const char*>(in);
    for (std::int64_t i = 0; i < n; ++i) step(i, *reinterpret_cast<const T*>(v + i * stride));
  }
}

template <class T>
ArgTileFn arg_tile_of(ReduceKind kind) {
  return kind == ReduceKind::ArgMax ? arg_step<T, true> : arg_step<T, false>;
}

template <class T>
T product(T a, T b) {
  return a * b;
}
// NumPy's formula; operator* of std::complex repairs infinities.
template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T, bool sum>
void fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  T a = *static_cast<T*>(acc);
  const char* p = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < n; ++i) {
    T v = *reinterpret_cast<const T*>(p + i * stride);
    a = sum ? a + v : product(a, v);
  }
  *static_cast<T*>(acc) = a;
}

template <class T>
FoldFn fold_of(ReduceKind kind) {
  return kind == ReduceKind::Sum ? fold<T, true> : fold<T, false>;
}

}  // namespace

void copy(char* out, std::int64_t os, const char* in, std::int64_t is, std::int64_t n,
          int itemsize) {
  if (os == itemsize && is == itemsize) {
    std::memmove(out, in, static_cast<std::size_t>(n) * itemsize);
    return;
  }
  switch (itemsize) {
    case 1:
      return copy_items<std::uint8_t>(out, os, in, is, n);
    case 2:
      return copy_items<std::uint16_t>(out, os, in, is, n);
    case 4:
      return copy_items<std::uint32_t>(out, os, in, is, n);
    case 8:
      return copy_items<std::uint64_t>(out, os, in, is, n);
    default:
      return copy_items<std::complex<double>>(out, os, in, is, n);
  }
}

void iota(std::int64_t* out, std::int64_t first, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = first + i;
}

ArgTileFn arg_tile(ReduceKind kind, DType t) {
  switch (t) {
    case DType::Bool:
    case DType::UInt8:
      return arg_tile_of<std::uint8_t>(kind);
    case DType::Int8:
      return arg_tile_of<std::int8_t>(kind);
    case DType::Int16:
      return arg_tile_of<std::int16_t>(kind);
    case DType::UInt16:
      return arg_tile_of<std::uint16_t>(kind);
    case DType::Int32:
      return arg_tile_of<std::int32_t>(kind);
    case DType::UInt32:
      return arg_tile_of<std::uint32_t>(kind);
    case DType::Int64:
      return arg_tile_of<std::int64_t>(kind);
    case DType::UInt64:
      return arg_tile_of<std::uint64_t>(kind);
    case DType::Float32:
      return arg_tile_of<float>(kind);
    case DType::Float64:
      return arg_tile_of<double>(kind);
    case DType::Complex64:
      return arg_tile_of<std::complex<float>>(kind);
    case DType::Complex128:
      return arg_tile_of<std::complex<double>>(kind);
    case DType::Float16:
      break;
  }
  throw InternalError("interpreter: no arg-reduction of " + std::string(name(t)));
}

FoldFn sequential_fold(ReduceKind kind, DType t) {
  switch (t) {
    case DType::Float32:
      return fold_of<float>(kind);
    case DType::Float64:
      return fold_of<double>(kind);
    case DType::Complex64:
      return fold_of<std::complex<float>>(kind);
    case DType::Complex128:
      return fold_of<std::complex<double>>(kind);
    default:
      throw InternalError("interpreter: no sequential fold of " + std::string(name(t)));
  }
}

}  // namespace plait::interp
