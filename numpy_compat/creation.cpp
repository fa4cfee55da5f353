#include <cmath>
#include <cstring>
#include <limits>

#include "core/array_memory.hpp"
#include "core/config.hpp"
#include "core/shape_limits.hpp"
#include "record.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

Scalar one(DType t) { return cast(scalar_int(1), t); }

// Applies `make(shape, order)` so that the result has the layout NumPy gives a fresh array like
// `a`.
template <class Make>
Array make_like(const Array& a, const LikeOptions& o, Make make) {
  const tracer::OnDevice beside(tracer::device_of(a));
  const Dims& shape = o.shape ? *o.shape : a.shape;
  char order = o.order;
  if (order == 'A') order = tracer::is_f_contiguous(a) && !tracer::is_c_contiguous(a) ? 'F' : 'C';
  // A different number of axes leaves nothing to keep.
  if (order == 'K' && (shape.size() != a.ndim() || tracer::is_c_contiguous(a))) order = 'C';
  if (order != 'K') return make(shape, order);

  const Dims strides = tracer::copy_strides(shape, a.strides, 8, 'K');
  Dims axes;  // slowest first
  for (int i = 0; i < shape.size(); ++i) axes.push_back(i);
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t i, std::int64_t j) {
    return strides[static_cast<int>(i)] > strides[static_cast<int>(j)];
  });
  Dims sorted, inverse(shape.size());
  for (int i = 0; i < axes.size(); ++i) {
    sorted.push_back(shape[static_cast<int>(axes[i])]);
    inverse[static_cast<int>(axes[i])] = i;
  }
  return tracer::transpose(make(sorted, 'C'),
                           std::span(inverse.data(), static_cast<std::size_t>(inverse.size())));
}

Array count_up(std::int64_t n, std::int64_t start) {
  return tracer::arange(n, scalar_int(start), scalar_int(1));
}
// For each column the row in which diagonal k meets it.
Array diagonal_numbers(std::int64_t rows, std::int64_t columns, std::int64_t k) {
  return count_up(columns, -std::clamp(k, -rows, columns));  // -k and what follows stay in int64
}
Array as_column(const Array& a) { return tracer::expand_dims(a, Dims{1}); }

double as_double(const Scalar& s) { return cast(s, DType::Float64).as<double>(); }

Scalar add(const Scalar& a, const Scalar& b) {
  const DType t = promote(a.dtype, b.dtype);
  const Scalar x = cast(a, t), y = cast(b, t);
  if (is_exact(t)) {
    const auto sum = static_cast<std::uint64_t>(cast(x, DType::Int64).as<std::int64_t>()) +
                     static_cast<std::uint64_t>(cast(y, DType::Int64).as<std::int64_t>());
    return scalar_int(static_cast<std::int64_t>(sum));
  }
  if (t == DType::Float32) return Scalar::of(t, x.as<float>() + y.as<float>());
  return scalar_float(as_double(x) + as_double(y));
}

// b - a in their dtype.
Scalar difference(const Scalar& a, const Scalar& b) {
  if (is_exact(a.dtype)) {
    const auto d = static_cast<std::uint64_t>(cast(b, DType::Int64).as<std::int64_t>()) -
                   static_cast<std::uint64_t>(cast(a, DType::Int64).as<std::int64_t>());
    return cast(scalar_int(static_cast<std::int64_t>(d)), a.dtype);
  }
  if (a.dtype == DType::Float64) return scalar_float(b.as<double>() - a.as<double>());
  // Half ranges step in single precision.
  const float x = cast(a, DType::Float32).as<float>(), y = cast(b, DType::Float32).as<float>();
  return cast(Scalar::of(DType::Float32, y - x), a.dtype);
}

}  // namespace

Array zeros(const Dims& shape, DType t, char order) {
  return tracer::full(shape, cast(scalar_bool(false), t), order);
}
Array ones(const Dims& shape, DType t, char order) { return tracer::full(shape, one(t), order); }

