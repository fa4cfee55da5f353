// frexp and modf, with two results each.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "call.hpp"
#include "core/half.hpp"
#include "engine/direct/direct_rows.hpp"
#include "units.hpp"

namespace plait::engine {

namespace {

// f(element, first result, second result) for each element.
template <class F>
void for_each_element(const CallRun& r, F f) {
  const Operand &in = r.inputs[0], &a = r.results[0], &b = r.results[1];
  const Memory operands[] = {{in.data, in.strides}, {a.data, a.strides}, {b.data, b.strides}};
  for_each_row(make_rows(in.shape, operands, 3),
               [&](std::byte* const* p, const std::int64_t* strides, std::int64_t n) {
                 for (std::int64_t i = 0; i < n; ++i)
                   f(p[0] + i * strides[0], p[1] + i * strides[1], p[2] + i * strides[2]);
               });
}

template <class T, class F>
void as_type(const CallRun& r, F f) {
  for_each_element(r, [&](const std::byte* in, std::byte* a, std::byte* b) {
    T x;
    std::memcpy(&x, in, sizeof x);
    f(x, a, b);
  });
}

// std::frexp, by the bits of ordinary numbers.
template <class T>
T frexp(T x, int& exponent) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1,
                kBias = std::numeric_limits<T>::max_exponent - 2;
  constexpr Bits kExponents = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const auto bits = std::bit_cast<Bits>(x);
  const Bits field = bits & kExponents;
  if (field == 0 || field == kExponents) return std::frexp(x, &exponent);
  exponent = static_cast<int>(field >> kMantissa) - kBias;
  return std::bit_cast<T>((bits & ~kExponents) | Bits{kBias} << kMantissa);
}

template <class V>
void put(std::byte* at, V v) {
  std::memcpy(at, &v, sizeof v);
}

// f(value, first, second) with values of float or double; `store` writes one of them back.
template <class F>
void of_floats(const CallRun& r, F f) {
  switch (r.inputs[0].dtype) {
    case DType::Float64:
      return as_type<double>(r, [&](double x, std::byte* a, std::byte* b) {
        f(x, a, b, [](std::byte* at, double v) { put(at, v); });
      });
    case DType::Float32:
      return as_type<float>(r, [&](float x, std::byte* a, std::byte* b) {
        f(x, a, b, [](std::byte* at, float v) { put(at, v); });
      });
    default:
      return as_type<std::uint16_t>(r, [&](std::uint16_t h, std::byte* a, std::byte* b) {
        f(half_to_float(h), a, b, [](std::byte* at, float v) { put(at, float_to_half(v)); });
      });
  }
}

}  // namespace

void run_frexp(const CallRun& r) {
  of_floats(r, [](auto x, std::byte* mantissa, std::byte* exponent, auto store) {
    int e = 0;
    store(mantissa, frexp(x, e));
    put(exponent, std::int32_t{e});
  });
}

void run_modf(const CallRun& r) {
  of_floats(r, [](auto x, std::byte* fraction, std::byte* whole, auto store) {
    decltype(x) w;
    store(fraction, std::modf(x, &w));
    store(whole, w);
  });
}

}  // namespace plait::engine
