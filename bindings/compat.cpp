// numpy_compat's functions for the Python half of the package, with the same rule as functions.cpp:
// NotImplemented when the arguments are not the engine's.
#include "functions.hpp"
#include "numpy_compat/einsum.hpp"
#include "numpy_compat/functions.hpp"

#include <cmath>
#include <string_view>
#include <vector>

namespace plait::py {
namespace {

namespace np = plait::numpy;

std::string_view text(PyObject* o) { return utf8(o); }
std::optional<DType> optional_dtype(PyObject* o, bool& native) {
  native = true;
  if (o == Py_None) return std::nullopt;
  auto t = parse_dtype(o);
  native = t.has_value();
  return t;
}
// Every array of a sequence, or nullopt when one of them is NumPy's business.
std::optional<std::vector<tracer::Array>> parse_arrays(PyObject* o) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return std::nullopt;
  Owned items(check(PySequence_Tuple(o)));  // other threads may change a list meanwhile
  std::vector<tracer::Array> arrays;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    if (is_array(item) && Py_TYPE(item) != array_type) return std::nullopt;
    // A Python number takes the kind of dtype that the arrays beside it have.
    if (PyFloat_CheckExact(item) || PyLong_CheckExact(item) || PyComplex_CheckExact(item))
      return std::nullopt;
    auto a = parse_array(item);
    if (!a) return std::nullopt;
    arrays.push_back(std::move(*a));
  }
  return arrays;
}
PyObject* list_of(std::vector<tracer::Array> arrays, PyObject* from) {
  Owned list(check(PyList_New(static_cast<Py_ssize_t>(arrays.size()))));
  for (std::size_t i = 0; i < arrays.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap_view(std::move(arrays[i]), from));
  return list.release();
}

// An integer that NumPy computes with.
bool counts(PyObject* o) { return has_index(o) && Py_TYPE(o)->tp_as_number->nb_negative; }

// norm(a, ord, axis, keepdims)
PyObject* norm(Exactly<4>& args) {
  auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  np::NormOrder order;
  if (PyUnicode_Check(args[1])) {
    if (text(args[1]) != "fro") return not_implemented();
    order = np::NormOrder(np::NormOrder::Kind::Frobenius);
  } else if (PyFloat_Check(args[1]) || has_index(args[1])) {
    double p = PyFloat_AsDouble(args[1]);
    if (p == -1 && PyErr_Occurred()) throw PythonError{};
    order = np::NormOrder(p);
  } else if (args[1] != Py_None) {
    return not_implemented();
  }
  if (args[2] != Py_None && !has_index(args[2]) && !PyTuple_Check(args[2]))
    return not_implemented();
  auto axes = parse_axes(args[2]);
  if (np::norm_needs_svd(order, a->ndim(), axes)) return not_implemented();
  int keep = PyObject_IsTrue(args[3]);
  check(keep);
  bool small = a->size() <= kEagerReduction && tracer::is_materialised(*a);
  tracer::Array made = np::norm(*a, order, axes, keep);
  if (small && made.ndim() == 0) tracer::evaluate(made);
  return wrap_result(std::move(made));
}

