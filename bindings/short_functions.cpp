// Functions of the namespace that programs call all the time, as far as a call is a plain one: no
// options but a dtype, arrays of the engine's. All else is done by the Python function of that
// name.
#include "functions.hpp"
#include "numpy_compat/functions.hpp"
#include "numpy_compat/indexing.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

#include <atomic>
#include <cmath>

namespace plait::py {
namespace {

// Whether the default dtype is another than float64: the process's, and a thread's own where it
// has one. Most programs never choose one.
bool ever_chosen = false;
std::atomic<bool> process_differs{false};
enum class Own : char { None, Same, Differs };
thread_local Own own_default = Own::None;

// Of a creation function's arguments the first, and the dtype or null; false where there are
// others.
struct Creation {
  PyObject* first = nullptr;
  PyObject* dtype = nullptr;
};
std::optional<Creation> creation(Args args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (n < 1 || n + named > 2 || tracer::current_device() != kHost) return std::nullopt;
  Creation c{args[0], n + named == 2 && args[1] != Py_None ? args[1] : nullptr};
  if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dtype") != 0)
    return std::nullopt;
  if (!c.dtype && default_dtype_differs()) return std::nullopt;
  return c;
}

PyObject* brief_filled(double value, Args args, Py_ssize_t n, PyObject* names) {
  const auto c = creation(args, n, names);
  if (!c) return not_implemented();
  const auto t = c->dtype ? parse_dtype(c->dtype) : DType::Float64;
  if (!t) return not_implemented();
  return wrap(filled(*parse_shape(c->first), cast(scalar_float(value), *t), 'C'));
}
PyObject* brief_zeros(Args args, Py_ssize_t n, PyObject* names) {
  return brief_filled(0.0, args, n, names);
}
PyObject* brief_ones(Args args, Py_ssize_t n, PyObject* names) {
  return brief_filled(1.0, args, n, names);
}
PyObject* brief_empty(Args args, Py_ssize_t n, PyObject* names) {
  const auto c = creation(args, n, names);
  if (!c) return not_implemented();
  const auto t = c->dtype ? parse_dtype(c->dtype) : DType::Float64;
  if (!t) return not_implemented();
  return wrap(tracer::empty(*parse_shape(c->first), *t, 'C'));
}

// Plain arrays of the engine's, alone.
const tracer::Array* alone(Args args, Py_ssize_t n, PyObject* names) {
  if (n != 1 || names || Py_TYPE(args[0]) != array_type || as_array(args[0])->host) return nullptr;
  return &as_array(args[0])->array;
}

PyObject* of_list(Args args, Py_ssize_t n, PyObject* names) {
  const auto c = creation(args, n, names);
  if (!c || c->dtype || default_dtype_differs()) return not_implemented();
  if (PyList_CheckExact(c->first))
    if (auto made = from_list(c->first)) return wrap(std::move(*made));
  return not_implemented();
}

PyObject* brief_array(Args args, Py_ssize_t n, PyObject* names) {
  const tracer::Array* x = alone(args, n, names);
  return x ? wrap(tracer::copy(*x, 'K')) : of_list(args, n, names);
}
PyObject* brief_asarray(Args args, Py_ssize_t n, PyObject* names) {
  if (n == 1 && !names && Py_TYPE(args[0]) == array_type) return Py_NewRef(args[0]);
  return of_list(args, n, names);
}

// What is in this order already.
template <auto in_order, char order>
PyObject* brief_in_order(Args args, Py_ssize_t n, PyObject* names) {
  const tracer::Array* x = alone(args, n, names);
  if (x && x->ndim() > 0 && in_order(*x)) return Py_NewRef(args[0]);
  Owned made(of_list(args, n, names));
  if (made.get() == Py_NotImplemented) return made.release();
  const tracer::Array& read = as_array(made.get())->array;
  return in_order(read) ? made.release() : wrap(tracer::copy(read, order));
}

PyObject* brief_ravel(Args args, Py_ssize_t n, PyObject* names) {
  const tracer::Array* x = alone(args, n, names);
  if (!x || !tracer::is_c_contiguous(*x)) return not_implemented();
  return wrap_view(tracer::reshape(*x, Dims{x->size()}, 'C'), args[0]);
}

PyObject* brief_isfortran(Args args, Py_ssize_t n, PyObject* names) {
  const tracer::Array* x = alone(args, n, names);
  if (!x) return not_implemented();
  return PyBool_FromLong(tracer::is_f_contiguous(*x) && !tracer::is_c_contiguous(*x));
}

// Arrays stand for their dtypes.
PyObject* brief_result_type(Args args, Py_ssize_t n, PyObject* names) {
  constexpr Py_ssize_t kMost = 8;
  if (names || n == 0 || n > kMost) return not_implemented();
  PyArray_Descr* given[kMost];
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (Py_TYPE(args[i]) != array_type) return not_implemented();
    const ArrayObject* a = as_array(args[i]);
    given[i] = a->host ? PyArray_DESCR(reinterpret_cast<PyArrayObject*>(a->host))
                       : descr_of(a->array.dtype);
  }
  return check(reinterpret_cast<PyObject*>(PyArray_ResultType(0, nullptr, n, given)));
}

// 0, 1, ... of few numbers, which are written at once; nothing for more.
template <class T>
std::optional<tracer::Array> counted(T stop, DType t) {
  if (!(stop >= 0 && stop <= static_cast<T>(tracer::eager_limit())) || tracer::capture())
    return std::nullopt;
  const auto n = static_cast<std::int64_t>(std::ceil(static_cast<double>(stop)));
  tracer::Array made = tracer::empty(Dims{n}, t);
  auto* const to = static_cast<T*>(tracer::data(made));
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(i);
  return made;
}

PyObject* brief_arange(Args args, Py_ssize_t n, PyObject* names) {
  const auto c = creation(args, n, names);
  if (!c || c->dtype || default_dtype_differs()) return not_implemented();
  const Scalar zero = scalar_int(0), one = scalar_int(1);
  if (PyFloat_CheckExact(c->first)) {
    if (auto few = counted(PyFloat_AS_DOUBLE(c->first), DType::Float64))
      return wrap(std::move(*few));
    return wrap(numpy::arange(zero, scalar_float(PyFloat_AS_DOUBLE(c->first)), one, std::nullopt));
  }
  int beyond = 1;
  const std::int64_t stop =
      PyLong_CheckExact(c->first) ? PyLong_AsLongLongAndOverflow(c->first, &beyond) : 0;
  if (beyond) return not_implemented();
  if (auto few = counted(stop, DType::Int64)) return wrap(std::move(*few));
  return wrap(numpy::arange(zero, scalar_int(stop), one, std::nullopt));
}

PyObject* brief_bincount(Args args, Py_ssize_t n, PyObject* names) {
  const tracer::Array* x = alone(args, n, names);
  if (!x || x->size() > kEagerReduction) return not_implemented();
  return or_numpy([&]() -> PyObject* {
    auto made = numpy::bincount(*x, nullptr, 0);
    return made ? wrap(std::move(*made)) : not_implemented();
  });
}

template <auto product>
PyObject* brief_product(Args args, Py_ssize_t n, PyObject* names) {
  const auto plain = [](PyObject* o) { return Py_TYPE(o) == array_type && !as_array(o)->host; };
  if (n != 2 || names || !plain(args[0]) || !plain(args[1])) return not_implemented();
  return wrap_returned(product(as_array(args[0])->array, as_array(args[1])->array), args, 2);
}

struct ShortFunction {
  const char* name;
  BriefFunction brief;
};
constexpr ShortFunction short_functions[] = {
    {"zeros", brief_zeros},
    {"ones", brief_ones},
    {"empty", brief_empty},
    {"array", brief_array},
    {"asarray", brief_asarray},
    {"asanyarray", brief_asarray},
    {"ascontiguousarray", brief_in_order<tracer::is_c_contiguous, 'C'>},
    {"asfortranarray", brief_in_order<tracer::is_f_contiguous, 'F'>},
    {"ravel", brief_ravel},
    {"isfortran", brief_isfortran},
    {"result_type", brief_result_type},
    {"bincount", brief_bincount},
    {"arange", brief_arange},
    {"sort", sorted_copy},
    {"dot", brief_product<numpy::dot>},
    {"inner", brief_product<numpy::inner>},
    {"vdot", brief_product<numpy::vdot>},
};

// tell_default_dtype(process, own): whether it is another than float64; own: None where this
// thread has none.
PyObject* tell_default_dtype(Exactly<2>& args) {
  ever_chosen = true;
  process_differs = args[0] == Py_True;
  own_default = args[1] == Py_None ? Own::None : args[1] == Py_True ? Own::Differs : Own::Same;
  Py_RETURN_NONE;
}

}  // namespace

bool default_dtype_differs() {
  if (!ever_chosen) return false;
  return own_default == Own::None ? process_differs.load() : own_default == Own::Differs;
}

BriefFunction brief_of(PyObject* name) {
  for (const ShortFunction& f : short_functions)
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, f.name) == 0)
      return f.brief;
  return nullptr;
}

PyMethodDef creation_functions[] = {
    row<tell_default_dtype>("tell_default_dtype",
                            "whether the default dtype is another than float64"),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
