#include "primitives.hpp"

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