// product(name, a, b)
PyObject* product(Exactly<3>& args) {
  auto a = parse_array(args[1]), b = parse_array(args[2]);
  if (!a || !b) return not_implemented();
  std::string_view name = text(args[0]);
  if (name == "outer") return wrap_result(np::outer(*a, *b));
  return wrap_returned(name == "dot"    ? np::dot(*a, *b)
                       : name == "vdot" ? np::vdot(*a, *b)
                                        : np::inner(*a, *b),
                       args + 1, 2);
}
PyObject* tensordot(Exactly<3>& args) {  // (a, b, axes or (axes_a, axes_b))
  auto a = parse_array(args[0]), b = parse_array(args[1]);
  if (!a || !b) return not_implemented();
  // A full contraction is a 0-D array here, as NumPy's is, not a scalar.
  auto result = [&](tracer::Array made) { return wrap(std::move(made)); };
  // NumPy negates it, which unsigned ones wrap at.
  if (counts(args[2]) && !PyArray_IsScalar(args[2], UnsignedInteger))
    return result(np::tensordot(*a, *b, integer(args[2])));
  if (!PyTuple_Check(args[2]) && !PyList_Check(args[2])) return not_implemented();
  Owned pair(check(PySequence_Tuple(args[2])));
  if (PyTuple_GET_SIZE(pair.get()) != 2) return not_implemented();
  auto x = parse_axes(PyTuple_GET_ITEM(pair.get(), 0), Axes::Iterable),
       y = parse_axes(PyTuple_GET_ITEM(pair.get(), 1), Axes::Iterable);
  if (!x || !y) return not_implemented();
  return result(np::tensordot(*a, *b, *x, *y));
}
PyObject* einsum(Exactly<3>& args) {  // (subscripts, operands, optimized)
  const auto arrays = parse_arrays(args[1]);
  if (!arrays) return not_implemented();
  auto made = np::einsum(text(args[0]), *arrays,
                         args[2] == Py_True ? np::EinsumLike::Matmul : np::EinsumLike::Loop);
  if (!made) return not_implemented();
  if (made->view && made->array.ndim() > 0)
    return wrap_view(std::move(made->array), PyTuple_GET_ITEM(args[1], 0));
  return made->scalar ? wrap_result(std::move(made->array)) : wrap(std::move(made->array));
}
PyObject* cross(Exactly<5>& args) {  // (a, b, axisa, axisb, axisc)
  auto a = parse_array(args[0]), b = parse_array(args[1]);
  if (!a || !b) return not_implemented();
  const std::int64_t axis_a = integer(args[2]), axis_b = integer(args[3]);
  // Of vectors of two the NumPy at hand warns, or refuses them as it refuses others.
  const auto of_three = [](const tracer::Array& x, std::int64_t axis) {
    return -x.ndim() <= axis && axis < x.ndim() && x.shape[axis < 0 ? axis + x.ndim() : axis] == 3;
  };
  if (!of_three(*a, axis_a) || !of_three(*b, axis_b)) return not_implemented();
  return wrap(np::cross(*a, *b, axis_a, axis_b, integer(args[4])));
}
PyObject* trace(Exactly<5>& args) {  // (a, offset, axis1, axis2, dtype)
  auto a = parse_array(args[0]);
  bool native;
  auto t = optional_dtype(args[4], native);
  if (!a || !native) return not_implemented();
  return wrap_returned(np::trace(*a, integer(args[1]), integer(args[2]), integer(args[3]), t), args,
                       1);
}