Array empty_like(const Array& a, const LikeOptions& o) {
  const DType t = o.dtype.value_or(a.dtype);
  return make_like(a, o, [&](const Dims& s, char order) { return tracer::empty(s, t, order); });
}
Array full_like(const Array& a, const Scalar& value, const LikeOptions& o) {
  const Scalar v = cast(value, o.dtype.value_or(a.dtype));
  return make_like(a, o, [&](const Dims& s, char order) { return tracer::full(s, v, order); });
}
Array zeros_like(const Array& a, const LikeOptions& o) {
  return full_like(a, scalar_bool(false), o);
}
Array ones_like(const Array& a, const LikeOptions& o) { return full_like(a, scalar_bool(true), o); }

std::int64_t arange_length(const Scalar& start, const Scalar& stop, const Scalar& step) {
  const double by = as_double(step);
  const bool exact = is_exact(start.dtype) && is_exact(stop.dtype) && is_exact(step.dtype);
  if (by == 0) throw FloatingPointError(exact ? "division by zero" : "float division by zero");
  if (exact) {
    // Python divides its integers exactly rounded; whole numbers need no rounding at all.
    const auto first = static_cast<__int128>(cast(start, DType::Int64).as<std::int64_t>());
    const auto last = static_cast<__int128>(cast(stop, DType::Int64).as<std::int64_t>());
    const auto stride = static_cast<__int128>(cast(step, DType::Int64).as<std::int64_t>());
    const __int128 span = last - first;
    if ((span > 0) != (stride > 0) || span == 0) return 0;
    const __int128 n = (span + stride - (stride > 0 ? 1 : -1)) / stride;
    if (n > std::numeric_limits<std::int64_t>::max())
      throw ValueError("Maximum allowed size exceeded");
    return static_cast<std::int64_t>(n);
  }
  const double span = as_double(stop) - as_double(start), steps = span / by;
  // The first element is less than a step from the end, however much less that is.
  if (steps == 0 && span != 0) return std::signbit(steps) ? 0 : 1;
  const double n = std::ceil(steps);
  if (std::isnan(n)) throw ValueError("arange: cannot compute length");
  if (n >= 9223372036854775808.0) throw ValueError("Maximum allowed size exceeded");
  return n <= 0 ? 0 : static_cast<std::int64_t>(n);
}

Array arange(const Scalar& start, const Scalar& stop, const Scalar& step,
             std::optional<DType> dtype) {
  const DType t =
      dtype.value_or(promote(promote(start.dtype, stop.dtype), promote(step.dtype, DType::Int64)));
  const std::int64_t n = arange_length(start, stop, step);
  if (t == DType::Bool && n > 2)
    throw DTypeError(
        "arange() is only supported for booleans when the result has at most length 2.");
  if (n <= 1) return tracer::full(Dims{n}, cast(start, t));  // the step may be infinite
  // NumPy stores the first two elements and steps by their difference.
  const DType wide = computes_in(t);
  const Scalar first = cast(cast(start, t), wide), second = cast(cast(add(start, step), t), wide);
  if (t == DType::Bool || is_complex(t)) {
    const double x = as_double(start);
    const Array offsets = call(OpId::Multiply, count_up(n, 0), weak((x + as_double(step)) - x));
    return as(call(OpId::Add, offsets, weak(x)), t);
  }
  return as(tracer::arange(n, first, difference(first, second)), t);
}

