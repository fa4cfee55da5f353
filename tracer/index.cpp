// Basic indexing.
#include "graph.hpp"

namespace plait::tracer {

namespace {

struct SliceRange {
  std::int64_t start, step, count;
};

// Python's slice.indices.
SliceRange resolve_slice(const Slice& s, std::int64_t extent) {
  const std::int64_t step = s.step.value_or(1);
  if (step == 0) throw ValueError("slice step cannot be zero");
  const std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
  auto clamp = [&](std::int64_t v) {
    if (v < 0) v = v < -extent ? -1 : v + extent;
    return std::clamp(v, low, high);
  };
  const std::int64_t start = s.start ? clamp(*s.start) : (step < 0 ? high : low);
  const std::int64_t stop = s.stop ? clamp(*s.stop) : (step < 0 ? low : high);
  std::int64_t count = 0;
  if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
  // In unsigned arithmetic: -step overflows for the least int64.
  if (step < 0 && stop < start)
    count = static_cast<std::int64_t>(static_cast<std::uint64_t>(start - stop - 1) /
                                      (std::uint64_t{0} - static_cast<std::uint64_t>(step))) +
            1;
  return {start, step, count};
}

}  // namespace

Array slice(const Array& a, std::span<const Index> indices) {
  int consumed = 0, ellipses = 0;
  for (const Index& i : indices) {
    if (std::holds_alternative<Ellipsis>(i))
      ++ellipses;
    else if (!std::holds_alternative<NewAxis>(i))
      ++consumed;
  }
  if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
  if (consumed > a.ndim())
    throw IndexError("too many indices for array: array is " + std::to_string(a.ndim()) +
                     "-dimensional, but " + std::to_string(consumed) + " were indexed");
  Array v;
  v.storage = a.storage;
  v.dtype = a.dtype;
  v.offset = a.offset;
  v.writeable = a.writeable;
  int axis = 0;
  auto keep = [&](int n) {
    for (; n > 0; --n, ++axis) {
      v.shape.push_back(a.shape[axis]);
      v.strides.push_back(a.strides[axis]);
    }
  };
  for (const Index& i : indices) {
    if (const auto* at = std::get_if<std::int64_t>(&i)) {
      const std::int64_t extent = a.shape[axis];
      if (*at < -extent || *at >= extent)
        throw IndexError("index " + std::to_string(*at) + " is out of bounds for axis " +
                         std::to_string(axis) + " with size " + std::to_string(extent));
      v.offset += (*at < 0 ? *at + extent : *at) * a.strides[axis];
      ++axis;
    } else if (const auto* s = std::get_if<Slice>(&i)) {
      const SliceRange r = resolve_slice(*s, a.shape[axis]);
      if (r.count > 0) v.offset += r.start * a.strides[axis];
      v.shape.push_back(r.count);
      // With a single element the step may be as large as int64 goes.
      std::int64_t stride = 0;
      if (__builtin_mul_overflow(a.strides[axis], r.step, &stride)) stride = a.strides[axis];
      v.strides.push_back(stride);
      ++axis;
    } else if (std::holds_alternative<All>(i)) {
      keep(1);
    } else if (std::holds_alternative<NewAxis>(i)) {
      v.shape.push_back(1);
      v.strides.push_back(0);
    } else {
      keep(a.ndim() - consumed);
    }
  }
  keep(a.ndim() - axis);
  if (v.ndim() > kMaxDims)
    throw IndexError("number of dimensions must be within [0, 64], indexing result would have " +
                     std::to_string(v.ndim()));
  return v;
}

}  // namespace plait::tracer