// like(name, a, dtype, order, shape): empty_like, zeros_like, ones_like
PyObject* like(Exactly<5>& args) {
  auto a = parse_array(args[1]);
  bool native;
  np::LikeOptions opt;
  opt.dtype = optional_dtype(args[2], native);
  if (!a || !native || !PyUnicode_Check(args[3])) return not_implemented();
  std::string_view order = text(args[3]);
  if (order.size() != 1 || std::string_view("CFAK").find(order[0]) == std::string_view::npos)
    return not_implemented();
  opt.order = order[0];
  if (args[4] != Py_None) opt.shape = parse_shape(args[4]);
  std::string_view name = text(args[0]);
  tracer::Array made = name == "zeros_like"  ? np::zeros_like(*a, opt)
                       : name == "ones_like" ? np::ones_like(*a, opt)
                                             : np::empty_like(*a, opt);
  return made.ndim() == 0 ? wrap(std::move(made)) : wrap_like(std::move(made), args + 1, 1);
}
// A number that computes as the engine's float64 and int64 do. Narrower ones compute in their own
// dtypes where NumPy takes a difference, and integers of more digits are objects.
bool is_wide_number(PyObject* o) {
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
  }
  return PyFloat_CheckExact(o) || PyArray_IsScalar(o, Double) || PyArray_IsScalar(o, Long);
}
bool holds(const Scalar& s, DType t) {
  return std::isfinite(cast(cast(s, t), DType::Float64).as<double>());
}
PyObject* arange(Exactly<4>& args) {  // (start, stop, step, dtype)
  bool native;
  auto t = optional_dtype(args[3], native);
  if (!native) return not_implemented();
  OperandHolder h[3];
  for (int i = 0; i < 3; ++i)
    if (!is_wide_number(args[i]) || parse_operand(args[i], h[i]) == Parsed::Fallback)
      return not_implemented();
  DType common = promote(promote(h[0].operand->scalar.dtype, h[1].operand->scalar.dtype),
                         h[2].operand->scalar.dtype);
  const Scalar &start = h[0].operand->scalar, &stop = h[1].operand->scalar,
               &step = h[2].operand->scalar;
  // What the dtype cannot hold is NumPy's to report: it stores the first two elements as numbers.
  if (t && is_float(*t) && !(holds(start, *t) && holds(step, *t))) return not_implemented();
  if (t == DType::Complex64) return not_implemented();  // it steps in single precision
  if (t && is_integer(*t) && *t != common) {
    const Owned second(check(PyNumber_Add(args[0], args[2])));
    if (!pack(args[0], *t) || !pack(second.get(), *t)) return not_implemented();
  }
  return wrap(np::arange(start, stop, step, t));
}
PyObject* linspace(Exactly<5>& args) {  // (start, stop, num, endpoint, dtype) -> (array, step)
  bool native;
  auto t = optional_dtype(args[4], native);
  if (!native || !is_wide_number(args[0]) || !is_wide_number(args[1])) return not_implemented();
  const double start = PyFloat_AsDouble(args[0]), stop = PyFloat_AsDouble(args[1]);
  double step = 0;
  if (!std::isfinite(stop - start)) return not_implemented();  // NumPy warns
  Owned made(wrap(np::linspace(start, stop, integer(args[2]), PyObject_IsTrue(args[3]), t, &step)));
  // Without intervals it is Python's NaN.
  Owned spacing(std::isnan(step) ? check(PyFloat_FromDouble(step))
                                 : wrap_scalar(scalar_float(step)));
  return check(PyTuple_Pack(2, made.get(), spacing.get()));
}
PyObject* eye(Exactly<5>& args) {  // (rows, columns, k, dtype, order)
  auto t = parse_dtype(args[3]);
  if (!t || !PyUnicode_Check(args[4])) return not_implemented();
  return wrap(np::eye(integer(args[0]), integer(args[1]), integer(args[2]), *t, text(args[4])[0]));
}
PyObject* tri(Exactly<4>& args) {  // (rows, columns, k, dtype)
  auto t = parse_dtype(args[3]);
  if (!t || !std::all_of(args, args + 3, has_index)) return not_implemented();
  return wrap(np::tri(integer(args[0]), integer(args[1]), integer(args[2]), *t));
}
PyObject* triangle(Exactly<3>& args) {  // (name, a, k)
  auto a = parse_array(args[1]);
  if (!a || !has_index(args[2])) return not_implemented();
  return wrap_like(
      text(args[0]) == "tril" ? np::tril(*a, integer(args[2])) : np::triu(*a, integer(args[2])),
      args + 1, 1);
}

