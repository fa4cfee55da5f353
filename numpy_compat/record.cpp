#include "record.hpp"

#include <atomic>
#include <string>

#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

std::atomic<void (*)(Warning, std::string_view)> warning_hook{nullptr};

}  // namespace

void set_warning_hook(void (*hook)(Warning, std::string_view)) { warning_hook.store(hook); }
void warn(Warning category, std::string_view text) {
  if (auto* hook = warning_hook.load()) hook(category, text);
}

int normalize_axis(std::int64_t axis, int ndim, const char* prefix) {
  if (axis < -ndim || axis >= ndim)
    throw AxisError((*prefix ? std::string(prefix) + ": " : std::string()) + "axis " +
                    std::to_string(axis) + " is out of bounds for array of dimension " +
                    std::to_string(ndim));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Dims normalize_axes(const Dims& axes, int ndim) {
  Dims out;
  for (std::int64_t axis : axes) out.push_back(normalize_axis(axis, ndim));
  return out;
}

Array empty_in_order(const Dims& shape, const Dims& axes, DType t) {
  Dims sorted, inverse(shape.size());
  for (int i = 0; i < axes.size(); ++i) {
    sorted.push_back(shape[static_cast<int>(axes[i])]);
    inverse[static_cast<int>(axes[i])] = i;
  }
  return tracer::transpose(tracer::empty(sorted, t),
                           std::span(inverse.data(), static_cast<std::size_t>(inverse.size())));
}

Array laid_out_like(Array result, const Array& model) {
  if (result.shape != model.shape) return result;
  const auto from = static_cast<std::int64_t>(itemsize(model.dtype));
  const auto to = static_cast<std::int64_t>(itemsize(result.dtype));
  for (int i = 0; i < result.ndim(); ++i)
    if (result.shape[i] == 1) result.strides[i] = model.strides[i] / from * to;
  return result;
}

Array slice_axis(const Array& a, int axis, std::int64_t start, std::int64_t stop) {
  std::vector<tracer::Index> index(static_cast<std::size_t>(axis), tracer::All{});
  index.emplace_back(tracer::Slice{start, stop, {}});
  return tracer::slice(a, index);
}

Array clamped(const Array& indices, std::int64_t n) {
  return call(OpId::Maximum, call(OpId::Minimum, indices, strong(n - 1)), strong(0));
}

Array looked_up(const Array& table, const Array& indices) {
  Array still = table;
  still.shape = indices.shape;
  still.strides = Dims(indices.ndim(), 0);
  return tracer::gather(
      still, indices, table.strides[0],
      tracer::dense_strides(indices.shape, static_cast<std::int64_t>(itemsize(table.dtype)), 'C'));
}

Array take_at(const Array& a, int axis, std::int64_t i) {
  std::vector<tracer::Index> index(static_cast<std::size_t>(axis), tracer::All{});
  index.emplace_back(i);
  return tracer::slice(a, index);
}

}  // namespace plait::numpy
