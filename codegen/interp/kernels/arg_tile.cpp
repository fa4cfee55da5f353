// Arg-reductions whose lanes each keep their own best. Compiled once a CPU tier, which PLAIT_TIER
// names.
#include <cmath>
#include <complex>
#include <limits>

#include "codegen/interp/primitives.hpp"
#include "core/processor/float_unit.hpp"

namespace plait::interp::PLAIT_TIER {
namespace {

template <class T>
bool is_nan(T v) {
  return v != v;
}
template <class T>
bool is_nan(std::complex<T> v) {
  return is_nan(v.real()) | is_nan(v.imag());
}
template <class T>
bool before(T a, T b) {
  return a < b;
}
template <class T>
bool before(std::complex<T> a, std::complex<T> b) {
  return (a.real() < b.real()) | ((a.real() == b.real()) & (a.imag() < b.imag()));
}

template <class T, bool max>
void lane(T& best, std::int64_t& index, T v, std::int64_t position) {
  // A complex NaN may order before a number by its real part, but nothing replaces it.
  bool better = max ? before(best, v) : before(v, best);
  bool update = (better | is_nan(v)) & !is_nan(best);
  best = update ? v : best;
  index = update ? position : index;
}

template <class T, bool max>
void step(void* best, std::int64_t* index, const void* in, std::int64_t stride,
          std::int64_t position, std::int64_t n) {
  QuietFlags quiet;
  T* b = static_cast<T*>(best);
  if (stride == sizeof(T)) {
    const T* v = static_cast<const T*>(in);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) lane<T, max>(b[i], index[i], v[i], position);
    return;
  }
  const char* v = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < n; ++i)
    lane<T, max>(b[i], index[i], *reinterpret_cast<const T*>(v + i * stride), position);
}

// Roots of values that differ by more than about four units in the last place differ themselves, so
// only a lane that wins by less needs them.
template <class T>
constexpr T kClear = T(1) - 4 * std::numeric_limits<T>::epsilon();

template <class T, bool max>
void root_step(void* best, std::int64_t* index, const void* in, std::int64_t stride,
               std::int64_t position, std::int64_t n) {
  QuietFlags quiet;
  T* b = static_cast<T*>(best);
  const char* p = static_cast<const char*>(in);
  auto value = [&](std::int64_t i) { return *reinterpret_cast<const T*>(p + i * stride); };
  int near = 0;
  auto test = [&](T v, T best_of) {
    T winner = max ? v : best_of, loser = max ? best_of : v;
    near |= (loser < winner) & !(loser < winner * kClear<T>);
  };
  if (stride == sizeof(T)) {
    const T* v = static_cast<const T*>(in);
    for (std::int64_t i = 0; i < n; ++i) test(v[i], b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) test(value(i), b[i]);
  }
  if (!near) return step<T, max>(best, index, in, stride, position, n);
  for (std::int64_t i = 0; i < n; ++i) {
    T v = value(i), rv = std::sqrt(v), rb = std::sqrt(b[i]);
    bool update = (max ? rb < rv : rv < rb) | (is_nan(v) & !is_nan(b[i]));
    if (update) b[i] = v, index[i] = position;
  }
}

template <class T>
ArgTileFn pick(ReduceKind kind) {
  return kind == ReduceKind::ArgMax ? step<T, true> : step<T, false>;
}
template <class T>
ArgTileFn pick_roots(ReduceKind kind) {
  return kind == ReduceKind::ArgMax ? root_step<T, true> : root_step<T, false>;
}

}  // namespace

ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots) {
  switch (t) {
    case DType::Bool:
    case DType::UInt8:
      return pick<std::uint8_t>(kind);
    case DType::Int8:
      return pick<std::int8_t>(kind);
    case DType::Int16:
      return pick<std::int16_t>(kind);
    case DType::UInt16:
      return pick<std::uint16_t>(kind);
    case DType::Int32:
      return pick<std::int32_t>(kind);
    case DType::UInt32:
      return pick<std::uint32_t>(kind);
    case DType::Int64:
      return pick<std::int64_t>(kind);
    case DType::UInt64:
      return pick<std::uint64_t>(kind);
    case DType::Float32:
      return roots ? pick_roots<float>(kind) : pick<float>(kind);
    case DType::Float64:
      return roots ? pick_roots<double>(kind) : pick<double>(kind);
    case DType::Complex64:
      return pick<std::complex<float>>(kind);
    case DType::Complex128:
      return pick<std::complex<double>>(kind);
    default:
      return nullptr;
  }
}

}  // namespace plait::interp::PLAIT_TIER
