#include "indexing.hpp"

#include <vector>

#include "by_index.hpp"
#include "core/shape_limits.hpp"
#include "engine/direct/gather.hpp"
#include "places.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

Array compressed(const Array& a, const Mask& mask) {
  const Array values = tracer::is_c_contiguous(a) ? a : tracer::copy(a, 'C');
  const Held held(values);
  Ref<Buffer> memory;
  Array made = fresh({mask.selection.count()}, a.dtype, memory);
  mask.selection.compress(itemsize(a.dtype), held.data(), memory->data);
  return made;
}

}  // namespace

std::optional<Array> getitem(const Array& a, Key key) {
  if (!here(a)) return std::nullopt;
  if (const Array* m = whole_mask(a, key)) {
    const Mask mask(*m);
    return compressed(a, mask);
  }
  const std::optional<Places> p = find_places(a, key);
  if (!p) return std::nullopt;
  return gathered(*p);
}

bool setitem(const Array& a, Key key, const Operand& value) {
  if (!here(a) || !a.writeable) return false;
  const Array* const m = whole_mask(a, key);
  if (m && value.array && value.array->ndim() > 1) return false;  // an error of NumPy's
  if (m && value.array && tracer::is_c_contiguous(a)) {
    const Mask mask(m->storage == a.storage ? tracer::copy(*m) : *m);
    const std::optional<Array> v = stored_value(value, a, {mask.selection.count()}, a.dtype);
    if (!v) return false;
    const Array flat = tracer::is_c_contiguous(*v) ? *v : tracer::copy(*v, 'C');
    const Held from(flat);
    const std::lock_guard held(tracer::lock());
    mask.selection.expand(itemsize(a.dtype), static_cast<std::byte*>(tracer::writable_data(a)),
                          from.data());
    return true;
  }
  return write(a, key, value, a.dtype, LeadingOnes::Dropped,
               [&](auto&&... operands) { engine::run_scatter(a.dtype, operands...); });
}

std::optional<Array> take(const Array& a, const Array& indices, std::optional<std::int64_t> axis) {
  if (!here(a) || !here(indices) || !is_integer(indices.dtype)) return std::nullopt;
  Array from = a;
  int at = 0;
  if (axis) {
    if (*axis < -a.ndim() || *axis >= a.ndim()) return std::nullopt;
    at = static_cast<int>(*axis < 0 ? *axis + a.ndim() : *axis);
  } else if (a.ndim() != 1) {
    from = tracer::reshape(a, Dims{-1});
  }
  if (indices.ndim() == 0) return std::nullopt;
  if (from.ndim() == 1) {
    // Indices that cannot be outside, such as bytes, are read by the loop that looks them up.
    const Array given = as(indices, DType::Int64);
    if (const auto bound = index_bound(given); bound && *bound <= from.shape[0])
      return looked_up(from, given);
  }
  const std::optional<Array> inside = within(indices, from.shape[at]);
  if (!inside) return std::nullopt;
  Places p;
  p.view = from;
  p.at = *inside;
  p.step = from.strides[at];
  p.terms = {{*inside, p.step}};
  p.first = at;
  p.last = at + indices.ndim();
  p.view.shape.clear();
  p.view.strides.clear();
  for (int d = 0; d < from.ndim(); ++d) {
    if (d != at) {
      p.view.shape.push_back(from.shape[d]);
      p.view.strides.push_back(from.strides[d]);
      if (d > at) {
        p.at.shape.push_back(1);
        p.at.strides.push_back(0);
      }
      continue;
    }
    for (int i = 0; i < indices.ndim(); ++i) {
      p.view.shape.push_back(indices.shape[i]);
      p.view.strides.push_back(0);
    }
  }
  if (p.view.ndim() > kMaxDims || checked_element_count(p.view.shape) < 0) return std::nullopt;
  p.strides = tracer::dense_strides(p.view.shape, item_bytes(a), 'C');
  return gathered(p);
}

namespace {
// Indices along one axis, with ranges for the others that broadcast with them.
std::optional<std::vector<KeyEntry>> key_along(const Array& a, const Array& indices,
                                               std::int64_t axis) {
  if (!here(a) || !here(indices) || !is_integer(indices.dtype) || indices.ndim() != a.ndim() ||
      a.ndim() == 0 || axis < -a.ndim() || axis >= a.ndim())
    return std::nullopt;
  const auto along = static_cast<int>(axis < 0 ? axis + a.ndim() : axis);
  std::vector<KeyEntry> key;
  for (int d = 0; d < a.ndim(); ++d) {
    if (d == along) {
      key.emplace_back(indices);
      continue;
    }
    Dims shape(a.ndim(), 1);
    shape[d] = a.shape[d];
    key.emplace_back(
        tracer::reshape(tracer::arange(a.shape[d], scalar_int(0), scalar_int(1)), shape));
  }
  return key;
}
}  // namespace

std::optional<Array> take_along_axis(const Array& a, const Array& indices, std::int64_t axis) {
  const auto key = key_along(a, indices, axis);
  return key ? getitem(a, *key) : std::nullopt;
}

bool put_along_axis(const Array& a, const Array& indices, const Operand& values,
                    std::int64_t axis) {
  const auto key = key_along(a, indices, axis);
  return key && setitem(a, *key, values);
}

std::optional<Array> compress(const Array& mask, const Array& a, std::optional<std::int64_t> axis) {
  if (!here(a) || !here(mask) || mask.ndim() != 1 || mask.dtype != DType::Bool) return std::nullopt;
  const Mask selected(mask);
  return take(a, selected.places(), axis);
}

std::optional<Array> argwhere(const Array& a, Coordinates layout) {
  if (!here(a) || a.ndim() == 0) return std::nullopt;
  const Mask mask(
      a.dtype == DType::Bool ? a : call(OpId::NotEqual, a, strong(cast(scalar_int(0), a.dtype))));
  const Array places = mask.places();
  const std::int64_t n = places.size(), axes = a.ndim();
  if (axes == 1) return tracer::reshape(places, {n, 1});
  const bool by_axis = layout == Coordinates::ByAxis;
  Ref<Buffer> memory;
  const Array out = fresh(by_axis ? Dims{axes, n} : Dims{n, axes}, DType::Int64, memory);
  const Held at(places);
  engine::write_coordinates(reinterpret_cast<const std::int64_t*>(at.data()), n, a.shape,
                            reinterpret_cast<std::int64_t*>(memory->data), by_axis ? 1 : axes,
                            by_axis ? n : 1);
  return by_axis ? tracer::transpose(out) : out;
}

}  // namespace plait::numpy
