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

namespace {

// The elements of `a` that a difference may be taken of.
Array differentiable(const Array& a, int axis, int edge_order) {
  if (edge_order != 1 && edge_order != 2)
    throw ValueError("'edge_order' greater than 2 not supported");
  if (a.shape[axis] < edge_order + 1)
    throw ValueError(
        "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
        "elements are required.");
  return is_exact(a.dtype) || is_narrow(a.dtype) ? as(a, DType::Float64) : a;
}

// Of points that are evenly apart; what follows from their distance is an operand by `number`.
template <class Number>
Array even_gradient(const Array& f, double spacing, int axis, int edge_order, Number number) {
  const std::int64_t n = f.shape[axis];
  const auto at = [&](std::int64_t i) { return slice_axis(f, axis, i, i + 1); };
  const auto edge = [&](std::int64_t i, std::int64_t j, std::int64_t k, double sign) {
    if (edge_order == 1)
      return call(OpId::Divide, call(OpId::Subtract, at(sign > 0 ? j : i), at(sign > 0 ? i : j)),
                  number(spacing));
    const auto term = [&](double factor, std::int64_t element) {
      return call(OpId::Multiply, number(factor / spacing), at(element));
    };
    // NumPy adds from the lower index on.
    return sign > 0 ? call(OpId::Add, call(OpId::Add, term(-1.5, i), term(2, j)), term(-0.5, k))
                    : call(OpId::Add, call(OpId::Add, term(0.5, k), term(-2, j)), term(1.5, i));
  };
  const Array pieces[] = {
      edge(0, 1, 2, 1),
      call(OpId::Divide,
           call(OpId::Subtract, slice_axis(f, axis, 2, n), slice_axis(f, axis, 0, n - 2)),
           number(2 * spacing)),
      edge(n - 1, n - 2, n - 3, -1)};
  return concatenate(pieces, axis);
}

// a * x + b * y + c * z, as NumPy adds.
Array combination(const Array& a, const Array& x, const Array& b, const Array& y, const Array& c,
                  const Array& z) {
  return call(OpId::Add, call(OpId::Add, call(OpId::Multiply, a, x), call(OpId::Multiply, b, y)),
              call(OpId::Multiply, c, z));
}

Array uneven_gradient(const Array& f, const Array& distances, int axis, int edge_order) {
  const std::int64_t n = f.shape[axis];
  Dims along(f.ndim(), 1);
  along[axis] = n - 1;
  const Array d = tracer::reshape(distances, along);
  const auto part = [&](const Array& a, std::int64_t start, std::int64_t stop) {
    return slice_axis(a, axis, start, stop);
  };
  const auto plus = [](const Array& a, const Array& b) { return call(OpId::Add, a, b); };
  const auto minus = [](const Array& a, const Array& b) { return call(OpId::Subtract, a, b); };
  const auto times = [](const Array& a, const Array& b) { return call(OpId::Multiply, a, b); };
  const auto over = [](const Array& a, const Array& b) { return call(OpId::Divide, a, b); };
  const auto negative = [](const Array& a) { return call(OpId::Negative, a); };
  const auto inside = [&] {
    const Array d1 = part(d, 0, n - 2), d2 = part(d, 1, n - 1), both = plus(d1, d2);
    return combination(over(negative(d2), times(d1, both)), part(f, 0, n - 2),
                       over(minus(d2, d1), times(d1, d2)), part(f, 1, n - 1),
                       over(d1, times(d2, both)), part(f, 2, n));
  };
  const auto first = [&] {
    if (edge_order == 1) return over(minus(part(f, 1, 2), part(f, 0, 1)), part(d, 0, 1));
    const Array d1 = part(d, 0, 1), d2 = part(d, 1, 2), both = plus(d1, d2);
    const Array twice = plus(call(OpId::Multiply, weak(2), d1), d2);
    return combination(over(negative(twice), times(d1, both)), part(f, 0, 1),
                       over(both, times(d1, d2)), part(f, 1, 2),
                       over(negative(d1), times(d2, both)), part(f, 2, 3));
  };
  const auto last = [&] {
    if (edge_order == 1)
      return over(minus(part(f, n - 1, n), part(f, n - 2, n - 1)), part(d, n - 2, n - 1));
    const Array d1 = part(d, n - 3, n - 2), d2 = part(d, n - 2, n - 1), both = plus(d1, d2);
    const Array twice = plus(call(OpId::Multiply, weak(2), d2), d1);
    return combination(over(d2, times(d1, both)), part(f, n - 3, n - 2),
                       over(negative(both), times(d1, d2)), part(f, n - 2, n - 1),
                       over(twice, times(d2, both)), part(f, n - 1, n));
  };
  const Array pieces[] = {first(), inside(), last()};
  return concatenate(pieces, axis);
}

}  // namespace

Array gradient(const Array& a, double spacing, std::int64_t given_axis, int edge_order) {
  const int axis = normalize_axis(given_axis, a.ndim());
  return even_gradient(differentiable(a, axis, edge_order), spacing, axis, edge_order, weak);
}

Array gradient(const Array& a, const Array& given, std::int64_t given_axis, int edge_order) {
  const int axis = normalize_axis(given_axis, a.ndim());
  if (given.ndim() != 1) throw ValueError("distances must be either scalars or 1d");
  if (given.size() != a.shape[axis])
    throw ValueError("when 1d, distances must match the length of the corresponding dimension");
  const Array f = differentiable(a, axis, edge_order);
  const Array distances = diff(is_exact(given.dtype) ? as(given, DType::Float64) : given, 1, 0);
  const Scalar distance = tracer::item(distances, std::vector<std::int64_t>{0});
  const Array same = all(call(OpId::Equal, distances, strong(distance)));
  const Array found =
      tracer::item(same, {}).as<bool>()
          ? even_gradient(f, cast(distance, DType::Float64).as<double>(), axis, edge_order,
                          [&](double v) { return strong(cast(scalar_float(v), distance.dtype)); })
          : uneven_gradient(f, distances, axis, edge_order);
  return as(found, f.dtype);
}

}  // namespace plait::numpy
