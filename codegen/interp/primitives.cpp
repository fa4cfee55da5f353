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

template <class T, class F>
void scan(void* acc, const void* in, std::int64_t stride, void* out, std::int64_t out_stride,
          std::int64_t n) {
  T a = *static_cast<T*>(acc);
  const char* p = static_cast<const char*>(in);
  char* q = static_cast<char*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    T v;
    std::memcpy(&v, p + i * stride, sizeof v);
    a = F()(a, v);
    std::memcpy(q + i * out_stride, &a, sizeof a);
  }
  *static_cast<T*>(acc) = a;
}

struct RunningSum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)  // wraps around
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct RunningProduct {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return product(a, b);
  }
};
// NaN comes first, and the later one of equal ones, zeros.
template <bool max>
struct RunningExtreme {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)  // quiet comparisons
      return (max ? __builtin_isgreater(a, b) : __builtin_isless(a, b)) || __builtin_isnan(a) ? a
                                                                                              : b;
    else
      return (max ? a > b : a < b) ? a : b;
  }
};

template <class T>
ScanFn scan_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return scan<T, RunningSum>;
    case ReduceKind::Prod:
      return scan<T, RunningProduct>;
    case ReduceKind::Min:
      if constexpr (std::is_arithmetic_v<T>) return scan<T, RunningExtreme<false>>;
      break;
    case ReduceKind::Max:
      if constexpr (std::is_arithmetic_v<T>) return scan<T, RunningExtreme<true>>;
      break;
    default:
      break;
  }
  return nullptr;
}

ScanFn scan_of(ReduceKind kind, DType t) {
  switch (t) {
    case DType::Int8:
      return scan_of<std::int8_t>(kind);
    case DType::UInt8:
      return scan_of<std::uint8_t>(kind);
    case DType::Int16:
      return scan_of<std::int16_t>(kind);
    case DType::UInt16:
      return scan_of<std::uint16_t>(kind);
    case DType::Int32:
      return scan_of<std::int32_t>(kind);
    case DType::UInt32:
      return scan_of<std::uint32_t>(kind);
    case DType::Int64:
      return scan_of<std::int64_t>(kind);
    case DType::UInt64:
      return scan_of<std::uint64_t>(kind);
    case DType::Float32:
      return scan_of<float>(kind);
    case DType::Float64:
      return scan_of<double>(kind);
    case DType::Complex64:
      return scan_of<std::complex<float>>(kind);
    case DType::Complex128:
      return scan_of<std::complex<double>>(kind);
    default:
      return nullptr;
  }
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

void copy_rows(char* out, const char* in, std::int64_t row_stride, std::int64_t stride,
               std::int64_t rows, std::int64_t n, int itemsize) {
  const std::int64_t bytes = n * itemsize;
  if (stride != itemsize) {
    for (std::int64_t r = 0; r < rows; ++r)
      copy(out + r * bytes, itemsize, in + r * row_stride, stride, n, itemsize);
    return;
  }
  constexpr std::int64_t kBlock = 16;
  struct Block {
    char bytes[kBlock];
  };
  const auto move = [](char* to, const char* from) {
    Block b;
    std::memcpy(&b, from, kBlock);
    std::memcpy(to, &b, kBlock);
  };
  for (std::int64_t r = 0; r < rows; ++r, out += bytes, in += row_stride) {
    if (bytes < kBlock || bytes > 16 * kBlock) {
      std::memcpy(out, in, static_cast<std::size_t>(bytes));
      continue;
    }
    // The last block overlaps the one before.
    for (std::int64_t at = 0; at < bytes - kBlock; at += kBlock) move(out + at, in + at);
    move(out + bytes - kBlock, in + bytes - kBlock);
  }
}

void iota(std::int64_t* out, std::int64_t first, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = first + i;
}

ScanFn running_fold(ReduceKind kind, DType t) {
  const ScanFn f = scan_of(kind, t);
  if (!f) throw InternalError("interpreter: no running fold of " + std::string(name(t)));
  return f;
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

namespace {

template <bool max>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)  // quiet comparisons
      return (max ? __builtin_isgreaterequal(a, b) : __builtin_islessequal(a, b)) ||
                     __builtin_isnan(a)
                 ? a
                 : b;
    else
      return (max ? a >= b : a <= b) ? a : b;
  }
};

template <class T, class F>
void scatter_by(const ScatterTo& to, const void* in, std::int64_t stride, std::int64_t n) {
  const char* p = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t k;
    std::memcpy(&k, to.index + i * to.index_stride, sizeof k);
    char* const at = to.out + i * to.out_stride + k * to.step;
    T old, v;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&v, p + i * stride, sizeof v);
    old = F()(old, v);
    std::memcpy(at, &old, sizeof old);
  }
}

template <class T>
ScatterFn scatter_of(OpId fn) {
  switch (fn) {
    case OpId::Add:
      return scatter_by<T, RunningSum>;
    case OpId::Multiply:
      return scatter_by<T, RunningProduct>;
    case OpId::Minimum:
      return scatter_by<T, Extreme<false>>;
    case OpId::Maximum:
      return scatter_by<T, Extreme<true>>;
    default:
      return nullptr;
  }
}

ScatterFn scatter_of(OpId fn, DType t) {
  switch (t) {
    case DType::Int8:
      return scatter_of<std::int8_t>(fn);
    case DType::UInt8:
      return scatter_of<std::uint8_t>(fn);
    case DType::Int16:
      return scatter_of<std::int16_t>(fn);
    case DType::UInt16:
      return scatter_of<std::uint16_t>(fn);
    case DType::Int32:
      return scatter_of<std::int32_t>(fn);
    case DType::UInt32:
      return scatter_of<std::uint32_t>(fn);
    case DType::Int64:
      return scatter_of<std::int64_t>(fn);
    case DType::UInt64:
      return scatter_of<std::uint64_t>(fn);
    case DType::Float32:
      return scatter_of<float>(fn);
    case DType::Float64:
      return scatter_of<double>(fn);
    default:
      return nullptr;
  }
}

}  // namespace

ScatterFn scatter(OpId fn, DType t) {
  if (const ScatterFn f = scatter_of(fn, t)) return f;
  throw InternalError("interpreter: no scatter of " + std::string(name(t)));
}

}  // namespace plait::interp
