// Joining arrays (one empty result, an assignment a part) and splitting them (views).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "core/shape_limits.hpp"
#include "record.hpp"
#include "tracer/at_once.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

void check_parts(std::span<const Array> arrays, int axis) {
  const Array& first = arrays[0];
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    const Array& a = arrays[i];
    if (a.ndim() != first.ndim())
      throw ShapeError(
          "all the input arrays must have same number of dimensions, but the array at index 0 "
          "has " +
          std::to_string(first.ndim()) + " dimension(s) and the array at index " +
          std::to_string(i) + " has " + std::to_string(a.ndim()) + " dimension(s)");
    for (int d = 0; d < a.ndim(); ++d)
      if (d != axis && a.shape[d] != first.shape[d])
        throw ShapeError(
            "all the input array dimensions except for the concatenation axis must match exactly, "
            "but along dimension " +
            std::to_string(d) + ", the array at index 0 has size " +
            std::to_string(first.shape[d]) + " and the array at index " + std::to_string(i) +
            " has size " + std::to_string(a.shape[d]));
  }
}

DType common_dtype(std::span<const Array> arrays) {
  DType t = arrays[0].dtype;
  for (const Array& a : arrays) t = promote(t, a.dtype);
  return t;
}

// Axes from slow to fast as NumPy lays joined arrays out: by the operands' strides, C order where
// one of them has it.
Dims joined_axes(std::span<const Array> arrays) {
  Dims axes;
  for (int axis = 0; axis < arrays[0].ndim(); ++axis) {
    int at = axis;
    for (int i = axis - 1; i >= 0; --i) {
      const int before = static_cast<int>(axes[i]);
      bool decided = false, swap = false;
      for (const Array& a : arrays) {
        if (a.shape[axis] == 1 || a.shape[before] == 1) continue;
        if (std::abs(a.strides[axis]) <= std::abs(a.strides[before]))
          swap = false;
        else if (!decided)
          swap = true;
        decided = true;
      }
      if (!decided) continue;
      if (!swap) break;
      at = i;
    }
    axes.insert(at, axis);
  }
  return axes;
}

std::vector<Array> with_ndim(std::span<const Array> arrays, int ndim) {
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(atleast_nd(a, ndim));
  return out;
}

// Many small parts in memory, one after the other: a copy takes less time than recording each.
// Null where a part is elsewhere, or lies in another way than in the result.
Ref<Buffer> copied(std::span<const Array> arrays, DType t, std::int64_t elements) {
  constexpr std::size_t kMany = 16;
  constexpr std::int64_t kMost = 1 << 20;  // bytes
  const auto item = static_cast<std::int64_t>(itemsize(t));
  if (arrays.size() < kMany || elements > kMost / item || tracer::capture() ||
      tracer::everything_recorded())
    return {};
  Ref<Buffer> memory = allocate(static_cast<std::size_t>(elements * item));
  std::byte* to = memory->data;
  const std::lock_guard held(tracer::lock());
  for (const Array& a : arrays) {
    if (a.dtype != t || tracer::device_of(a) != kHost || !tracer::is_materialised(a) ||
        !tracer::is_c_contiguous(a) || a.storage->any_bytes)
      return {};
    const std::int64_t bytes = a.size() * item;
    std::memcpy(to, tracer::data(a), static_cast<std::size_t>(bytes));
    to += bytes;
  }
  return memory;
}

// Nobody has memory for a list of more.
constexpr std::int64_t kMostSections = std::int64_t{1} << 48;

}  // namespace

void write_side_by_side(const Array& out, std::span<const Array> arrays, int axis) {
  const auto write = [&](const Array& a, std::int64_t at) {
    if (a.size() != 0) tracer::assign(slice_axis(out, axis, at, at + a.shape[axis]), a);
  };
  // A small one in front of large ones would be written at the call, into memory for all of them.
  const auto smaller = [](const Array& a, const Array& b) { return a.size() < b.size(); };
  const auto largest = out.size() > tracer::kMiddling
                           ? std::max_element(arrays.begin(), arrays.end(), smaller)
                           : arrays.begin();
  for (const bool rest : {false, true}) {
    std::int64_t at = 0;
    for (auto a = arrays.begin(); a != arrays.end(); at += a->shape[axis], ++a)
      if ((a != largest) == rest) write(*a, at);
  }
}

