// Matrix products: by tiles or a BLAS where these take them, else a loop that sums along k in
// order, as NumPy's own loop does.
#include <complex>
#include <cstring>
#include <vector>

#include "direct_kernels.hpp"
#include "engine/products/product.hpp"
#include "engine/threads/interruption.hpp"
#include "operation.hpp"
#include "tracer/layout.hpp"

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
    default:
      break;  // tiles take floats
  }
}

}  // namespace

namespace {

Dims part(const Dims& d, int first, int count) {
  return {d.begin() + first, d.begin() + first + count};
}

// Neighbouring axes as one wherever both operands that have them (`y` may be none) step alike.
void merge(AxisGroup& x, AxisGroup* y = nullptr) {
  const auto joins = [](const AxisGroup& l, int i) {
    return l.steps[i - 1] == l.extents[i] * l.steps[i];
  };
  const auto drop = [&](int i) {
    for (AxisGroup* l : {&x, y})
      if (l) {
        l->extents.erase(i);
        l->steps.erase(i);
      }
  };
  for (int i = x.extents.size() - 1; i >= 0; --i) {
    if (x.extents.size() == 1) return;
    if (x.extents[i] == 1) {
      drop(i);
    } else if (i > 0 && joins(x, i) && (!y || joins(*y, i))) {
      for (AxisGroup* l : {&x, y})
        if (l) l->extents[i] *= l->extents[i - 1];
      drop(i - 1);
    }
  }
}

}  // namespace

void run_product(DType t, const tracer::ProductAxes& axes, const Factor& a, const Factor& b,
                 std::byte* c) {
  const Dims &la = a.memory.strides, &lb = b.memory.strides;
  const auto lines = [](const Factor& f, int first, int count) {
    if (count == 0) return AxisGroup{Dims{1}, Dims{0}};
    return AxisGroup{part(f.shape, first, count), part(f.memory.strides, first, count)};
  };
  AxisGroup rows = lines(a, axes.batch, axes.rows),
            a_sums = lines(a, axes.batch + axes.rows, axes.sums),
            b_sums = lines(b, axes.batch, axes.sums),
            columns = lines(b, axes.batch + axes.sums, axes.columns);
  merge(rows);
  merge(columns);
  merge(a_sums, &b_sums);
  MatrixProduct p{.dtype = t,
                  .m = element_count(rows.extents),
                  .n = element_count(columns.extents),
                  .k = element_count(a_sums.extents),
                  .a = a.memory.data,
                  .a_row = rows.steps[0],
                  .a_column = a_sums.steps[0],
                  .b = b.memory.data,
                  .b_row = b_sums.steps[0],
                  .b_column = columns.steps[0],
                  .c = c,
                  .batch = part(a.shape, 0, axes.batch),
                  .a_steps = part(la, 0, axes.batch),
                  .b_steps = part(lb, 0, axes.batch),
                  .a_dtype = a.dtype,
                  .b_dtype = b.dtype,
                  .a_contents = a.contents,
                  .b_contents = b.contents};
  if (rows.extents.size() > 1 || columns.extents.size() > 1 || a_sums.extents.size() > 1) {
    p.rows = std::move(rows);
    p.a_sums = std::move(a_sums);
    p.b_sums = std::move(b_sums);
    p.columns = std::move(columns);
    if (!tiled_product(p)) throw InternalError("a product of several axes that no tile takes");
    return;
  }
  multiply(with_joined_axes(p));
}

void run_product(const Operation& op, std::span<const Operand> in, const Memory& out) {
  const auto factor = [](const Operand& o) {
    return Factor{o.dtype,
                  o.shape,
                  {o.data, tracer::broadcast_strides(o.shape, o.strides, o.shape)},
                  o.contents};
  };
  run_product(op.dtype, tracer::product_axes(op.axes, op.shape.size()), factor(in[0]),
              factor(in[1]), out.data);
}

void multiply(const MatrixProduct& p) {
  if (vector_product(p)) return;
  // Integers are the same in any order, and packing so few takes longer than the loop.
  constexpr double kFewProducts = 1024;
  if (is_integer(p.dtype) && p.types().uniform() && p.products() <= kFewProducts) {
    for (std::int64_t i = 0, count = p.entries(); i < count; ++i) multiply_any(p.entry(i));
    return;
  }
  if (prefers_blas(p) && blas_product(p)) return;
  if (tiled_product(p)) return;
  for (std::int64_t i = 0, count = p.entries(); i < count; ++i) {
    look_around();
    multiply_any(p.entry(i));
  }
}

}  // namespace plait::engine
