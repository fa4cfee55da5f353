#include "functions.hpp"
#include "tracer/device.hpp"

#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "events.hpp"
#include "tracer/graph.hpp"

namespace plait::py {

std::int64_t integer(PyObject* o) {
  const Owned index(PyLong_CheckExact(o) ? Py_NewRef(o) : check(PyNumber_Index(o)));
  int overflow;
  const long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow) throw plait::OverflowError("Python int too large to convert to C long");
  return v;
}

std::optional<Dims> parse_axes(PyObject* o, Axes accepted) {
  if (o == Py_None) return std::nullopt;
  bool several = PyTuple_Check(o) || (accepted != Axes::Tuple && PyList_Check(o));
  if (!several && accepted == Axes::Iterable) {
    Owned one(PyNumber_Index(o));
    several = !one && PyErr_ExceptionMatches(PyExc_TypeError);
    if (several) PyErr_Clear();
  }
  if (!several) return Dims{integer(o)};
  Dims axes;
  Owned seq(check(PySequence_Tuple(o)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(seq.get()); ++i)
    axes.push_back(integer(PyTuple_GET_ITEM(seq.get(), i)));
  return axes;
}

std::optional<Dims> parse_axes_of(PyObject* o, int ndim) {
  auto axes = parse_axes(o);
  if (!axes || ndim > 0) return axes;
  if (!PyTuple_Check(o) && ((*axes)[0] == 0 || (*axes)[0] == -1)) return Dims{};
  for (const std::int64_t axis : *axes) tracer::normalise_axis(axis, ndim);  // names the first
  return axes;
}

namespace {
// Whole numbers and tuples of them, which nearly all shapes are.
bool plain_shape(PyObject* o, Dims& shape) {
  auto push = [&shape](PyObject* v) {
    int overflow = 1;
    const long long extent = PyLong_CheckExact(v) ? PyLong_AsLongLongAndOverflow(v, &overflow) : 0;
    if (!overflow) shape.push_back(extent);
    return !overflow;
  };
  if (!PyTuple_CheckExact(o)) return push(o);
  if (PyTuple_GET_SIZE(o) > kMaxDims) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
    if (!push(PyTuple_GET_ITEM(o, i))) return false;
  return true;
}
}  // namespace

std::optional<Dims> parse_shape(PyObject* o) {
  if (Dims shape; plain_shape(o, shape)) return shape;
  PyArray_Dims want{nullptr, 0};
  if (!PyArray_IntpConverter(o, &want)) throw PythonError{};
  Dims shape(want.len);
  for (int i = 0; i < want.len; ++i) shape[i] = want.ptr[i];
  PyDimMem_FREE(want.ptr);
  return shape;
}

PyObject* wrap_view(tracer::Array a, PyObject* from) {
  if (!is_array(from)) return wrap(std::move(a));
  bool shares = a.storage == as_array(from)->array.storage;
  PyTypeObject* type = Py_TYPE(from);
  Owned out(wrap(std::move(a), shares ? from : nullptr, type));
  as_array(out.get())->standard = is_standard(from);
  if (type != array_type) finalize(out.get(), from);
  return out.release();
}

char order_of(PyObject* o) {
  if (o == Py_None) return 'C';
  if (!PyUnicode_Check(o))
    raise_error(PyExc_TypeError, "order must be str, not %s", Py_TYPE(o)->tp_name);
  const char* text = PyUnicode_AsUTF8(o);
  if (!text || text[0] == 0 || text[1] != 0 ||
      std::string_view("CFAKcfak").find(text[0]) == std::string_view::npos) {
    raise_error(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '%S')", o);
  }
  return static_cast<char>(text[0] & ~0x20);
}

PyObject* python_number(const Scalar& s) {
  if (s.dtype == DType::Float64) return check(PyFloat_FromDouble(s.as<double>()));
  switch (kind(s.dtype)) {
    case Kind::Bool:
      return check(PyBool_FromLong(s.bytes[0] != 0));
    case Kind::Signed:
      return check(PyLong_FromLongLong(cast(s, DType::Int64).as<std::int64_t>()));
    case Kind::Unsigned:
      return check(PyLong_FromUnsignedLongLong(cast(s, DType::UInt64).as<std::uint64_t>()));
    case Kind::Float:
      return check(PyFloat_FromDouble(cast(s, DType::Float64).as<double>()));
    default: {
      const auto z = cast(s, DType::Complex128).as<std::complex<double>>();
      return check(PyComplex_FromDoubles(z.real(), z.imag()));
    }
  }
}

PyObject* element_of(const tracer::Array& a, PyObject* const* at, Py_ssize_t n) {
  if (n != a.ndim()) return not_implemented();
  return or_numpy([&]() -> PyObject* {
    std::int64_t index[kMaxDims];
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!has_index(at[i])) return not_implemented();
      const std::int64_t k = integer(at[i]);
      const std::int64_t extent = a.shape[static_cast<int>(i)];
      if (k < -extent || k >= extent) return not_implemented();
      index[i] = k < 0 ? k + extent : k;
    }
    force(a);
    return python_number(
        tracer::item(a, std::span<const std::int64_t>(index, static_cast<std::size_t>(n))));
  });
}

