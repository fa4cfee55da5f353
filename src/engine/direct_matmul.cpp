// Matrix products: by tiles or a BLAS where these take them, else a loop that sums along k in
// order, as NumPy's own loop does.
#include <complex>
#include <cstring>
#include <vector>

#include "direct_kernels.hpp"
#include "interruption.hpp"
#include "product.hpp"

namespace plait::engine {

namespace {

template <class T>
T read_as(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Rows of c are summed in `Acc`.
template <class T, class Acc>
void multiply(const MatrixProduct& g) {
  std::vector<Acc> row(static_cast<std::size_t>(g.n));
  for (std::int64_t i = 0; i < g.m; ++i) {
    look_around();
    std::fill(row.begin(), row.end(), Acc{});
    for (std::int64_t k = 0; k < g.k; ++k) {
      const auto x = static_cast<Acc>(read_as<T>(g.a + i * g.a_row + k * g.a_column));
      const std::byte* line = g.b + k * g.b_row;
      for (std::int64_t j = 0; j < g.n; ++j) {
        const auto y = static_cast<Acc>(read_as<T>(line + j * g.b_column));
        if constexpr (std::is_same_v<T, bool>)
          row[static_cast<std::size_t>(j)] |= static_cast<Acc>(x & y);
        else
          row[static_cast<std::size_t>(j)] += static_cast<Acc>(x * y);
      }
    }
    for (std::int64_t j = 0; j < g.n; ++j) {
      const T v = static_cast<T>(row[static_cast<std::size_t>(j)]);
      std::memcpy(g.c + (i * g.n + j) * static_cast<std::int64_t>(sizeof(T)), &v, sizeof v);
    }
  }
}

void multiply_any(const MatrixProduct& g) {
  switch (g.dtype) {
    case DType::Bool:
      return multiply<bool, unsigned char>(g);
    // Integers wrap; in unsigned arithmetic that is defined.
    case DType::Int8:
      return multiply<std::int8_t, std::uint32_t>(g);
    case DType::UInt8:
      return multiply<std::uint8_t, std::uint32_t>(g);
    case DType::Int16:
      return multiply<std::int16_t, std::uint32_t>(g);
    case DType::UInt16:
      return multiply<std::uint16_t, std::uint32_t>(g);
    case DType::Int32:
      return multiply<std::int32_t, std::uint32_t>(g);
    case DType::UInt32:
      return multiply<std::uint32_t, std::uint32_t>(g);
    case DType::Int64:
      return multiply<std::int64_t, std::uint64_t>(g);
    case DType::UInt64:
      return multiply<std::uint64_t, std::uint64_t>(g);
    case DType::Complex64:
      return multiply<std::complex<float>, std::complex<float>>(g);
    case DType::Complex128:
      return multiply<std::complex<double>, std::complex<double>>(g);
    case DType::Float16:
    case DType::Float32:
    case DType::Float64:
      break;  // tiles take them
  }
}

}  // namespace

void run_matmul(DType t, const Dims& a_shape, const Memory& a, const Dims& b_shape, const Memory& b,
                std::byte* c) {
  const int d = a_shape.size();
  const MatrixProduct p =
      with_joined_axes({.dtype = t,
                        .m = a_shape[d - 2],
                        .n = b_shape[d - 1],
                        .k = a_shape[d - 1],
                        .a = a.data,
                        .a_row = a.strides[d - 2],
                        .a_column = a.strides[d - 1],
                        .b = b.data,
                        .b_row = b.strides[d - 2],
                        .b_column = b.strides[d - 1],
                        .c = c,
                        .batch = Dims(a_shape.begin(), a_shape.end() - 2),
                        .a_steps = Dims(a.strides.begin(), a.strides.end() - 2),
                        .b_steps = Dims(b.strides.begin(), b.strides.end() - 2)});
  if (prefers_blas(p) && blas_product(p)) return;
  if (tiled_product(p)) return;
  for (std::int64_t i = 0, count = p.entries(); i < count; ++i) {
    look_around();
    multiply_any(p.entry(i));
  }
}

}  // namespace plait::engine
