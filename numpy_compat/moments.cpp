// mean, var and std: the sequences of numpy/_core/_methods.py, which decide how results round.
#include <algorithm>
#include <cmath>
#include <optional>

#include "record.hpp"

namespace plait::numpy {
namespace {

// How many elements each result folds: one number, or counts under a mask.
struct Count {
  std::int64_t items = 1;
  Array masked;  // set when there is a mask: shape of the result
};

Count count_items(const Array& a, const ReduceOptions& o, bool keepdims) {
  Count c;
  if (o.where) {
    ReduceOptions count;
    count.axes = o.axes;
    count.keepdims = keepdims;
    count.dtype = DType::Int64;
    c.masked = sum(tracer::broadcast_to(*o.where, a.shape), count);
    return c;
  }
  if (o.axes)
    for (std::int64_t axis : *o.axes) c.items *= a.shape[normalize_axis(axis, a.ndim())];
  else
    c.items = a.size();
  return c;
}

// Whether some result folds `limit` elements or fewer; evaluates the counts under a mask, because
// the answer is a warning.
bool any_count_at_most(const Count& c, double limit) {
  if (!c.masked) return static_cast<double>(c.items) <= limit;
  const Array few = any(call(OpId::LessEqual, c.masked, weak(limit)));
  return tracer::item(few, {}).as<bool>();
}

// value / divisor as NumPy stores it: divided in the dtype that both promote to (float64 for
// float32 by an integer count), then rounded to `t`.
Array divide_into(const Array& value, const Operand& divisor, DType t, const Array* out) {
  // NumPy divides in place: counts under a mask have no say in the layout.
  if (!out && divisor.array && value.ndim() > 1 && t == value.dtype) out = &value;
  if (out) {
    const Operand operands[] = {value, divisor};
    tracer::ElementwiseOptions e;
    e.out = out;
    e.casting = Casting::Unsafe;
    return tracer::elementwise(OpId::Divide, operands, e);
  }
  // By an integer NumPy divides scalars of these dtypes as such, others as arrays.
  std::optional<tracer::Naming> of_scalars;
  if (value.ndim() == 0 && (value.dtype == DType::Float64 || value.dtype == DType::Complex128))
    of_scalars.emplace(tracer::NamedAs::ScalarDivide);
  const Array quotient = call(OpId::Divide, value, divisor);
  of_scalars.reset();
  return laid_out_like(as(quotient, t), value);
}

Operand divisor_of(const Count& c, Array& storage, const Dims& shape) {
  if (!c.masked) return strong(c.items);
  storage = c.masked.shape == shape ? c.masked : tracer::reshape(c.masked, shape);
  return storage;
}

}  // namespace

Array mean(const Array& a, const ReduceOptions& o) {
  const Count count = count_items(a, o, o.keepdims);
  ReduceOptions s = o;
  bool half_result = false;
  if (!o.dtype) {
    if (is_exact(a.dtype)) {
      s.dtype = DType::Float64;
    } else if (is_narrow(a.dtype) && !o.out) {
      return as(mean(as(a, computes_in(a.dtype)), o), a.dtype);  // rounded once
    } else if (a.dtype == DType::Float16) {
      s.dtype = DType::Float32;
      half_result = true;
    }
  }
  const Array total = sum(a, s);
  if (any_count_at_most(count, 0)) warn(Warning::Runtime, "Mean of empty slice");
  Array scratch;
  const Operand divisor = divisor_of(count, scratch, total.shape);
  if (o.out) return divide_into(total, divisor, total.dtype, o.out);
  if (!half_result) return divide_into(total, divisor, total.dtype, nullptr);
  // NumPy rounds arrays to float32 first, scalars straight to float16.
  if (total.ndim() == 0) return divide_into(total, divisor, DType::Float16, nullptr);
  return as(divide_into(total, divisor, DType::Float32, nullptr), DType::Float16);
}

Array var(const Array& a, const ReduceOptions& o, double ddof, const Array* given_mean) {
  if (is_narrow(a.dtype) && is_float(a.dtype) && !o.dtype && !o.out)
    return as(var(as(a, computes_in(a.dtype)), o, ddof, given_mean), a.dtype);
  const Count count = count_items(a, o, o.keepdims);
  ReduceOptions s = o;
  if (!o.dtype && is_exact(a.dtype)) s.dtype = DType::Float64;

  Array centre;
  if (given_mean) {
    centre = *given_mean;
  } else {
    ReduceOptions m = s;
    m.keepdims = true;
    m.out = nullptr;
    const Array total = sum(a, m);
    Array scratch;
    centre = divide_into(total, divisor_of(count, scratch, total.shape), total.dtype, nullptr);
  }
  if (any_count_at_most(count, ddof)) warn(Warning::Runtime, "Degrees of freedom <= 0 for slice");

  const Array x = call(OpId::Subtract, a, centre);
  Array squares;
  if (is_complex(x.dtype))
    squares = call(OpId::Add, call(OpId::Square, call(OpId::Real, x)),
                   call(OpId::Square, call(OpId::Imag, x)));
  else
    squares = call(OpId::Square, x);
  const Array total = sum(squares, s);

  if (!count.masked) {
    const double left = std::max(static_cast<double>(count.items) - ddof, 0.0);
    const Operand divisor = ddof == std::floor(ddof) ? strong(static_cast<std::int64_t>(left))
                                                     : strong(scalar_float(left));
    return divide_into(total, divisor, total.dtype, o.out);
  }
  const Operand reduction = ddof == std::floor(ddof) ? strong(static_cast<std::int64_t>(ddof))
                                                     : strong(scalar_float(ddof));
  const Array left =
      call(OpId::Maximum, call(OpId::Subtract, count.masked, reduction), strong(std::int64_t{0}));
  return divide_into(total, left, total.dtype, o.out);
}

Array std(const Array& a, const ReduceOptions& o, double ddof, const Array* given_mean) {
  const Array variance = var(a, o, ddof, given_mean);
  const Operand operand = variance;
  tracer::ElementwiseOptions e;
  e.out = o.out;
  const Array root = tracer::elementwise(OpId::Sqrt, std::span(&operand, 1), e);
  return o.out ? root : laid_out_like(root, variance);
}

}  // namespace plait::numpy