// Whether a sum or product of this dtype rounds differently when its start, as in the engine, comes
// last. NumPy's fold begins with it.
static bool start_shows(ReduceKind kind, DType type, PyObject* start) {
  const bool sum = kind == ReduceKind::Sum;
  if (!(is_float(type) || is_complex(type)) || !(sum || kind == ReduceKind::Prod)) return false;
  const Py_complex c = PyComplex_AsCComplex(start);
  if (PyErr_Occurred()) throw PythonError{};
  return c.real != (sum ? 0.0 : 1.0) || c.imag != 0.0 || std::signbit(c.real) ||
         std::signbit(c.imag);
}

PyObject* reduced(ReduceKind kind, PyObject* const* args) {
  if (overrides_ufuncs(args[0]) || overrides_ufuncs(args[3])) return not_implemented();
  auto a = parse_array(args[0]);
  if (!a) return not_implemented();
  if (PyBool_Check(args[1])) return not_implemented();
  tracer::ReduceOptions opt;
  const bool position = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  if (position && (PyTuple_Check(args[1]) || PyList_Check(args[1]))) return not_implemented();
  opt.axes = position ? parse_axes(args[1]) : parse_axes_of(args[1], a->ndim());
  if (args[2] != Py_None) {
    opt.dtype = parse_dtype(args[2]);
    if (!opt.dtype) return not_implemented();
  }
  if (args[3] != Py_None) {
    if (!is_array(args[3]) || as_array(args[3])->host) return not_implemented();
    opt.out = &as_array(args[3])->array;
  }
  int keep = PyObject_IsTrue(args[4]);
  check(keep);
  opt.keepdims = keep;
  std::optional<tracer::Array> mask;
  if (args[6] != Py_None && args[6] != Py_True) {
    mask = parse_array(args[6]);
    if (!mask || mask->dtype != DType::Bool) return not_implemented();
    opt.where = &*mask;
  }
  return or_numpy([&]() -> PyObject* {
    const DType type = tracer::reduction_dtype(kind, a->dtype, opt);
    if ((!position && drops_imaginary(a->dtype, type)) ||
        (opt.out && drops_imaginary(type, opt.out->dtype)))
      return not_implemented();
    if (args[5] != Py_None) {
      if (!is_number(args[5])) return not_implemented();
      if (tracer::device_of(*a) == kHost && start_shows(kind, type, args[5]))
        return not_implemented();
      opt.initial = pack(args[5], type);
      if (!opt.initial) return not_implemented();
    }
    const bool small = a->size() <= kEagerReduction && tracer::is_materialised(*a);
    tracer::Array made = tracer::reduce(kind, *a, opt);
    if (opt.out) return Py_NewRef(args[3]);
    if (small && made.ndim() == 0) tracer::evaluate(made);
    return position ? wrap_returned(std::move(made), args, 1) : wrap_like(std::move(made), args, 1);
  });
}

