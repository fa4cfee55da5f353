#include <algorithm>

#include "core/shape_limits.hpp"
#include "record.hpp"
#include "tracer/at_once.hpp"
#include "tracer/device.hpp"

namespace plait::numpy {
namespace {

// `a` so many times along each axis: an axis of extent reps[i] in front of axis i, merged with it.
// Extents of 1 are left out: what is left of an array that memory holds is less than 64 axes.
Array repeated_axes(const Array& a, const Dims& reps) {
  Dims full, merged, new_axes;
  if (std::find(reps.begin(), reps.end(), 0) != reps.end()) {
    for (int i = 0; i < a.ndim(); ++i) merged.push_back(repeated_extent(a.shape[i], reps[i]));
    LikeOptions like;
    like.shape = merged;
    like.order = 'C';
    return empty_like(a, like);
  }
  for (int i = 0; i < a.ndim(); ++i) {
    if (reps[i] != 1) {
      new_axes.push_back(full.size());
      full.push_back(reps[i]);
    }
    if (a.shape[i] != 1) full.push_back(a.shape[i]);
  }
  check_shape(full, static_cast<std::int64_t>(itemsize(a.dtype)));
  for (int i = 0; i < a.ndim(); ++i) merged.push_back(a.shape[i] * reps[i]);
  const Array long_axes = tracer::squeeze(a, std::nullopt);
  const Array spread = tracer::broadcast_to(tracer::expand_dims(long_axes, new_axes), full);
  return tracer::reshape(tracer::copy(spread, 'C'), merged);
}

}  // namespace

Array tile(const Array& a, const Dims& given) {
  for (std::int64_t r : given)
    if (r < 0) throw ValueError("negative dimensions are not allowed");
  if (given.size() > kMaxDims)
    throw ValueError("ndmin must be <= ndmax (" + std::to_string(kMaxDims) + ")");
  Array c = a;
  Dims reps = given;
  while (c.ndim() < reps.size()) c = tracer::expand_dims(c, Dims{0});
  while (reps.size() < c.ndim()) reps.insert(0, 1);
  if (c.ndim() == 0 || std::all_of(reps.begin(), reps.end(), [](auto r) { return r == 1; }))
    return tracer::copy(c);
  if (c.size() == 0) {  // nothing to repeat: NumPy gives a view
    Dims shape = c.shape;
    for (int i = 0; i < shape.size(); ++i) shape[i] = repeated_extent(shape[i], reps[i]);
    return tracer::reshape(c, shape);
  }
  return repeated_axes(c, reps);
}

Array repeat(const Array& a, std::int64_t repeats, std::optional<std::int64_t> given_axis) {
  // An array of no dimensions is repeated as one of its element.
  const Array x = given_axis && a.ndim() > 0 ? a : tracer::reshape(a, Dims{-1});
  const int axis = given_axis ? normalize_axis(*given_axis, x.ndim()) : 0;
  if (repeats < 0) throw ValueError("negative dimensions are not allowed");
  Dims full = x.shape, merged = x.shape;
  full.insert(axis + 1, repeats);
  merged[axis] = repeated_extent(merged[axis], repeats);
  check_shape(merged, static_cast<std::int64_t>(itemsize(x.dtype)));
  if (element_count(merged) == 0) {
    LikeOptions like;
    like.shape = merged;
    return empty_like(x, like);
  }
  const Array spread = tracer::broadcast_to(tracer::expand_dims(x, Dims{axis + 1}), full);
  return tracer::reshape(tracer::copy(spread, 'C'), merged);
}

Array roll(const Array& a, const Dims& shifts, const std::optional<Dims>& given_axes) {
  if (!given_axes)
    return tracer::reshape(roll(tracer::reshape(a, Dims{-1}), shifts, Dims{0}), a.shape);
  const Dims axes = normalize_axes(*given_axes, a.ndim());
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    throw ShapeError(
        "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 "
        "with shape " +
        to_string(Dims{shifts.size()}) + " and arg 1 with shape " + to_string(Dims{axes.size()}) +
        ".");
  Dims total(a.ndim());
  // Shifts of any size: only what is left of whole turns counts.
  const auto add_shift = [&](std::int64_t axis, std::int64_t shift) {
    const int i = static_cast<int>(axis);
    if (const std::int64_t extent = a.shape[i]) total[i] = (total[i] + shift % extent) % extent;
  };
  const int pairs = shifts.empty() || axes.empty() ? 0 : std::max(shifts.size(), axes.size());
  for (int i = 0; i < pairs; ++i)
    add_shift(axes.size() == 1 ? axes[0] : axes[i], shifts.size() == 1 ? shifts[0] : shifts[i]);

  // Along each axis the result is one or two pieces of the source.
  struct Piece {
    Array from, to;
  };
  const Array result = empty_like(a);
  std::vector<Piece> pieces{{a, result}};
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t extent = a.shape[axis];
    if (extent == 0) continue;
    const std::int64_t offset = (total[axis] + extent) % extent;
    if (offset == 0) continue;
    std::vector<Piece> cut;
    for (const Piece& p : pieces) {
      cut.push_back(
          {slice_axis(p.from, axis, 0, extent - offset), slice_axis(p.to, axis, offset, extent)});
      cut.push_back(
          {slice_axis(p.from, axis, extent - offset, extent), slice_axis(p.to, axis, 0, offset)});
    }
    pieces = std::move(cut);
  }
  // A small one in front of large ones would be written at the call, into memory for all of them.
  if (a.size() > tracer::kMiddling)
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& p, const Piece& q) { return p.to.size() > q.to.size(); });
  if (a.size() != 0)
    for (const Piece& p : pieces) tracer::assign(p.to, p.from);
  return result;
}

