// Weighted means, slopes and areas: the sequences of numpy/lib/_function_base_impl.py.
#include <algorithm>
#include <numeric>

#include "record.hpp"

namespace plait::numpy {
namespace {

// Weights of the shape of `a`, or of its extents along `axes`, brought to broadcast against it.
Array weights_for(const Array& a, const Array& weights, const std::optional<Dims>& axes) {
  if (weights.shape == a.shape) return weights;
  if (!axes) throw DTypeError("Axis must be specified when shapes of a and weights differ.");
  const Dims along = normalize_axes(*axes, a.ndim());
  Dims extents, spread(a.ndim(), 1);
  for (const std::int64_t axis : along) {
    extents.push_back(a.shape[static_cast<int>(axis)]);
    spread[static_cast<int>(axis)] = a.shape[static_cast<int>(axis)];
  }
  if (weights.shape != extents)
    throw ShapeError("Shape of weights must be consistent with shape of a along specified axis.");
  Dims order(along.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return along[static_cast<int>(i)] < along[static_cast<int>(j)];
  });
  return tracer::reshape(
      tracer::transpose(weights, std::span(order.data(), static_cast<std::size_t>(order.size()))),
      spread);
}

}  // namespace

Array average(const Array& a, const Array& given_weights, const ReduceOptions& o) {
  const Array weights = weights_for(a, given_weights, o.axes);
  DType t = promote(a.dtype, weights.dtype);
  if (is_exact(a.dtype)) t = promote(t, DType::Float64);
  ReduceOptions scale = o;
  scale.dtype = t;
  const Array total_weight = sum(weights, scale);
  if (tracer::item(any(call(OpId::Equal, total_weight, weak(0))), {}).as<bool>())
    throw FloatingPointError("Weights sum to zero, can't be normalized");
  tracer::ElementwiseOptions in_type;
  in_type.dtype = t;
  const Operand factors[] = {a, weights};
  return call(OpId::Divide, sum(tracer::elementwise(OpId::Multiply, factors, in_type), o),
              total_weight);
}

Array trapezoid(const Array& y, const Operand& spacing, std::int64_t given_axis) {
  const int axis = normalize_axis(given_axis, y.ndim());
  const std::int64_t n = y.shape[axis];
  const Array ends = call(OpId::Add, slice_axis(y, axis, 1, n),
                          slice_axis(y, axis, 0, std::max<std::int64_t>(n - 1, 0)));
  ReduceOptions o;
  o.axes = Dims{axis};
  return sum(call(OpId::Divide, call(OpId::Multiply, spacing, ends), weak(2)), o);
}
Array trapezoid(const Array& y, const Array& x, std::int64_t given_axis) {
  const int axis = normalize_axis(given_axis, y.ndim());
  Array spacing = diff(x, 1, x.ndim() == 1 ? 0 : axis);
  if (x.ndim() == 1) {
    Dims shape(y.ndim(), 1);
    shape[axis] = spacing.size();
    spacing = tracer::reshape(spacing, shape);
  }
  return trapezoid(y, Operand(spacing), axis);
}

Array gradient(const Array& a, double spacing, std::int64_t given_axis, int edge_order) {
  const int axis = normalize_axis(given_axis, a.ndim());
  if (edge_order != 1 && edge_order != 2)
    throw ValueError("'edge_order' greater than 2 not supported");
  const std::int64_t n = a.shape[axis];
  if (n < edge_order + 1)
    throw ValueError(
        "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
        "elements are required.");
  const Array f = is_exact(a.dtype) || is_narrow(a.dtype) ? as(a, DType::Float64) : a;
  const auto at = [&](std::int64_t i) { return slice_axis(f, axis, i, i + 1); };
  const auto edge = [&](std::int64_t i, std::int64_t j, std::int64_t k, double sign) {
    if (edge_order == 1)
      return call(OpId::Divide, call(OpId::Subtract, at(sign > 0 ? j : i), at(sign > 0 ? i : j)),
                  weak(spacing));
    const auto term = [&](double factor, std::int64_t element) {
      return call(OpId::Multiply, weak(factor / spacing), at(element));
    };
    // NumPy adds from the lower index on.
    return sign > 0 ? call(OpId::Add, call(OpId::Add, term(-1.5, i), term(2, j)), term(-0.5, k))
                    : call(OpId::Add, call(OpId::Add, term(0.5, k), term(-2, j)), term(1.5, i));
  };
  const Array pieces[] = {
      edge(0, 1, 2, 1),
      call(OpId::Divide,
           call(OpId::Subtract, slice_axis(f, axis, 2, n), slice_axis(f, axis, 0, n - 2)),
           weak(2 * spacing)),
      edge(n - 1, n - 2, n - 3, -1)};
  return concatenate(pieces, axis);
}

}  // namespace plait::numpy