Array linspace(double start, double stop, std::int64_t n, bool endpoint, std::optional<DType> dtype,
               double* step_out) {
  if (n < 0)
    throw ValueError("Number of samples, " + std::to_string(n) + ", must be non-negative.");
  const std::int64_t intervals = endpoint ? n - 1 : n;
  const double delta = stop - start;
  const DType t = dtype.value_or(DType::Float64);
  double step = std::numeric_limits<double>::quiet_NaN();
  Array y = tracer::arange(n, scalar_float(0), scalar_float(1));
  if (intervals > 0) {
    step = delta / static_cast<double>(intervals);
    if (step == 0) {  // a step that underflows: scale first
      y = call(OpId::Divide, y, weak(static_cast<double>(intervals)));
      y = call(OpId::Multiply, y, weak(delta));
    } else {
      y = call(OpId::Multiply, y, weak(step));
    }
  } else {
    y = call(OpId::Multiply, y, weak(delta));
  }
  y = call(OpId::Add, y, weak(start));
  if (endpoint && n > 1)  // NumPy stores `stop` in the last element; so it fuses
    y = call(OpId::Where, call(OpId::Equal, count_up(n, 0), strong(n - 1)), weak(stop), y);
  if (is_integer(t)) y = call(OpId::Floor, y);
  if (step_out) *step_out = step;
  return as(y, t);
}

namespace {

// In memory at once: zeros and a diagonal of ones.
Array small_eye(std::int64_t rows, std::int64_t columns, std::int64_t k, DType t) {
  const Dims shape{rows, columns};
  const auto item = static_cast<std::int64_t>(itemsize(t));
  Ref<Buffer> memory = allocate_array(shape, t);
  std::memset(memory->data, 0, static_cast<std::size_t>(rows * columns * item));
  k = std::clamp(k, -rows, columns);
  const std::int64_t down = std::max<std::int64_t>(-k, 0), right = std::max<std::int64_t>(k, 0);
  const Scalar value = one(t);
  for (std::int64_t i = 0; i < std::min(rows - down, columns - right); ++i)
    std::memcpy(memory->data + ((down + i) * columns + right + i) * item, value.bytes,
                static_cast<std::size_t>(item));
  return tracer::from_buffer(std::move(memory), t, shape, contiguous_strides(shape, item), 0);
}

}  // namespace

Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k, DType t, char order) {
  check_shape(Dims{rows, columns}, static_cast<std::int64_t>(itemsize(t)));
  if (order == 'F') {
    const Array turned = eye(columns, rows, -std::clamp(k, -rows, columns), t);
    return tracer::transpose(turned);
  }
  if (rows * columns <= tracer::eager_limit() && tracer::current_device() <= kHost)
    return small_eye(rows, columns, k, t);
  return as(call(OpId::Equal, as_column(count_up(rows, 0)), diagonal_numbers(rows, columns, k)), t);
}
Array identity(std::int64_t n, DType t) { return eye(n, n, 0, t); }

Array tri(std::int64_t rows, std::int64_t columns, std::int64_t k, DType t) {
  rows = std::max<std::int64_t>(rows, 0);
  columns = std::max<std::int64_t>(columns, 0);
  return as(
      call(OpId::GreaterEqual, as_column(count_up(rows, 0)), diagonal_numbers(rows, columns, k)),
      t);
}

namespace {

// The last two axes decide; a vector counts as the rows of a square matrix.
Array triangle(const Array& a, std::int64_t k, bool lower) {
  if (a.ndim() == 0) throw DTypeError("tri() missing 1 required positional argument: 'N'");
  const std::int64_t columns = a.shape.back();
  const std::int64_t rows = a.ndim() == 1 ? columns : a.shape[a.ndim() - 2];
  const tracer::OnDevice beside(tracer::device_of(a));
  const std::int64_t last = lower ? k : std::max(k, -rows) - 1;
  const Array mask = tri(rows, columns, last, DType::Bool);
  const Operand zero = strong(cast(scalar_bool(false), a.dtype));
  return lower ? call(OpId::Where, mask, a, zero) : call(OpId::Where, mask, zero, a);
}

}  // namespace

Array tril(const Array& a, std::int64_t k) { return triangle(a, k, true); }
Array triu(const Array& a, std::int64_t k) { return triangle(a, k, false); }

}  // namespace plait::numpy