namespace {

PyObject* reduce(Exactly<8>& args) {  // (kind, a, axis ..., as reduced())
  return reduced(static_cast<ReduceKind>(integer(args[0])), args + 1);
}

PyObject* reshape(tracer::Array& a, Exactly<3>& args) {  // (a, shape, order)
  return wrap_view(tracer::reshape(a, *parse_shape(args[1]), order_of(args[2])), args[0]);
}
PyObject* transpose(tracer::Array& a, Exactly<2>& args) {  // (a, axes)
  if (args[1] == Py_None) return wrap_view(tracer::transpose(a), args[0]);
  const auto axes = parse_shape(args[1]);
  if (axes->empty() && a.ndim() > 0) raise_error(PyExc_ValueError, "axes don't match array");
  return wrap_view(tracer::transpose(a, std::span<const std::int64_t>(axes->data(), axes->size())),
                   args[0]);
}
PyObject* broadcast_to(tracer::Array& a, Exactly<2>& args) {  // (a, shape)
  return wrap_view(tracer::broadcast_to(a, *parse_shape(args[1])), args[0]);
}
PyObject* squeeze(tracer::Array& a, Exactly<2>& args) {  // (a, axis)
  auto axes = parse_axes_of(args[1], a.ndim());
  tracer::Array made = tracer::squeeze(a, axes);
  if (!axes && made.ndim() == a.ndim() && is_array(args[0])) return Py_NewRef(args[0]);
  return wrap_view(std::move(made), args[0]);
}
PyObject* view(tracer::Array& a, Exactly<2>& args) {  // (a, dtype)
  auto v = viewed(a, args[1]);
  return v ? wrap_view(std::move(*v), args[0]) : not_implemented();
}
PyObject* expand_dims(tracer::Array& a, Exactly<2>& args) {  // (a, axis)
  auto axes = parse_axes(args[1], Axes::List);
  return axes ? wrap_view(tracer::expand_dims(a, *axes), args[0]) : not_implemented();
}
PyObject* flip(tracer::Array& a, Exactly<2>& args) {  // (a, axis)
  return wrap_view(tracer::flip(a, parse_axes(args[1], Axes::Iterable)), args[0]);
}
PyObject* swapaxes(tracer::Array& a, Exactly<3>& args) {  // (a, i, j)
  return wrap_view(tracer::swapaxes(a, integer(args[1]), integer(args[2])), args[0]);
}
PyObject* moveaxis(tracer::Array& a, Exactly<3>& args) {  // (a, from, to)
  auto from = parse_axes(args[1], Axes::Iterable), to = parse_axes(args[2], Axes::Iterable);
  return from && to ? wrap_view(tracer::moveaxis(a, *from, *to), args[0]) : not_implemented();
}
PyObject* diagonal(tracer::Array& a, Exactly<4>& args) {  // (a, offset, axis1, axis2)
  return wrap_view(tracer::diagonal(a, integer(args[1]), integer(args[2]), integer(args[3])),
                   args[0]);
}
PyObject* astype(tracer::Array& a, Exactly<5>& args) {  // (a, dtype, order, casting, copy)
  auto t = parse_dtype(args[1]);
  if (!t) return not_implemented();
  const char* rule = PyUnicode_Check(args[3]) ? PyUnicode_AsUTF8(args[3]) : nullptr;
  if (!rule) return not_implemented();
  if (std::string_view(rule) != "unsafe") {
    Casting c = std::string_view(rule) == "safe"        ? Casting::Safe
                : std::string_view(rule) == "same_kind" ? Casting::SameKind
                : std::string_view(rule) == "equiv"     ? Casting::Equiv
                                                        : Casting::No;
    if (!can_cast(a.dtype, *t, c)) return not_implemented();  // NumPy words the error
  }
  if (is_complex(a.dtype) && !is_complex(*t))
    return not_implemented();  // ComplexWarning is NumPy's to give
  int copy = PyObject_IsTrue(args[4]);
  check(copy);
  char order = order_of(args[2]);
  const bool in_order = order == 'K' || (order != 'F' && tracer::is_c_contiguous(a)) ||
                        (order != 'C' && tracer::is_f_contiguous(a));
  if (!copy && *t == a.dtype && is_array(args[0]) && in_order) return Py_NewRef(args[0]);
  return wrap_view(tracer::astype(a, *t, order, true), args[0]);
}
PyObject* copy(tracer::Array& a, Exactly<2>& args) {  // (a, order)
  return wrap_view(tracer::copy(a, order_of(args[1])), args[0]);
}
// elementwise(name, operands, out): the operations that are not ufuncs of NumPy: where, clip.
PyObject* elementwise(Exactly<3>& args) {
  OpId fn = find_op(PyUnicode_AsUTF8(args[0]));
  Py_ssize_t count = PyTuple_GET_SIZE(args[1]);
  if (fn == OpId::Count_ || count != op_info(fn).arity) return not_implemented();
  OperandHolder h[3];
  bool any = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* o = PyTuple_GET_ITEM(args[1], i);
    if (parse_operand(o, h[i]) == Parsed::Fallback) return not_implemented();
    any |= h[i].is_object;
  }
  if (!any) return not_implemented();
  tracer::ElementwiseOptions opt;
  if (args[2] != Py_None) {
    if (!is_array(args[2]) || as_array(args[2])->host) return not_implemented();
    opt.out = &as_array(args[2])->array;
  }
  const tracer::Operand none(Scalar{}, Weak::None);
  const tracer::Operand operands[] = {*h[0].operand, count > 1 ? *h[1].operand : none,
                                      count > 2 ? *h[2].operand : none};
  try {
    tracer::Array made = tracer::elementwise(fn, std::span(operands, count), opt);
    if (opt.out) return Py_NewRef(args[2]);
    if (fn == OpId::Where) return wrap(std::move(made));
    PyObject* const* first = &PyTuple_GET_ITEM(args[1], 0);
    return wrap_like(std::move(made), first, count);
  } catch (const DTypeError&) {
    return not_implemented();  // NumPy decides and words the error
  } catch (const plait::OverflowError&) {
    return not_implemented();
  }
}
PyObject* set_where_casts_numbers(PyObject*, PyObject* on) {
  tracer::where_casts_numbers = on == Py_True;
  Py_RETURN_NONE;
}
PyObject* matmul(tracer::Array& a, Exactly<2>& args) {  // (a, b)
  auto b = parse_array(args[1]);
  return b ? wrap_like(tracer::matmul(a, *b), args, 2) : not_implemented();
}

