// Products of one row or column: lines of a matrix times a vector.
#include "codegen/loops/vector_product.hpp"

#include <algorithm>
#include <utility>

#include "codegen/loops/product.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "product.hpp"
#include "tasks.hpp"

namespace plait::engine {

namespace {

// Products between two looks whether somebody waits for an end, a multiple of kProductDepth; and
// those that threads are not asked for.
constexpr std::int64_t kMostOfLines = 4096 * loops::kProductDepth;
constexpr double kFewOfLines = 1 << 14;

// Its lines become the rows of `a`.
MatrixProduct with_lines(const MatrixProduct& p) {
  if (p.n == 1) return p;
  MatrixProduct t = p;
  std::swap(t.m, t.n);
  std::swap(t.a, t.b);
  std::swap(t.a_steps, t.b_steps);
  t.a_row = p.b_column;
  t.a_column = p.b_row;
  t.b_row = p.a_column;
  return t;
}

void multiply_lines(const MatrixProduct& p, loops::VectorProductFn by, std::int64_t item) {
  const auto lines = [&](const MatrixProduct& e, std::int64_t first, std::int64_t count,
                         auto goes_on) {
    for (std::int64_t k = 0; k < e.k && goes_on(); k += kMostOfLines)
      by({count, std::min(kMostOfLines, e.k - k), e.a + first * e.a_row + k * e.a_column, e.a_row,
          e.a_column, e.b + k * e.b_row, e.b_row, e.c + first * item, k > 0});
  };
  const std::int64_t entries = p.entries();
  const auto entry = [&](std::int64_t i) {
    MatrixProduct e = p.entry(i);
    e.c = p.c + i * p.m * item;
    return e;
  };
  if (p.products() <= kFewOfLines) {
    for (std::int64_t i = 0; i < entries; ++i) lines(entry(i), 0, p.m, [] { return true; });
    return;
  }
  const std::int64_t height = std::clamp<std::int64_t>(kMostOfLines / 16 / p.k, 1, p.m),
                     down = (p.m + height - 1) / height;
  Tasks tasks(seconds_of(p, fusion::ProductImpl::Tiles), p.products() >= kUnlockedProducts);
  tasks.run(entries * down, tasks.seconds(), [&](std::int64_t t, int, auto goes_on) {
    const std::int64_t first = t % down * height;
    lines(entry(t / down), first, std::min(height, p.m - first), goes_on);
  });
}

}  // namespace

bool vector_product(const MatrixProduct& as_given) {
  if ((as_given.m != 1 && as_given.n != 1) || as_given.mapped() || !as_given.types().uniform() ||
      as_given.products() == 0)
    return false;
  const loops::VectorProductFn by = loops::vector_product(as_given.dtype, config().tier);
  if (!by) return false;
  MatrixProduct p = with_lines(as_given);
  const DType sums = ir::fragment_sums(p.types());
  if (!is_float(p.dtype)) {
    multiply_lines(p, by, static_cast<std::int64_t>(itemsize(p.dtype)));
    return true;
  }
  // Halves are rounded at the end, as NumPy does it.
  const auto item = static_cast<std::int64_t>(itemsize(sums));
  const Dims shape{p.entries() * p.m};
  const Ref<Buffer> wide = allocate(static_cast<std::size_t>(shape[0] * item));
  std::byte* const out = std::exchange(p.c, wide->data);
  multiply_lines(p, by, item);
  run_cast(sums, p.dtype, shape, {wide->data, Dims{item}},
           {out, Dims{static_cast<std::int64_t>(itemsize(p.dtype))}});
  return true;
}

}  // namespace plait::engine
