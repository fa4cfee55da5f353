// Reductions in the order of NumPy's iterator, so that sums come out the same bit for bit.
#include <cstring>

#include "codegen/loops/loops.hpp"
#include "core/summation_tree.hpp"
#include "direct_kernels.hpp"
#include "plait/error.hpp"

namespace plait::engine {

namespace {

// out's strides with 0 along the folded axes.
Memory over_axes(const Memory& out, const Dims& axes, int ndim) {
  Memory m{out.data, Dims(ndim, 0)};
  int next = 0, kept = 0;
  for (int i = 0; i < ndim; ++i) {
    if (next < axes.size() && axes[next] == i)
      ++next;
    else
      m.strides[i] = out.strides[kept++];
  }
  return m;
}

// NumPy's tree over the whole of a row, cut where it is: what folds a row gives its upper parts,
// too. Halves are of elements for real numbers, of their parts for complex ones, at multiples of 8.
void sum_by_tree(loops::ReduceFn fold, loops::LoopFn join, DType t, std::byte* to,
                 const std::byte* from, std::int64_t stride, std::int64_t n) {
  constexpr std::int64_t kLeaf = 1 << 20;
  if (n <= kLeaf) {
    look_around();
    return fold(to, from, stride, n);
  }
  const std::int64_t left = TreeShape{is_complex(t)}.left(n);
  Scalar halves[2]{cast(scalar_int(0), t), cast(scalar_int(0), t)};
  auto* const a = reinterpret_cast<std::byte*>(halves[0].bytes);
  auto* const b = reinterpret_cast<std::byte*>(halves[1].bytes);
  sum_by_tree(fold, join, t, a, from, stride, left);
  sum_by_tree(fold, join, t, b, from + left * stride, stride, n - left);
  constexpr std::int64_t kStill[] = {0, 0, 0};
  void* halved[] = {a, b, a};
  join(halved, kStill, 1);
  void* args[] = {to, a, to};
  join(args, kStill, 1);
}

void run_arg_reduce(ReduceKind kind, DType t, const Dims& shape, int axis, const Memory& in,
                    const Memory& out) {
  const loops::ArgReduceFn fold = loops::arg_reduce(kind, t, config().tier);
  if (!fold) throw InternalError("no arg-reduction of " + std::string(name(t)));
  Dims outer = shape;
  outer.erase(axis);
  std::array<Memory, 2> operands{in, out};
  operands[0].strides.erase(axis);
  const std::int64_t stride = in.strides[axis], n = shape[axis];
  const auto size = static_cast<std::int64_t>(itemsize(t));
  const loops::ArgColumnsFn columns =
      stride == size ? nullptr : loops::arg_columns(kind, t, config().tier);
  for_each_row(make_rows(outer, operands, 2),
               [&](std::byte* const* p, const std::int64_t* s, std::int64_t count) {
                 if (columns && s[0] == size) return columns(p[0], stride, n, count, p[1], s[1]);
                 for (std::int64_t i = 0; i < count; ++i) {
                   Scalar best;
                   std::int64_t index = 0;
                   const std::byte* from = p[0] + i * s[0];
                   std::memcpy(best.bytes, from, itemsize(t));
                   fold(best.bytes, &index, from, stride, n, 0);
                   std::memcpy(p[1] + i * s[1], &index, sizeof index);
                 }
               });
}

}  // namespace

void run_reduce(ReduceKind kind, DType operand, DType result, const Dims& shape, const Dims& axes,
                const Memory& in, const Memory* mask, const Memory& out) {
  if (is_arg(kind)) {
    run_arg_reduce(kind, operand, shape, static_cast<int>(axes[0]), in, out);
    return;
  }
  const loops::ReduceFn fold = loops::reduce(kind, result, config().tier);
  const loops::LoopFn combine = loops::join(kind, result, config().tier);
  if (!fold || !combine)
    throw InternalError("no " + std::string(reduce_info(kind).name) + " reduction of " +
                        std::string(name(result)));

  Dims kept;
  std::int64_t folded = 1;
  Memory first = in;
  {
    int next = 0;
    first.strides.clear();
    for (int i = 0; i < shape.size(); ++i) {
      if (next < axes.size() && axes[next] == i) {
        ++next;
        folded *= shape[i];
      } else {
        kept.push_back(shape[i]);
        first.strides.push_back(in.strides[i]);
      }
    }
  }
  // Selections start from their first element, as NumPy's do: folding it again changes nothing.
  if (reduce_info(kind).has(kSelects) && !mask && folded > 0)
    run_cast(operand, result, kept, first, out);
  else if (kind == ReduceKind::Sum)  // NumPy adds to +0: the sum of -0.0 is 0.0
    run_fill(cast(scalar_int(0), result), kept, out);
  else
    run_fill(fold_identity(kind, result), kept, out);

  std::array<Memory, 3> operands{in, over_axes(out, axes, shape.size()), mask ? *mask : Memory()};
  const std::size_t count = mask ? 3 : 2;
  const Rows rows = make_rows(shape, std::span<const Memory>(operands.data(), count), 1);
  for_each_row(rows, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    auto piece = [&](std::int64_t at, std::int64_t length) {
      std::byte* from = p[0] + at * s[0];
      std::byte* to = p[1] + at * s[1];
      // Sums and products of float16 are rounded once.
      if (s[1] == 0 && result == DType::Float16) return fold(to, from, s[0], length);
      if (s[1] == 0 && kind == ReduceKind::Sum && !is_integer(result))
        return sum_by_tree(fold, combine, result, to, from, s[0], length);
      if (s[1] == 0)
        return in_parts(length, [&](std::int64_t first, std::int64_t some) {
          fold(to, from + first * s[0], s[0], some);
        });
      void* args[] = {to, from, to};
      const std::int64_t strides[] = {s[1], s[0], s[1]};
      combine(args, strides, length);
    };
    if (mask)
      for_each_run(p[2], s[2], n, piece);
    else
      piece(0, n);
  });
}

}  // namespace plait::engine
