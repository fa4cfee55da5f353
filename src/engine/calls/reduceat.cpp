// ufunc.reduceat: folds from each index to the next, in NumPy's order.
#include <cstdlib>

#include "call.hpp"
#include "codegen/loops/loops.hpp"
#include "core/fixed_size.hpp"
#include "core/scatter.hpp"
#include "engine/direct/direct_rows.hpp"
#include "fold_columns.hpp"
#include "plait/error.hpp"
#include "units.hpp"

namespace plait::engine {

namespace {

// value = fn(value, in[i]) for one element after the other: by a reduction's loop, or, where fn is
// none, by the loop of single operations.
class Fold {
 public:
  Fold(OpId fn, DType t) {
    if (const std::optional<ReduceKind> kind = kind_combining(fn))
      reduce_ = loops::reduce(*kind, t, config().tier);
    else
      step_ = loops::elementwise(fn, t, config().tier);
    if (!reduce_ && !step_) throw InternalError("no fold for reduceat");
  }
  void operator()(void* value, const std::byte* in, std::int64_t stride, std::int64_t n) const {
    if (reduce_) return reduce_(value, in, stride, n);
    const std::int64_t still[] = {0, 0, 0};
    for (std::int64_t i = 0; i < n; ++i) {
      void* args[] = {value, const_cast<std::byte*>(in + i * stride), value};
      step_(args, still, 1);
    }
  }

 private:
  loops::ReduceFn reduce_ = nullptr;
  loops::LoopFn step_ = nullptr;
};

}  // namespace

void run_reduceat(const CallRun& r) {
  const Operand &in = r.inputs[0], &at = r.inputs[1], &out = r.results[0];
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const std::optional<ReduceKind> kind = kind_combining(r.attributes.fn);
  const Fold fold(r.attributes.fn, in.dtype);
  const std::int64_t extent = in.shape[axis], count = at.shape[0], step = in.strides[axis];
  // Lanes: what is folded. Those along one axis, the closest, make columns.
  Dims shape = in.shape;
  Memory lanes[] = {{out.data, out.strides}, {in.data, in.strides}};
  shape.erase(axis);
  for (Memory& m : lanes) m.strides.erase(axis);
  std::int64_t columns = 1, to_stride = 0, from_stride = 0;
  if (!shape.empty()) {
    int closest = 0;
    for (int d = 1; d < shape.size(); ++d)
      if (shape[d] > 1 && (shape[closest] <= 1 ||
                           std::abs(lanes[1].strides[d]) <= std::abs(lanes[1].strides[closest])))
        closest = d;
    columns = shape[closest];
    to_stride = lanes[0].strides[closest];
    from_stride = lanes[1].strides[closest];
    shape.erase(closest);
    for (Memory& m : lanes) m.strides.erase(closest);
  }
  std::optional<FoldColumns> fold_columns;
  if (kind && columns > 1 && std::abs(from_stride) < std::abs(step))
    fold_columns.emplace(*kind, in.dtype);
  const bool by_rows = fold_columns && fold_columns->exact();
  const std::int64_t width = by_rows ? fold_columns->widest() : 1;
  const std::int64_t blocks = (columns + width - 1) / width;
  const std::int64_t units = element_count(shape) * blocks * count;
  const std::int64_t elements = std::max(element_count(in.shape), element_count(out.shape));
  const auto each = [&](std::int64_t i, auto bytes) {
    std::int64_t lane = i / count, k = i % count;
    const std::int64_t first_column = lane % blocks * width;
    lane /= blocks;
    std::byte* to = out.data + k * out.strides[axis] + first_column * to_stride;
    const std::byte* from = in.data + first_column * from_stride;
    for (int d = shape.size(); d-- > 0;) {
      to += lane % shape[d] * lanes[0].strides[d];
      from += lane % shape[d] * lanes[1].strides[d];
      lane /= shape[d];
    }
    const auto index = [&](std::int64_t n) {
      std::int64_t v;
      std::memcpy(&v, at.data + n * at.strides[0], sizeof v);
      return v;
    };
    const std::int64_t first = index(k), last = k + 1 < count ? index(k + 1) : extent;
    // Without a step forward it is the element itself.
    const std::int64_t n = std::max<std::int64_t>(last - first, 1);
    from += first * step;
    if (by_rows)
      return (*fold_columns)({from, from_stride}, step, n, std::min(width, columns - first_column),
                             to, to_stride);
    alignas(16) unsigned char value[16];
    std::memcpy(value, from, bytes);
    if (n > 1) fold(value, from + step, step, n - 1);
    std::memcpy(to, value, bytes);
  };
  with_fixed_size(itemsize(in.dtype), [&](auto bytes) {
    run_units(units, elements, static_cast<double>(elements) * 0.6e-9,
              [&](std::int64_t i, auto&&) { each(i, bytes); });
  });
}

}  // namespace plait::engine