Array sliding_window_view(const Array& a, const Dims& window,
                          const std::optional<Dims>& given_axes) {
  Dims axes;
  for (int i = 0; i < (given_axes ? given_axes->size() : a.ndim()); ++i)
    axes.push_back(given_axes ? normalize_axis((*given_axes)[i], a.ndim()) : i);
  if (window.size() != axes.size())
    throw ValueError("Must provide matching length window_shape and axis; got " +
                     std::to_string(window.size()) + " window_shape elements and " +
                     std::to_string(axes.size()) + " axes elements.");
  Dims shape = a.shape, strides = a.strides;
  for (int i = 0; i < window.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    if (window[i] < 0) throw ValueError("`window_shape` cannot contain negative values");
    if (shape[axis] < window[i])
      throw ValueError("window shape cannot be larger than input array shape");
    shape[axis] -= window[i] - 1;
    shape.push_back(window[i]);
    strides.push_back(a.strides[axis]);
  }
  return tracer::as_strided(a, a.dtype, shape, strides, 0);
}

std::vector<Array> meshgrid(std::span<const Array> arrays, const MeshgridOptions& o) {
  const int n = static_cast<int>(arrays.size());
  Dims full(n, 1);
  std::vector<Array> out;
  for (int i = 0; i < n; ++i) {
    const Array& a = arrays[static_cast<std::size_t>(i)];
    // The first two axes change places for 'xy'.
    const int axis = o.xy && n > 1 && i < 2 ? 1 - i : i;
    Dims shape(n, 1);
    shape[axis] = a.size();
    full[axis] = a.size();
    out.push_back(tracer::reshape(a, shape));
  }
  if (!o.sparse && checked_element_count(full) < 0)
    throw ValueError("broadcast dimensions too large.");
  for (Array& a : out) {
    if (!o.sparse) a = tracer::broadcast_to(a, full);
    if (o.copy) a = tracer::copy(a, 'C');
  }
  return out;
}

Array indices(const Dims& shape) {
  const int n = shape.size();
  Dims full{n};
  for (const std::int64_t extent : shape) full.push_back(extent);
  const Array result = tracer::empty(full, DType::Int64);
  for (int i = 0; i < n; ++i) {
    Dims along(n, 1);
    along[i] = shape[i];
    tracer::assign(take_at(result, 0, i),
                   tracer::reshape(tracer::arange(shape[i], scalar_int(0), scalar_int(1)), along));
  }
  return result;
}

Array diag(const Array& a, std::int64_t k) {
  if (a.ndim() == 2) return tracer::diagonal(a, k, 0, 1);
  if (a.ndim() != 1) throw ValueError("Input must be 1- or 2-d.");
  const std::int64_t n = a.shape[0] + std::abs(k);
  const tracer::OnDevice beside(tracer::device_of(a));
  const Array result = zeros(Dims{n, n}, a.dtype);
  Array line = tracer::diagonal(result, k, 0, 1);
  line.writeable = true;
  tracer::assign(line, a);
  return result;
}

Array rot90(const Array& a, std::int64_t k, std::int64_t axis1, std::int64_t axis2) {
  const int from = normalize_axis(axis1, a.ndim()), to = normalize_axis(axis2, a.ndim());
  if (from == to) throw ValueError("Axes must be different.");
  switch (((k % 4) + 4) % 4) {
    case 1:
      return tracer::swapaxes(tracer::flip(a, Dims{to}), from, to);
    case 2:
      return tracer::flip(a, Dims{from, to});
    case 3:
      return tracer::flip(tracer::swapaxes(a, from, to), Dims{to});
    default:
      return a;
  }
}

Array diff(const Array& a, std::int64_t n, std::int64_t given_axis) {
  if (n == 0) return a;
  if (n < 0) throw ValueError("order must be non-negative but got " + std::to_string(n));
  if (a.ndim() == 0) throw ValueError("diff requires input that is at least one dimensional");
  const int axis = normalize_axis(given_axis, a.ndim());
  const OpId fn = a.dtype == DType::Bool ? OpId::NotEqual : OpId::Subtract;
  Array x = a;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t extent = x.shape[axis];
    x = call(fn, slice_axis(x, axis, 1, extent),
             slice_axis(x, axis, 0, std::max<std::int64_t>(extent - 1, 0)));
  }
  return x;
}

}  // namespace plait::numpy
