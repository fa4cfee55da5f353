// Views: new shapes, strides and offsets over the same storage. Nothing is recorded.
#include "core/shape_limits.hpp"
#include "elementwise.hpp"
#include "graph.hpp"

namespace plait::tracer {

Array transpose(const Array& a, std::span<const std::int64_t> axes) {
  const int n = a.ndim();
  Array v = a;
  if (axes.empty()) {
    std::reverse(v.shape.begin(), v.shape.end());
    std::reverse(v.strides.begin(), v.strides.end());
    return v;
  }
  if (static_cast<int>(axes.size()) != n) throw ValueError("axes don't match array");
  std::uint64_t seen = 0;
  for (int i = 0; i < n; ++i) {
    const auto axis = static_cast<int>(normalise_axis(axes[static_cast<std::size_t>(i)], n));
    if (seen >> axis & 1) throw ValueError("repeated axis in transpose");
    seen |= std::uint64_t{1} << axis;
    v.shape[i] = a.shape[axis];
    v.strides[i] = a.strides[axis];
  }
  return v;
}

Array broadcast_to(const Array& a, const Dims& shape) {
  for (std::int64_t e : shape)
    if (e < 0) throw ValueError("all elements of broadcast shape must be non-negative");
  if (!broadcastable(a.shape, shape)) {
    if (a.ndim() > shape.size())
      throw ShapeError("input operand has more dimensions than allowed by the axis remapping");
    throw ShapeError(
        "operands could not be broadcast together with remapped shapes [original->remapped]: " +
        shape_text(a.shape) + "  and requested shape " + shape_text(shape));
  }
  check_iteration(shape);
  check_shape(shape, item_bytes(a.dtype));
  Array v = a;
  v.shape = shape;
  v.strides = broadcast_strides(a.shape, a.strides, shape);
  v.writeable = false;
  return v;
}

Array reshape(const Array& a, const Dims& shape, char order) {
  std::string text = "(";
  Dims to = shape;
  int unknown = -1;
  Dims known;
  for (int i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += shape[i] < 0 ? "newaxis" : std::to_string(shape[i]);
    if (shape[i] >= 0) {
      known.push_back(shape[i]);
    } else {
      if (unknown >= 0) throw ValueError("can only specify one unknown dimension");
      unknown = i;
    }
  }
  // NumPy leaves leading unknown axes out of its message.
  if (unknown == 0) {
    text = "(";
    for (int i = 1; i < shape.size(); ++i) text += (i > 1 ? "," : "") + std::to_string(shape[i]);
  } else if (shape.size() == 1) {
    text += ',';
  }
  text += ')';
  const std::int64_t size = a.size();
  const std::int64_t count = checked_element_count(known);
  const bool fits = unknown < 0 ? count == size : count > 0 && size % count == 0;
  if (!fits)
    throw ShapeError("cannot reshape array of size " + std::to_string(size) + " into shape " +
                     text);
  if (unknown >= 0) to[unknown] = size / count;

  if (shape == a.shape) return a;
  const std::int64_t unit = item_bytes(a.dtype);
  check_shape(to, unit);
  const bool c = is_c_contiguous(a), f = is_f_contiguous(a);
  const bool fortran = order == 'F' || (order == 'A' && f && !c);
  Array v = a;
  if ((fortran ? f : c) && a.size() > 0) {
    v.shape = to;
    v.strides = dense_strides(to, unit, fortran ? 'F' : 'C');
    return v;
  }
  Dims strides;
  if (reshape_strides(a.shape, a.strides, unit, to, fortran, strides)) {
    v.shape = to;
    v.strides = strides;
    return v;
  }
  v = copy(a, fortran ? 'F' : 'C');
  v.shape = to;
  v.strides = dense_strides(to, unit, fortran ? 'F' : 'C');
  return v;
}

Array squeeze(const Array& a, const std::optional<Dims>& axes) {
  Dims drop;
  if (axes) {
    drop = normalise_axes(*axes, a.ndim());
    for (std::int64_t axis : drop)
      if (a.shape[static_cast<int>(axis)] != 1)
        throw ValueError("cannot select an axis to squeeze out which has size not equal to one");
  } else {
    for (int i = 0; i < a.ndim(); ++i)
      if (a.shape[i] == 1) drop.push_back(i);
  }
  Array v = a;
  for (int i = drop.size() - 1; i >= 0; --i) {
    v.shape.erase(static_cast<int>(drop[i]));
    v.strides.erase(static_cast<int>(drop[i]));
  }
  return v;
}

Array expand_dims(const Array& a, const Dims& axes) {
  const int n = a.ndim() + axes.size();
  Dims at;
  for (std::int64_t axis : axes) at.push_back(normalise_axis(axis, n));
  std::sort(at.begin(), at.end());
  if (std::adjacent_find(at.begin(), at.end()) != at.end()) throw ValueError("repeated axis");
  Dims shape = a.shape;
  for (std::int64_t axis : at) shape.insert(static_cast<int>(axis), 1);
  return reshape(a, shape);  // NumPy's way, which fixes the strides of the new axes
}

Array flip(const Array& a, const std::optional<Dims>& axes) {
  Dims all;
  if (axes)
    all = normalise_axes(*axes, a.ndim());
  else
    for (int i = 0; i < a.ndim(); ++i) all.push_back(i);
  Array v = a;
  for (std::int64_t axis : all) {
    const int i = static_cast<int>(axis);
    if (a.shape[i] > 0) v.offset += (a.shape[i] - 1) * a.strides[i];
    v.strides[i] = -a.strides[i];
  }
  return v;
}

Array swapaxes(const Array& a, std::int64_t i, std::int64_t j) {
  const int x = static_cast<int>(normalise_axis(i, a.ndim(), "axis1: "));
  const int y = static_cast<int>(normalise_axis(j, a.ndim(), "axis2: "));
  Array v = a;
  std::swap(v.shape[x], v.shape[y]);
  std::swap(v.strides[x], v.strides[y]);
  return v;
}

Array moveaxis(const Array& a, const Dims& from, const Dims& to) {
  const int n = a.ndim();
  Dims source, target;
  auto distinct = [&](const Dims& axes, const char* what, Dims& out) {
    for (std::int64_t axis : axes)
      out.push_back(normalise_axis(axis, n, (std::string(what) + ": ").c_str()));
    Dims sorted = out;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw ValueError("repeated axis in `" + std::string(what) + "` argument");
  };
  distinct(from, "source", source);
  distinct(to, "destination", target);
  if (source.size() != target.size())
    throw ValueError("`source` and `destination` arguments must have the same number of elements");
  Dims order;
  for (int i = 0; i < n; ++i)
    if (std::find(source.begin(), source.end(), i) == source.end()) order.push_back(i);
  Dims by_target(source.size());
  for (int i = 0; i < by_target.size(); ++i) by_target[i] = i;
  std::sort(by_target.begin(), by_target.end(), [&](std::int64_t x, std::int64_t y) {
    return target[static_cast<int>(x)] < target[static_cast<int>(y)];
  });
  for (std::int64_t i : by_target)
    order.insert(static_cast<int>(target[static_cast<int>(i)]), source[static_cast<int>(i)]);
  if (n == 0) return a;
  return transpose(a, std::span(order.data(), static_cast<std::size_t>(n)));
}

Array diagonal(const Array& a, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  const int n = a.ndim();
  if (n < 2) throw ValueError("diag requires an array of at least two dimensions");
  const int i = static_cast<int>(normalise_axis(axis1, n, "axis1: "));
  const int j = static_cast<int>(normalise_axis(axis2, n, "axis2: "));
  if (i == j) throw ValueError("axis1 and axis2 cannot be the same");
  std::int64_t rows = a.shape[i], columns = a.shape[j];
  Array v = a;
  if (offset >= 0) {
    columns = std::max<std::int64_t>(columns - offset, 0);
    if (columns > 0) v.offset += offset * a.strides[j];
  } else {
    rows = std::max<std::int64_t>(rows + offset, 0);
    if (rows > 0) v.offset += -offset * a.strides[i];
  }
  const std::int64_t stride = a.strides[i] + a.strides[j];
  v.shape.erase(std::max(i, j));
  v.shape.erase(std::min(i, j));
  v.strides.erase(std::max(i, j));
  v.strides.erase(std::min(i, j));
  v.shape.push_back(std::min(rows, columns));
  v.strides.push_back(stride);
  v.writeable = false;
  return v;
}

namespace {
DType part_of(DType t) { return t == DType::Complex64 ? DType::Float32 : DType::Float64; }
}  // namespace

Array real(const Array& a) {
  if (!is_complex(a.dtype)) return a;
  Array v = a;
  v.dtype = part_of(a.dtype);
  return v;
}

Array imag(const Array& a) {
  if (!is_complex(a.dtype)) {
    const char order = is_f_contiguous(a) && !is_c_contiguous(a) ? 'F' : 'C';
    const OnDevice beside(device_of(a));
    Array zeros = full(a.shape, cast(scalar_int(0), a.dtype), order);
    zeros.writeable = false;
    return zeros;
  }
  Array v = real(a);
  v.offset += item_bytes(v.dtype);
  return v;
}

namespace {
// What is written through a view of another dtype may be no 0 or 1.
void note_bytes(const Array& a, DType t) {
  if (a.dtype != t && (a.dtype == DType::Bool || t == DType::Bool)) take_any_bytes(a);
}
}  // namespace

Array view(const Array& a, DType t) {
  const std::int64_t old = item_bytes(a.dtype), item = item_bytes(t);
  Array v = a;
  v.dtype = t;
  note_bytes(a, t);
  if (item == old) return v;
  if (a.ndim() == 0)
    throw ValueError(
        "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
  const int last = a.ndim() - 1;
  if (a.shape[last] != 1 && a.size() != 0 && a.strides[last] != old)
    throw ValueError("To change to a dtype of a different size, the last axis must be contiguous");
  const std::int64_t bytes = a.shape[last] * old;
  if (bytes % item != 0)
    throw ValueError(
        "When changing to a larger dtype, its size must be a divisor of the total size in bytes of "
        "the last axis of the array.");
  v.shape[last] = bytes / item;
  v.strides[last] = item;
  return v;
}

Array as_strided(const Array& a, DType t, const Dims& shape, const Dims& strides,
                 std::int64_t offset) {
  check_shape(shape, item_bytes(t));
  note_bytes(a, t);
  Array v = a;
  v.dtype = t;
  v.shape = shape;
  v.strides = strides;
  v.offset += offset;
  return v;
}

bool may_share_memory(const Array& a, const Array& b) {
  if (a.storage != b.storage || a.size() == 0 || b.size() == 0) return false;
  const Extent x = extent(a.shape, a.strides, item_bytes(a.dtype));
  const Extent y = extent(b.shape, b.strides, item_bytes(b.dtype));
  return a.offset + x.first < b.offset + y.last && b.offset + y.first < a.offset + x.last;
}

bool is_c_contiguous(const Array& a) {
  return c_contiguous(a.shape, a.strides, item_bytes(a.dtype));
}
bool is_f_contiguous(const Array& a) {
  return f_contiguous(a.shape, a.strides, item_bytes(a.dtype));
}

}  // namespace plait::tracer
