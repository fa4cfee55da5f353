// numpy.pad: each axis in its turn, edges of the axes before included, as
// numpy/lib/_arraypad_impl.py does.
#include "core/shape_limits.hpp"
#include "record.hpp"
#include "tracer/device.hpp"

namespace plait::numpy {
namespace {

struct Width {
  std::int64_t before, after;
};

// One width for all axes, one pair for all, or a pair for each.
Width width_of(const Dims& widths, int axis, int ndim) {
  for (const std::int64_t w : widths)
    if (w < 0) throw ValueError("index can't contain negative values");
  if (widths.size() == 1) return {widths[0], widths[0]};
  if (widths.size() == 2) return {widths[0], widths[1]};
  if (widths.size() == 2 * ndim) return {widths[2 * axis], widths[2 * axis + 1]};
  throw ShapeError("pad: " + std::to_string(widths.size()) + " widths for " + std::to_string(ndim) +
                   " axes: give one, a pair (before, after), or a pair for each axis");
}

Array backwards(const Array& a, int axis) { return tracer::flip(a, Dims{axis}); }

// In C order, whatever the order of the pieces.
Array joined(std::span<const Array> pieces, int axis) {
  Dims shape = pieces[0].shape;
  shape[axis] = 0;
  for (const Array& p : pieces) shape[axis] += p.shape[axis];
  check_shape(shape, static_cast<std::int64_t>(itemsize(pieces[0].dtype)));
  const tracer::OnDevice beside(tracer::device_of(pieces[0]));
  const Array out = tracer::empty(shape, pieces[0].dtype);
  write_side_by_side(out, pieces, axis);
  return out;
}

// The elements [-before, extent + after) of the axis as a wave that goes on for ever: `period` of
// them are `forth`, the next as many `back`.
Array wave(const Array& forth, const Array& back, const Array& end, int axis, Width w,
           std::int64_t extent) {
  const std::int64_t period = forth.shape[axis];
  std::vector<Array> pieces;
  for (std::int64_t at = -w.before; at < extent + w.after;) {
    const std::int64_t turn = at >= 0 ? at / period : -((period - 1 - at) / period);
    const std::int64_t first = at - turn * period;
    const std::int64_t stop = std::min(period, first + extent + w.after - at);
    pieces.push_back(slice_axis(turn % 2 ? back : forth, axis, first, stop));
    at += stop - first;
  }
  if (pieces.empty()) return end;
  return joined(pieces, axis);
}

Array padded(const Array& a, int axis, Width w, Padding how) {
  const std::int64_t n = a.shape[axis];
  if (w.before == 0 && w.after == 0) return a;
  if (n == 0)
    throw ValueError("can't extend empty axis " + std::to_string(axis) +
                     " using modes other than 'constant' or 'empty'");
  if (how == Padding::Edge || (how == Padding::Reflect && n == 1)) {
    const auto edge = [&](std::int64_t at, std::int64_t width) {
      Dims shape = a.shape;
      shape[axis] = width;
      return tracer::broadcast_to(slice_axis(a, axis, at, at + 1), shape);
    };
    const Array pieces[] = {edge(0, w.before), a, edge(n - 1, w.after)};
    return joined(pieces, axis);
  }
  if (how == Padding::Wrap) return wave(a, a, a, axis, w, n);
  const Array back = backwards(a, axis);
  if (how == Padding::Symmetric) return wave(a, back, a, axis, w, n);
  return wave(slice_axis(a, axis, 0, n - 1), slice_axis(back, axis, 0, n - 1), a, axis, w, n);
}

}  // namespace

Array pad(const Array& a, const Dims& widths, Padding how, const Scalar& value) {
  if (how != Padding::Constant) {
    if (tracer::is_f_contiguous(a) && !tracer::is_c_contiguous(a)) {
      Dims turned;
      for (int i = a.ndim(); i-- > 0;) {
        const Width w = width_of(widths, i, a.ndim());
        turned.push_back(w.before);
        turned.push_back(w.after);
      }
      return tracer::transpose(pad(tracer::transpose(a), turned, how));
    }
    Array x = a;
    for (int i = 0; i < a.ndim(); ++i) x = padded(x, i, width_of(widths, i, a.ndim()), how);
    return x.storage == a.storage ? tracer::copy(a, 'C') : x;
  }
  Dims shape = a.shape;
  for (int i = 0; i < a.ndim(); ++i) {
    const Width w = width_of(widths, i, a.ndim());
    shape[i] += w.before + w.after;
  }
  const tracer::OnDevice beside(tracer::device_of(a));
  const Array result = tracer::full(shape, tracer::reported_cast(strong(value), a.dtype));
  Array inner = result;
  for (int i = 0; i < a.ndim(); ++i) {
    const Width w = width_of(widths, i, a.ndim());
    inner = slice_axis(inner, i, w.before, w.before + a.shape[i]);
  }
  tracer::assign(inner, a);
  return result;
}

}  // namespace plait::numpy