Array concatenate(std::span<const Array> arrays, std::optional<std::int64_t> given_axis,
                  std::optional<DType> dtype) {
  if (arrays.empty()) throw ValueError("need at least one array to concatenate");
  std::vector<Array> flat;
  if (!given_axis) {
    for (const Array& a : arrays) flat.push_back(tracer::reshape(a, Dims{-1}));
    arrays = flat;
  }
  const Array& first = arrays[0];
  if (first.ndim() == 0) throw ValueError("zero-dimensional arrays cannot be concatenated");
  const int axis = normalize_axis(given_axis.value_or(0), first.ndim());
  check_parts(arrays, axis);
  Dims shape = first.shape;
  shape[axis] = 0;
  for (const Array& a : arrays) shape[axis] = joined_extent(shape[axis], a.shape[axis]);
  const DType t = dtype.value_or(common_dtype(arrays));
  for (const Array& a : arrays)
    if (!can_cast(a.dtype, t, Casting::SameKind))
      throw DTypeError("Cannot cast array data from dtype('" + std::string(name(a.dtype)) +
                       "') to dtype('" + std::string(name(t)) +
                       "') according to the rule 'same_kind'");
  const tracer::OnDevice beside(tracer::device_of(first));
  if (axis == 0)
    if (Ref<Buffer> memory = copied(arrays, t, element_count(shape)))
      return tracer::from_buffer(std::move(memory), t, shape,
                                 contiguous_strides(shape, static_cast<std::int64_t>(itemsize(t))),
                                 0);
  const Array out = empty_in_order(shape, joined_axes(arrays), t);
  write_side_by_side(out, arrays, axis);
  return out;
}

Array stack(std::span<const Array> arrays, std::int64_t given_axis) {
  if (arrays.empty()) throw ValueError("need at least one array to stack");
  for (const Array& a : arrays)
    if (a.shape != arrays[0].shape) throw ShapeError("all input arrays must have the same shape");
  // The axis counts in the result, but NumPy's message names the operands' dimensions plus one.
  const int axis = normalize_axis(given_axis, arrays[0].ndim() + 1);
  std::vector<Array> expanded;
  std::vector<tracer::Index> key(static_cast<std::size_t>(axis), tracer::All{});
  key.emplace_back(tracer::NewAxis{});
  for (const Array& a : arrays) expanded.push_back(tracer::slice(a, key));
  return concatenate(expanded, axis);
}

Array hstack(std::span<const Array> arrays) {
  const std::vector<Array> parts = with_ndim(arrays, 1);
  return concatenate(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1);
}
Array vstack(std::span<const Array> arrays) { return concatenate(with_ndim(arrays, 2), 0); }
Array dstack(std::span<const Array> arrays) { return concatenate(with_ndim(arrays, 3), 2); }

Array column_stack(std::span<const Array> arrays) {
  std::vector<Array> columns;
  for (const Array& a : arrays)
    columns.push_back(a.ndim() < 2 ? tracer::transpose(atleast_nd(a, 2)) : a);
  return concatenate(columns, 1);
}

Array atleast_nd(const Array& a, int ndim) {
  if (a.ndim() >= ndim) return a;
  if (a.ndim() == 0) return tracer::reshape(a, Dims(ndim, 1));
  // Indexing by newaxis, as NumPy does: the new axes have stride 0, where expand_dims gives others.
  // atleast_3d puts a vector in the middle and a matrix in front.
  using tracer::All, tracer::Index, tracer::NewAxis;
  std::vector<Index> key;
  if (ndim == 2)
    key = {NewAxis{}, All{}};
  else if (a.ndim() == 1)
    key = {NewAxis{}, All{}, NewAxis{}};
  else
    key = {All{}, All{}, NewAxis{}};
  return tracer::slice(a, key);
}

std::vector<Array> split_at(const Array& a, std::span<const std::int64_t> indices,
                            std::int64_t given_axis) {
  const int axis = normalize_axis(given_axis, a.ndim());
  std::vector<Array> parts;
  std::int64_t begin = 0;
  for (std::int64_t end : indices) {
    parts.push_back(slice_axis(a, axis, begin, end));
    begin = end;
  }
  parts.push_back(slice_axis(a, axis, begin, a.shape[axis]));
  return parts;
}

std::vector<Array> array_split(const Array& a, std::int64_t sections, std::int64_t given_axis) {
  const int axis = normalize_axis(given_axis, a.ndim());
  if (sections <= 0) throw ValueError("number sections must be larger than 0.");
  const std::int64_t each = a.shape[axis] / sections, extra = a.shape[axis] % sections;
  std::vector<std::int64_t> ends;
  if (sections > kMostSections) throw std::bad_alloc();
  ends.reserve(static_cast<std::size_t>(sections));
  for (std::int64_t i = 0, end = 0; i + 1 < sections; ++i)
    ends.push_back(end += each + (i < extra ? 1 : 0));
  return split_at(a, ends, axis);
}

std::vector<Array> split(const Array& a, std::int64_t sections, std::int64_t given_axis) {
  const int axis = normalize_axis(given_axis, a.ndim());
  if (sections > 0 && a.shape[axis] % sections != 0)
    throw ValueError("array split does not result in an equal division");
  return array_split(a, sections, axis);
}

}  // namespace plait::numpy