PyObject* concatenate(Exactly<3>& args) {  // (arrays, axis, dtype)
  auto arrays = parse_arrays(args[0]);
  bool native;
  auto t = optional_dtype(args[2], native);
  if (!arrays || !native) return not_implemented();
  std::optional<std::int64_t> axis;
  if (args[1] != Py_None) axis = integer(args[1]);
  return or_numpy([&] { return wrap(np::concatenate(*arrays, axis, t)); });
}
PyObject* join(Exactly<3>& args) {  // (name, arrays, axis)
  auto arrays = parse_arrays(args[1]);
  if (!arrays) return not_implemented();
  std::string_view name = text(args[0]);
  return wrap(name == "stack"    ? np::stack(*arrays, integer(args[2]))
              : name == "hstack" ? np::hstack(*arrays)
              : name == "vstack" ? np::vstack(*arrays)
              : name == "dstack" ? np::dstack(*arrays)
                                 : np::column_stack(*arrays));
}
PyObject* atleast(Exactly<2>& args) {  // (a, ndim)
  auto a = parse_viewed(args[0]);
  if (!a) return not_implemented();
  if (is_array(args[0]) && a->ndim() >= integer(args[1])) return Py_NewRef(args[0]);
  return wrap_view(np::atleast_nd(*a, static_cast<int>(integer(args[1]))), args[0]);
}
PyObject* split(Exactly<4>& args) {  // (a, sections or indices, axis, equal parts)
  auto a = parse_viewed(args[0]);
  if (!a || !has_index(args[2])) return not_implemented();
  const std::int64_t axis = integer(args[2]);
  if (axis < -a->ndim() || axis >= a->ndim()) return not_implemented();
  if (has_index(args[1])) {
    std::int64_t parts = integer(args[1]);
    return list_of(
        args[3] == Py_True ? np::split(*a, parts, axis) : np::array_split(*a, parts, axis),
        args[0]);
  }
  if (!PyTuple_CheckExact(args[1]) && !PyList_CheckExact(args[1])) return not_implemented();
  auto at = parse_axes(args[1], Axes::List);
  return list_of(np::split_at(*a, std::span<const std::int64_t>(at->data(), at->size()), axis),
                 args[0]);
}

PyObject* tile(Exactly<2>& args) {  // (a, reps)
  auto a = parse_array(args[0]);
  if (!a || (!counts(args[1]) && !PyTuple_CheckExact(args[1]) && !PyList_CheckExact(args[1])))
    return not_implemented();
  return wrap_view(np::tile(*a, *parse_axes(args[1], Axes::List)), args[0]);
}
PyObject* repeat(Exactly<3>& args) {  // (a, count, axis)
  auto a = parse_array(args[0]);
  if (!a || !has_index(args[1])) return not_implemented();
  std::optional<std::int64_t> axis;
  if (args[2] != Py_None) axis = integer(args[2]);
  return wrap_like(np::repeat(*a, integer(args[1]), axis), args, 1);
}
PyObject* roll(Exactly<3>& args) {  // (a, shift, axis)
  auto a = parse_array(args[0]);
  if (!a || (!has_index(args[1]) && !PyTuple_CheckExact(args[1]))) return not_implemented();
  tracer::Array made = np::roll(*a, *parse_axes(args[1]), parse_axes(args[2], Axes::Iterable));
  return made.ndim() ? wrap_like(std::move(made), args, 1) : wrap(std::move(made));
}
PyObject* pad(Exactly<3>& args) {  // (a, widths, mode)
  auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  return wrap(np::pad(*a, *parse_axes(args[1], Axes::Iterable),
                      static_cast<np::Padding>(integer(args[2]))));
}
PyObject* sliding_window_view(Exactly<4>& args) {  // (a, window, axes, writeable)
  auto a = parse_viewed(args[0]);
  if (!a) return not_implemented();
  auto window = parse_axes(args[1], Axes::Iterable), axes = parse_axes(args[2], Axes::Iterable);
  if (!window) return not_implemented();
  return or_numpy([&] {
    tracer::Array made = np::sliding_window_view(*a, *window, axes);
    made.writeable = made.writeable && args[3] == Py_True;
    return wrap_view(std::move(made), args[0]);
  });
}
PyObject* meshgrid(Exactly<4>& args) {  // (arrays, xy, sparse, copy)
  auto arrays = parse_arrays(args[0]);
  if (!arrays || arrays->empty()) return not_implemented();
  np::MeshgridOptions opt{args[1] == Py_True, PyObject_IsTrue(args[2]) != 0,
                          PyObject_IsTrue(args[3]) != 0};
  return list_of(np::meshgrid(*arrays, opt), Py_None);
}
PyObject* diff(Exactly<3>& args) {  // (a, n, axis)
  auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  if (integer(args[1]) == 0) return Py_NewRef(args[0]);
  return wrap_like(np::diff(*a, integer(args[1]), integer(args[2])), args, 1);
}

}  // namespace

