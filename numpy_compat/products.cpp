// Products of vectors and matrices over matmul.
#include <string>

#include "record.hpp"
#include "tracer/contraction.hpp"

namespace plait::numpy {
namespace {

[[noreturn]] void throw_not_aligned(const Dims& a, int axis_a, const Dims& b, int axis_b) {
  throw ShapeError("shapes " + to_compact_string(a) + " and " + to_compact_string(b) +
                   " not aligned: " + std::to_string(a[axis_a]) + " (dim " +
                   std::to_string(axis_a) + ") != " + std::to_string(b[axis_b]) + " (dim " +
                   std::to_string(axis_b) + ")");
}

bool contains(const Dims& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// `a` with its axes in the order of `first`, then `last`.
Array arranged(const Array& a, const Dims& first, const Dims& last) {
  Dims order = first;
  for (const std::int64_t axis : last) order.push_back(axis);
  return order.empty() ? a
                       : tracer::transpose(
                             a, std::span(order.data(), static_cast<std::size_t>(order.size())));
}

Dims free_axes(const Array& a, const Dims& contracted) {
  Dims rest;
  for (int i = 0; i < a.ndim(); ++i)
    if (!contains(contracted, i)) rest.push_back(i);
  return rest;
}

Array contract(const Array& a, const Dims& axes_a, const Array& b, const Dims& axes_b) {
  return tracer::contract(arranged(a, free_axes(a, axes_a), axes_a),
                          arranged(b, axes_b, free_axes(b, axes_b)), 0, axes_a.size());
}

// With new axes in front, up to n.
Array atleast_nd_in_front(const Array& a, int n) {
  Dims axes;
  for (int i = 0; i < n - a.ndim(); ++i) axes.push_back(i);
  return axes.empty() ? a : tracer::expand_dims(a, axes);
}

void check_broadcast(const Dims& a, const Dims& b) try {
  broadcast_shapes(a, b);
} catch (const ShapeError&) {
  throw ShapeError(
      "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 "
      "with shape " +
      to_string(a) + " and arg 1 with shape " + to_string(b) + ".");
}

}  // namespace

namespace {
bool has_blas(const Array& a, const Array& b) {
  const DType t = promote(a.dtype, b.dtype);
  return t == DType::Float32 || t == DType::Float64 || is_complex(t);
}

// dot and inner with a 0-D operand. Where NumPy has a BLAS for the dtype, the result of up to two
// dimensions is in C order, and several elements are added to zeros; else it is multiply's.
Array scaled(const Array& a, const Array& b) {
  const bool blas = has_blas(a, b) && std::max(a.ndim(), b.ndim()) <= 2;
  tracer::ElementwiseOptions opt;
  opt.order = blas ? 'C' : 'K';
  const Operand both[] = {a, b};
  const Array made = tracer::elementwise(OpId::Multiply, both, opt);
  return blas && made.size() != 1 ? from_zero(made) : made;
}

// Two single elements, which NumPy multiplies without a sum where it has a BLAS for the dtype.
bool are_single(const Array& a, const Array& b) {
  return a.size() == 1 && b.size() == 1 && has_blas(a, b);
}
Array single_product(const Array& a, const Array& b, int ndim) {
  return tracer::reshape(call(OpId::Multiply, flat(a), flat(b)), Dims(ndim, 1));
}
// f(a, b) of narrow arrays is computed in what they are computed in, and rounded once; nothing for
// others.
template <class F>
std::optional<Array> of_narrow(const Array& a, const Array& b, F f) {
  if (!is_narrow(a.dtype) && !is_narrow(b.dtype)) return std::nullopt;
  const DType t = promote(a.dtype, b.dtype), wide = computes_in(t);
  if (t == wide) return std::nullopt;
  return as(f(as(a, wide), as(b, wide)), t);
}
}  // namespace

Array dot(const Array& a, const Array& b) {
  if (auto made = of_narrow(a, b, dot)) return *std::move(made);
  const tracer::Naming as_dot(tracer::NamedAs::Dot);
  if (a.ndim() == 0 || b.ndim() == 0) return scaled(a, b);
  const int axis_a = a.ndim() - 1, axis_b = b.ndim() == 1 ? 0 : b.ndim() - 2;
  if (a.shape[axis_a] != b.shape[axis_b]) throw_not_aligned(a.shape, axis_a, b.shape, axis_b);
  if (a.ndim() <= 2 && b.ndim() <= 2 && are_single(a, b))
    return single_product(a, b, a.ndim() + b.ndim() - 2);
  if (b.ndim() <= 2) return tracer::matmul(a, b, 'C');
  return contract(a, Dims{axis_a}, b, Dims{axis_b});
}

Array vdot(const Array& a, const Array& b) {
  if (auto made = of_narrow(a, b, vdot)) return *std::move(made);
  if (a.size() != b.size())
    throw ValueError("cannot reshape array of size " + std::to_string(b.size()) + " into shape " +
                     to_compact_string(Dims{a.size()}));
  const tracer::Naming unheard(tracer::NamedAs::Nobody);
  const Array x = flat(a), y = flat(b);
  return tracer::matmul(is_complex(x.dtype) ? call(OpId::Conjugate, x) : x, y);
}

Array inner(const Array& a, const Array& b) {
  if (auto made = of_narrow(a, b, inner)) return *std::move(made);
  const tracer::Naming as_dot(tracer::NamedAs::Dot);
  if (a.ndim() == 0 || b.ndim() == 0) return scaled(a, b);
  const int axis_a = a.ndim() - 1, axis_b = b.ndim() - 1;
  if (a.shape[axis_a] != b.shape[axis_b]) {
    // NumPy calls dot with b's last two axes swapped, and its message shows that.
    Dims swapped = b.shape;
    const int shown = b.ndim() == 1 ? 0 : b.ndim() - 2;
    std::swap(swapped[axis_b], swapped[shown]);
    throw_not_aligned(a.shape, axis_a, swapped, shown);
  }
  if (a.ndim() <= 2 && b.ndim() <= 2 && are_single(a, b))
    return single_product(a, b, a.ndim() + b.ndim() - 2);
  if (b.ndim() == 1) return tracer::matmul(a, b, 'C');
  return contract(a, Dims{axis_a}, b, Dims{axis_b});
}

Array outer(const Array& a, const Array& b) {
  const Array x = tracer::expand_dims(flat(a), Dims{1}), y = tracer::expand_dims(flat(b), Dims{0});
  return call(OpId::Multiply, x, y);
}

Array tensordot(const Array& a, const Array& b, const Dims& given_a, const Dims& given_b) {
  for (const Dims* axes : {&given_a, &given_b})
    for (int i = 0; i < axes->size(); ++i)
      for (int j = 0; j < i; ++j)
        if ((*axes)[i] == (*axes)[j])
          throw ValueError("duplicate axes are not allowed in tensordot");
  if (given_a.size() != given_b.size()) throw ValueError("shape-mismatch for sum");
  for (int i = 0; i < given_a.size(); ++i)
    for (const auto& [array, axis] : {std::pair(&a, given_a[i]), std::pair(&b, given_b[i])})
      if (axis < -array->ndim() || axis >= array->ndim())
        throw IndexError("tuple index out of range");
  const Dims axes_a = normalize_axes(given_a, a.ndim()), axes_b = normalize_axes(given_b, b.ndim());
  for (int i = 0; i < axes_a.size(); ++i)
    if (a.shape[static_cast<int>(axes_a[i])] != b.shape[static_cast<int>(axes_b[i])])
      throw ValueError("shape-mismatch for sum");
  const tracer::Naming as_dot(tracer::NamedAs::Dot);
  if (are_single(a, b)) return single_product(a, b, a.ndim() + b.ndim() - 2 * axes_a.size());
  return contract(a, axes_a, b, axes_b);
}

Array tensordot(const Array& a, const Array& b, std::int64_t axes) {
  Dims axes_a, axes_b;
  axes = std::min<std::int64_t>(axes, kMaxDims + 1);  // one that no array has
  for (std::int64_t i = 0; i < axes; ++i) {
    axes_a.push_back(i - axes);
    axes_b.push_back(i);
  }
  return tensordot(a, b, axes_a, axes_b);
}

Array cross(const Array& given_a, const Array& given_b, std::int64_t axis_a, std::int64_t axis_b,
            std::int64_t axis_c) {
  if (given_a.ndim() < 1 || given_b.ndim() < 1)
    throw ValueError("At least one array has zero dimension");
  const int from_a = normalize_axis(axis_a, given_a.ndim(), "axisa");
  const int from_b = normalize_axis(axis_b, given_b.ndim(), "axisb");
  const DType t = promote(given_a.dtype, given_b.dtype);
  const Array a = as(tracer::moveaxis(given_a, Dims{from_a}, Dims{-1}), t);
  const Array b = as(tracer::moveaxis(given_b, Dims{from_b}, Dims{-1}), t);
  const std::int64_t na = a.shape.back(), nb = b.shape.back();
  if ((na != 2 && na != 3) || (nb != 2 && nb != 3))
    throw ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)");
  if (na == 2 || nb == 2)
    warn(Warning::Deprecation,
         "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors "
         "instead. (deprecated in NumPy 2.0)");
  const auto part = [](const Array& x, std::int64_t i) { return take_at(x, x.ndim() - 1, i); };
  check_broadcast(Dims(a.shape.begin(), a.shape.end() - 1),
                  Dims(b.shape.begin(), b.shape.end() - 1));
  const auto times = [&](std::int64_t i, std::int64_t j) {
    return call(OpId::Multiply, part(a, i), part(b, j));
  };
  const auto minus = [](const Array& x, const Array& y) { return call(OpId::Subtract, x, y); };
  // NumPy writes them to a new array, whatever the operands' layout.
  const auto in_c_order = [](const Array& c) {
    return tracer::is_c_contiguous(c) ? c : tracer::copy(c, 'C');
  };
  const Array z = minus(times(0, 1), times(1, 0));
  if (na == 2 && nb == 2) return in_c_order(z);
  // A missing third component is zero; NumPy leaves its products out.
  const Array x = nb == 2   ? call(OpId::Negative, times(2, 1))
                  : na == 2 ? times(1, 2)
                            : minus(times(1, 2), times(2, 1));
  const Array y = nb == 2   ? times(2, 0)
                  : na == 2 ? call(OpId::Negative, times(0, 2))
                            : minus(times(2, 0), times(0, 2));
  const int to = normalize_axis(axis_c, z.ndim() + 1, "axisc");
  const Array parts[] = {in_c_order(x), in_c_order(y), in_c_order(z)};
  return tracer::moveaxis(stack(parts, -1), Dims{-1}, Dims{to});
}

Array trace(const Array& a, std::int64_t offset, std::int64_t axis1, std::int64_t axis2,
            std::optional<DType> dtype) {
  if (a.ndim() < 2) throw ValueError("diag requires an array of at least two dimensions");
  ReduceOptions o;
  o.axes = Dims{-1};
  o.dtype = dtype;
  return sum(tracer::diagonal(a, offset, axis1, axis2), o);
}

Array kron(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return call(OpId::Multiply, a, b);
  const int n = std::max(a.ndim(), b.ndim());
  Dims outer_axes, inner_axes, shape(n);
  for (int i = 0; i < n; ++i) {
    outer_axes.push_back(2 * i + 1);
    inner_axes.push_back(2 * i);
  }
  const Array x = atleast_nd_in_front(a, n), y = atleast_nd_in_front(b, n);
  for (int i = 0; i < n; ++i) shape[i] = x.shape[i] * y.shape[i];
  return tracer::reshape(
      call(OpId::Multiply, tracer::expand_dims(x, outer_axes), tracer::expand_dims(y, inner_axes)),
      shape);
}

// As a sum of products, which fuses; NumPy's order of additions is its BLAS's.
Array vecdot(const Array& a, const Array& b, std::int64_t axis) {
  const int axis_a = normalize_axis(axis, a.ndim()), axis_b = normalize_axis(axis, b.ndim());
  if (a.shape[axis_a] != b.shape[axis_b]) throw_not_aligned(a.shape, axis_a, b.shape, axis_b);
  const Array x = tracer::moveaxis(a, Dims{axis_a}, Dims{-1});
  const Array y = tracer::moveaxis(b, Dims{axis_b}, Dims{-1});
  ReduceOptions o;
  o.axes = Dims{-1};
  o.dtype = promote(a.dtype, b.dtype);
  return sum(call(OpId::Multiply, is_complex(x.dtype) ? call(OpId::Conjugate, x) : x, y), o);
}

}  // namespace plait::numpy