PyObject* empty(Exactly<3>& args) {  // (shape, dtype, order)
  auto t = args[1] == Py_None ? DType::Float64 : parse_dtype(args[1]);
  if (!t) return not_implemented();
  return wrap(tracer::empty(*parse_shape(args[0]), *t, order_of(args[2])));
}
PyObject* full(Exactly<4>& args) {  // (shape, value, dtype, order)
  OperandHolder v;
  if (parse_operand(args[1], v) == Parsed::Fallback || v.operand->array) return not_implemented();
  auto t = args[2] == Py_None ? v.operand->scalar.dtype : parse_dtype(args[2]);
  if (!t) return not_implemented();
  const Scalar& s = v.operand->scalar;
  // Values that need a question asked (1.5 into int, 300 into uint8) are NumPy's to convert.
  if (s.dtype != *t && !can_cast(s.dtype, *t, Casting::Safe)) {
    bool small = s.dtype == DType::Int64 && s.as<std::int64_t>() >= 0 &&
                 s.as<std::int64_t>() < 128 && *t != DType::Bool;
    bool real = is_float(s.dtype) && (is_float(*t) || is_complex(*t));
    bool whole = s.dtype == DType::Int64 && (is_float(*t) || is_complex(*t));
    bool zero_one = *t == DType::Bool && s.dtype == DType::Int64;
    if (!small && !real && !whole && !zero_one) return not_implemented();
  }
  const Dims shape = *parse_shape(args[0]);
  return wrap(filled(shape, tracer::reported_cast(*v.operand, *t), order_of(args[3])));
}
PyObject* assign(Exactly<3>& args) {  // (target, value, mask)
  OperandHolder v;
  if (!is_array(args[0]) || as_array(args[0])->host ||
      parse_operand(args[1], v) == Parsed::Fallback)
    return not_implemented();
  std::optional<tracer::Array> mask;
  if (args[2] != Py_None) {
    mask = parse_array(args[2]);
    if (!mask || mask->dtype != DType::Bool) return not_implemented();
  }
  tracer::assign(as_array(args[0])->array, *v.operand, mask ? &*mask : nullptr);
  return Py_NewRef(Py_None);
}
// An int for what NumPy takes for an integer; None for all else.
PyObject* index_of(PyObject*, PyObject* o) {
  if (PyLong_CheckExact(o)) return Py_NewRef(o);
  return guarded([&] { return has_index(o) ? check(PyNumber_Index(o)) : Py_NewRef(Py_None); });
}
PyObject* item_of(Args args, Py_ssize_t n) {  // (a, *index)
  if (!is_array(args[0]) || as_array(args[0])->host) return not_implemented();
  return element_of(as_array(args[0])->array, args + 1, n - 1);
}

}  // namespace

PyMethodDef native_functions[] = {
    row<reduce>("reduce"),
    row<reshape>("reshape"),
    row<transpose>("transpose"),
    row<broadcast_to>("broadcast_to"),
    row<squeeze>("squeeze"),
    row<view>("view"),
    row<expand_dims>("expand_dims"),
    row<flip>("flip"),
    row<swapaxes>("swapaxes"),
    row<moveaxis>("moveaxis"),
    row<diagonal>("diagonal"),
    row<astype>("astype"),
    row<copy>("copy"),
    row<elementwise>("elementwise"),
    row<matmul>("matmul"),
    row<empty>("empty"),
    row<full>("full"),
    row<assign>("assign"),
    row<item_of>("item"),
    {"index_of", index_of, METH_O, nullptr},
    {"set_where_casts_numbers", set_where_casts_numbers, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
