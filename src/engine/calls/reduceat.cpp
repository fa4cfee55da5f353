// ufunc.reduceat: folds from each index to the next, in NumPy's order.
#include "call.hpp"
#include "codegen/loops/loops.hpp"
#include "core/fixed_size.hpp"
#include "engine/direct/direct_rows.hpp"
#include "plait/error.hpp"
#include "units.hpp"

namespace plait::engine {

namespace {

ReduceKind kind_of(OpId fn) {
  for (int i = 0; i < kReduceKindCount; ++i)
    if (reduce_info(static_cast<ReduceKind>(i)).combine == fn) return static_cast<ReduceKind>(i);
  throw InternalError("reduceat of what is no reduction");
}

}  // namespace

void run_reduceat(const CallRun& r) {
  const Operand &in = r.inputs[0], &at = r.inputs[1], &out = r.results[0];
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const loops::ReduceFn fold = loops::reduce(kind_of(r.attributes.fn), in.dtype, config().tier);
  if (!fold) throw InternalError("no fold for reduceat");
  const std::int64_t extent = in.shape[axis], count = at.shape[0];
  Dims shape = in.shape;
  Memory lanes[] = {{out.data, out.strides}, {in.data, in.strides}};
  shape.erase(axis);
  for (Memory& m : lanes) m.strides.erase(axis);
  const std::int64_t folds = element_count(shape) * count;
  const std::int64_t elements = std::max(element_count(in.shape), element_count(out.shape));
  const auto each = [&](std::int64_t i, auto bytes) {
    const std::int64_t k = folds == count ? i : i % count;
    std::byte* to = out.data + k * out.strides[axis];
    const std::byte* from = in.data;
    std::int64_t lane = folds == count ? 0 : i / count;
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
    from += first * in.strides[axis];
    alignas(16) unsigned char value[16];
    std::memcpy(value, from, bytes);
    // Without a step forward it is the element itself.
    if (last > first + 1) fold(value, from + in.strides[axis], in.strides[axis], last - first - 1);
    std::memcpy(to, value, bytes);
  };
  with_fixed_size(itemsize(in.dtype), [&](auto bytes) {
    run_units(folds, elements, static_cast<double>(elements) * 0.6e-9,
              [&](std::int64_t i, auto&&) { each(i, bytes); });
  });
}

}  // namespace plait::engine