PyObject* statistic(Exactly<9>& args) {
  if (overrides_ufuncs(args[1]) || overrides_ufuncs(args[4])) return not_implemented();
  auto a = parse_array(args[1]);
  bool native;
  tracer::ReduceOptions opt;
  opt.dtype = optional_dtype(args[3], native);
  if (!a || !native) return not_implemented();
  if (a->ndim() == 0 && PyTuple_Check(args[2])) return not_implemented();
  opt.axes = parse_axes(args[2]);
  if (args[4] != Py_None) {
    if (!is_array(args[4]) || as_array(args[4])->host) return not_implemented();
    opt.out = &as_array(args[4])->array;
  }
  int keep = PyObject_IsTrue(args[5]);
  check(keep);
  opt.keepdims = keep;
  std::optional<tracer::Array> mask;
  if (args[6] != Py_None && args[6] != Py_True) {
    mask = parse_array(args[6]);
    if (!mask || mask->dtype != DType::Bool) return not_implemented();
    opt.where = &*mask;
  }
  const double ddof = PyFloat_AsDouble(args[7]);
  if (ddof == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return not_implemented();
  }
  OperandHolder number;
  std::optional<tracer::Array> mean;
  if (args[8] != Py_None) {
    if (parse_operand(args[8], number) == Parsed::Fallback) return not_implemented();
    const tracer::Operand& given = *number.operand;
    // Python's numbers take the array's dtype, where it holds them.
    const DType t = promote_weak(a->dtype, given.weak);
    if (!given.array && given.weak == Weak::Int && !held_number(args[8], t))
      return not_implemented();
    mean = given.array
               ? *given.array
               : tracer::from_scalar(given.weak == Weak::None ? given.scalar
                                                              : tracer::reported_cast(given, t));
    // NumPy drops the imaginary part of real numbers' distances, with a warning.
    if (is_complex(mean->dtype) && !is_complex(a->dtype)) return not_implemented();
  }
  std::string_view name = text(args[0]);
  if ((opt.dtype && drops_imaginary(a->dtype, *opt.dtype)) ||
      (opt.out && drops_imaginary(opt.dtype.value_or(a->dtype), opt.out->dtype)))
    return not_implemented();
  return or_numpy([&]() -> PyObject* {
    const bool small = a->size() <= kEagerReduction && tracer::is_materialised(*a);
    const tracer::Array* given = mean ? &*mean : nullptr;
    tracer::Array made = name == "mean"            ? np::mean(*a, opt)
                         : name == "var"           ? np::var(*a, opt, ddof, given)
                         : name == "std"           ? np::std(*a, opt, ddof, given)
                         : name == "ptp"           ? np::ptp(*a, opt)
                         : name == "count_nonzero" ? np::count_nonzero(*a, opt)
                                                   : tracer::Array{};
    if (opt.out) return Py_NewRef(args[4]);
    if (small && made.ndim() == 0) tracer::evaluate(made);
    return name == "count_nonzero" ? wrap_returned(std::move(made), args + 1, 1)
                                   : wrap_like(std::move(made), args + 1, 1);
  });
}

PyMethodDef compat_functions[] = {row<statistic>("statistic"),
                                  row<norm>("norm"),
                                  row<product>("product"),
                                  row<tensordot>("tensordot"),
                                  row<einsum>("einsum"),
                                  row<cross>("cross"),
                                  row<trace>("trace"),
                                  row<like>("like"),
                                  row<arange>("arange"),
                                  row<linspace, Beyond::NumPys>("linspace"),
                                  row<eye, Beyond::NumPys>("eye"),
                                  row<tri, Beyond::NumPys>("tri"),
                                  row<triangle, Beyond::NumPys>("triangle"),
                                  row<concatenate>("concatenate"),
                                  row<join>("join"),
                                  row<atleast>("atleast"),
                                  row<split, Beyond::NumPys>("split"),
                                  row<tile, Beyond::NumPys>("tile"),
                                  row<repeat, Beyond::NumPys>("repeat"),
                                  row<roll, Beyond::NumPys>("roll"),
                                  row<pad, Beyond::NumPys>("pad"),
                                  row<sliding_window_view, Beyond::NumPys>("sliding_window_view"),
                                  row<meshgrid>("meshgrid"),
                                  row<diff>("diff"),
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
