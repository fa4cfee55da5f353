// Matrix products: through the installed GEMM where it takes them, else a loop that sums along k in
// order, as NumPy's own loop does.
#include <atomic>
#include <complex>
#include <cstring>
#include <vector>

#include "direct.hpp"
#include "direct_kernels.hpp"
#include "interruption.hpp"

namespace plait::engine {

namespace {

std::atomic<GemmFn> installed{nullptr};

template <class T>
T read_as(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Rows of c are summed in `Acc`; Load and Store convert elements.
template <class T, class Acc, class Load, class Store>
void multiply(const Gemm& g, Load load, Store store) {
  std::vector<Acc> row(static_cast<std::size_t>(g.n));
  const auto* a = static_cast<const std::byte*>(g.a);
  const auto* b = static_cast<const std::byte*>(g.b);
  auto* c = static_cast<std::byte*>(g.c);
  for (std::int64_t i = 0; i < g.m; ++i) {
    look_around();
    std::fill(row.begin(), row.end(), Acc{});
    for (std::int64_t k = 0; k < g.k; ++k) {
      const Acc x = load(read_as<T>(a + i * g.a_row + k * g.a_column));
      const std::byte* line = b + k * g.b_row;
      for (std::int64_t j = 0; j < g.n; ++j) {
        const Acc y = load(read_as<T>(line + j * g.b_column));
        if constexpr (std::is_same_v<T, bool>)
          row[static_cast<std::size_t>(j)] |= static_cast<Acc>(x & y);
        else
          row[static_cast<std::size_t>(j)] += static_cast<Acc>(x * y);
      }
    }
    for (std::int64_t j = 0; j < g.n; ++j) {
      const T v = store(row[static_cast<std::size_t>(j)]);
      std::memcpy(c + (i * g.n + j) * static_cast<std::int64_t>(sizeof(T)), &v, sizeof v);
    }
  }
}

template <class T, class Acc>
void multiply_plain(const Gemm& g) {
  multiply<T, Acc>(
      g, [](T v) { return static_cast<Acc>(v); }, [](Acc v) { return static_cast<T>(v); });
}

float half_value(std::uint16_t bits) {
  return cast(Scalar::of(DType::Float16, bits), DType::Float32).as<float>();
}
std::uint16_t half_bits(float v) {
  return cast(Scalar::of(DType::Float32, v), DType::Float16).as<std::uint16_t>();
}

void multiply_any(const Gemm& g) {
  switch (g.dtype) {
    case DType::Bool:
      return multiply_plain<bool, unsigned char>(g);
    // Integers wrap; in unsigned arithmetic that is defined.
    case DType::Int8:
      return multiply_plain<std::int8_t, std::uint32_t>(g);
    case DType::UInt8:
      return multiply_plain<std::uint8_t, std::uint32_t>(g);
    case DType::Int16:
      return multiply_plain<std::int16_t, std::uint32_t>(g);
    case DType::UInt16:
      return multiply_plain<std::uint16_t, std::uint32_t>(g);
    case DType::Int32:
      return multiply_plain<std::int32_t, std::uint32_t>(g);
    case DType::UInt32:
      return multiply_plain<std::uint32_t, std::uint32_t>(g);
    case DType::Int64:
      return multiply_plain<std::int64_t, std::uint64_t>(g);
    case DType::UInt64:
      return multiply_plain<std::uint64_t, std::uint64_t>(g);
    case DType::Float16:
      return multiply<std::uint16_t, float>(g, half_value, half_bits);
    case DType::Float32:
      return multiply_plain<float, float>(g);
    case DType::Float64:
      return multiply_plain<double, double>(g);
    case DType::Complex64:
      return multiply_plain<std::complex<float>, std::complex<float>>(g);
    case DType::Complex128:
      return multiply_plain<std::complex<double>, std::complex<double>>(g);
  }
}

}  // namespace

void set_gemm(GemmFn fn) { installed.store(fn); }

void run_matmul(DType t, const Dims& a_shape, const Memory& a, const Dims& b_shape, const Memory& b,
                std::byte* c) {
  const int d = a_shape.size();
  Gemm g{};
  g.dtype = t;
  g.m = a_shape[d - 2];
  g.k = a_shape[d - 1];
  g.n = b_shape[d - 1];
  g.a_row = a.strides[d - 2];
  g.a_column = a.strides[d - 1];
  g.b_row = b.strides[d - 2];
  g.b_column = b.strides[d - 1];
  const std::int64_t step = g.m * g.n * static_cast<std::int64_t>(itemsize(t));
  const GemmFn fast = installed.load();
  const Dims batch(a_shape.begin(), a_shape.end() - 2);
  Dims at(batch.size(), 0);
  for (std::int64_t i = 0, count = element_count(batch); i < count; ++i, c += step) {
    const std::byte *pa = a.data, *pb = b.data;
    for (int axis = 0; axis < batch.size(); ++axis) {
      pa += at[axis] * a.strides[axis];
      pb += at[axis] * b.strides[axis];
    }
    g.a = pa;
    g.b = pb;
    g.c = c;
    look_around();
    if (!fast || !fast(g)) multiply_any(g);
    for (int axis = batch.size() - 1; axis >= 0 && ++at[axis] == batch[axis]; --axis) at[axis] = 0;
  }
}

}  // namespace plait::engine
