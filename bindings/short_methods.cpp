// Methods that programs call all the time, as far as a call is a plain one: an array of the
// engine's, no options. The rest of each is the Python half's function of that name, which
// set_general_method() gives.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "along.hpp"
#include "codegen/loops/loops.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/reports/report.hpp"
#include "functions.hpp"
#include "numpy_compat/functions.hpp"
#include "temporaries.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "ufunc.hpp"

namespace plait::py {
namespace {

using Brief = PyObject* (*)(PyObject* self, Args args, Py_ssize_t n, PyObject* names);

struct ShortMethod {
  const char* name;
  Brief brief;  // NotImplemented: not a plain call
  PyObject* general = nullptr;
};

// --- the plain calls

// Of a reduction's arguments the axis, None where there are none; null where there are others.
PyObject* axis_alone(Args args, Py_ssize_t n, PyObject* names) {
  if (names) {
    const bool named = n == 0 && PyTuple_GET_SIZE(names) == 1 &&
                       PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") == 0;
    return named ? args[0] : nullptr;
  }
  return n == 0 ? Py_None : n == 1 ? args[0] : nullptr;
}

constexpr FullReduction along(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return FullReduction::Sum;
    case ReduceKind::Prod:
      return FullReduction::Prod;
    case ReduceKind::Min:
      return FullReduction::Min;
    case ReduceKind::Max:
      return FullReduction::Max;
    default:
      return FullReduction::Count_;
  }
}
PyObject* along_of(FullReduction what, PyObject* self, PyObject* axis) {
  if (axis != Py_None) return nullptr;
  return guarded([&] { return reduced_along(what, self); });
}

// The position of an extreme among few elements in memory; nullopt for all else. Nothing is
// recorded and no flag raised.
std::optional<std::int64_t> position_now(ReduceKind kind, const tracer::Array& a) {
  if (a.size() == 0 || a.size() > kEagerReduction || a.dtype == DType::Bool || is_narrow(a.dtype) ||
      noting_fallbacks() || !tracer::is_materialised(a) || tracer::device_of(a) != kHost ||
      (a.ndim() != 1 && !tracer::is_c_contiguous(a)))
    return std::nullopt;
  const Dims step{a.ndim() == 1 ? a.strides[0] : static_cast<std::int64_t>(itemsize(a.dtype))};
  std::int64_t found = 0;
  const std::lock_guard held(tracer::lock());
  engine::run_reduce(kind, a.dtype, DType::Int64, Dims{a.size()}, Dims{0},
                     {static_cast<std::byte*>(tracer::data(a)), step}, nullptr,
                     {reinterpret_cast<std::byte*>(&found), Dims()});
  return found;
}

template <ReduceKind kind>
PyObject* brief_reduce(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  PyObject* const axis = axis_alone(args, n, names);
  if (!axis) return not_implemented();
  if constexpr (kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax)
    if (axis == Py_None && Py_TYPE(self) == array_type && !is_standard(self))
      if (const auto found = position_now(kind, as_array(self)->array))
        return wrap_scalar(scalar_int(*found));
  if constexpr (along(kind) != FullReduction::Count_)
    if (PyObject* known = along_of(along(kind), self, axis); known || PyErr_Occurred())
      return known;
  PyObject* const all[] = {self, axis, Py_None, Py_None, Py_False, Py_None, Py_None};
  return reduced(kind, all);
}

PyObject* plain_statistic(FullReduction what, PyObject* name, PyObject* self, PyObject* axis) {
  if (!axis) return not_implemented();
  if (PyObject* known = along_of(what, self, axis); known || PyErr_Occurred()) return known;
  const Owned ddof(check(PyLong_FromLong(0)));
  PyObject* const all[] = {name,     self,    axis,       Py_None, Py_None,
                           Py_False, Py_True, ddof.get(), Py_None};
  return statistic(all);
}
template <FullReduction what>
PyObject* brief_statistic(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString(what == FullReduction::Mean  ? "mean"
                                                           : what == FullReduction::Var ? "var"
                                                                                        : "std");
  return plain_statistic(what, name, self, axis_alone(args, n, names));
}

PyObject* brief_item(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  return names ? not_implemented() : element_of(as_array(self)->array, args, n);
}

PyObject* brief_copy(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  if (names || n > 1) return not_implemented();
  return wrap_view(tracer::copy(as_array(self)->array, n ? order_of(args[0]) : 'C'), self);
}

// Elements along one axis, in a list.
template <class T, class F>
PyObject* listed_as(const std::byte* at, std::int64_t extent, std::int64_t step, F&& number) {
  Owned list(check(PyList_New(extent)));
  for (std::int64_t i = 0; i < extent; ++i) {
    T value;
    std::memcpy(&value, at + i * step, sizeof value);
    PyList_SET_ITEM(list.get(), i, check(number(value)));
  }
  return list.release();
}

// The elements from `axis` on, as Python's numbers in lists.
PyObject* nested(const tracer::Array& a, const std::byte* at, int axis) {
  if (axis == a.ndim()) {
    Scalar s;
    s.dtype = a.dtype;
    std::memcpy(s.bytes, at, itemsize(a.dtype));
    return python_number(s);
  }
  const std::int64_t extent = a.shape[axis], step = a.strides[axis];
  if (axis == a.ndim() - 1 && a.dtype == DType::Float64)
    return listed_as<double>(at, extent, step, PyFloat_FromDouble);
  if (axis == a.ndim() - 1 && a.dtype == DType::Int64)
    return listed_as<std::int64_t>(at, extent, step, PyLong_FromLong);
  Owned list(check(PyList_New(extent)));
  for (std::int64_t i = 0; i < extent; ++i)
    PyList_SET_ITEM(list.get(), i, nested(a, at + i * step, axis + 1));
  return list.release();
}

PyObject* brief_tolist(PyObject* self, Args, Py_ssize_t n, PyObject* names) {
  if (names || n != 0 || devices_in_use()) return not_implemented();
  const tracer::Array a = as_array(self)->array;
  force(a);
  const std::byte* first;
  Ref<Buffer> memory;  // stays, whatever a finaliser does while the lists are made
  {
    const std::lock_guard held(tracer::lock());
    first = static_cast<const std::byte*>(tracer::data(a));
    memory = a.storage->version->data;
  }
  return nested(a, first, 0);
}

PyObject* brief_tobytes(PyObject* self, Args, Py_ssize_t n, PyObject* names) {
  const tracer::Array& a = as_array(self)->array;
  if (names || n != 0 || devices_in_use() || !tracer::is_c_contiguous(a)) return not_implemented();
  force(a);
  const std::lock_guard held(tracer::lock());
  return check(PyBytes_FromStringAndSize(static_cast<const char*>(tracer::data(a)),
                                         a.size() * static_cast<Py_ssize_t>(itemsize(a.dtype))));
}

// Few elements of one stride in memory in another dtype, by one call of the loop; nothing for more.
std::optional<tracer::Array> cast_now(const tracer::Array& a, DType t) {
  const bool row = a.ndim() == 1;
  if (a.dtype == t || is_narrow(a.dtype) || is_narrow(t) || a.size() > tracer::eager_limit() ||
      tracer::capture() || tracer::current_device() != kHost ||
      (!row && !tracer::is_c_contiguous(a)))
    return std::nullopt;
  const std::lock_guard held(tracer::lock());
  if (!tracer::is_materialised(a) || tracer::device_of(a) != kHost || a.storage->any_bytes)
    return std::nullopt;
  const engine::AtCall at_call;
  tracer::Array made = tracer::empty(a.shape, t);
  void* const memory[] = {tracer::data(a), tracer::data(made)};
  const std::int64_t strides[] = {row ? a.strides[0] : static_cast<std::int64_t>(itemsize(a.dtype)),
                                  static_cast<std::int64_t>(itemsize(t))};
  engine::clear_flags();
  loops::cast(a.dtype, t, config().tier)(memory, strides, a.size());
  engine::report_flags(engine::raised_flags(), "cast", *made.storage->version);
  at_call.done("cast", t, a.shape);
  return made;
}

PyObject* brief_astype(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  if (names || n != 1) return not_implemented();
  const tracer::Array& a = as_array(self)->array;
  const auto t = parse_dtype(args[0]);
  if (!t || (is_complex(a.dtype) && !is_complex(*t))) return not_implemented();
  if (auto made = cast_now(a, *t)) return wrap_view(std::move(*made), self);
  return wrap_view(tracer::astype(a, *t, 'K', true), self);
}

PyObject* brief_reshape(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  if (names || n == 0 || n > kMaxDims) return not_implemented();
  const bool sequence = n == 1 && PyTuple_CheckExact(args[0]);
  PyObject* const* extents = sequence ? PySequence_Fast_ITEMS(args[0]) : args;
  Dims shape;
  for (Py_ssize_t i = 0, count = sequence ? PyTuple_GET_SIZE(args[0]) : n; i < count; ++i) {
    int overflow = 0;
    if (i == kMaxDims || !PyLong_CheckExact(extents[i])) return not_implemented();
    shape.push_back(PyLong_AsLongLongAndOverflow(extents[i], &overflow));
    if (overflow) return not_implemented();
  }
  return wrap_view(tracer::reshape(as_array(self)->array, shape, 'C'), self);
}

// Of what lies in C order: a view.
PyObject* brief_ravel(PyObject* self, Args, Py_ssize_t n, PyObject* names) {
  const tracer::Array& a = as_array(self)->array;
  if (names || n != 0 || !tracer::is_c_contiguous(a)) return not_implemented();
  return wrap_view(tracer::reshape(a, Dims{a.size()}, 'C'), self);
}

PyObject* brief_fill(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  if (names || n != 1 || !(PyFloat_CheckExact(args[0]) || PyLong_CheckExact(args[0])))
    return not_implemented();
  check(array_setitem(self, Py_Ellipsis, args[0]));
  Py_RETURN_NONE;
}

PyObject* brief_dot(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  if (names || n != 1 || Py_TYPE(self) != array_type || Py_TYPE(args[0]) != array_type ||
      as_array(args[0])->host)
    return not_implemented();
  PyObject* const both[] = {self, args[0]};
  return wrap_like(numpy::dot(as_array(self)->array, as_array(args[0])->array), both, 2);
}

// Nobody else has a say in what becomes of it: arrays of either kind, Python's, Plait's and NumPy's
// own scalars.
bool no_override(PyObject* o) {
  return Py_TYPE(o) == array_type || is_lazy(o) || PyArray_CheckExact(o) || PyFloat_CheckExact(o) ||
         PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o) ||
         (PyArray_CheckScalar(o) && !(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

// An array of NumPy's own: it is NumPy that writes there, and nobody else is asked.
bool is_numpys_out(PyObject* value, PyObject* names) {
  return PyTuple_GET_SIZE(names) == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") == 0 &&
         PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 1 &&
         PyArray_CheckExact(PyTuple_GET_ITEM(value, 0));
}

// NumPy asks when the left operand of an operator is its own scalar or array.
PyObject* brief_array_ufunc(PyObject*, Args args, Py_ssize_t n, PyObject* names) {
  if (n < 3 || n > 4 || !PyUnicode_Check(args[1]) ||
      PyUnicode_CompareWithASCIIString(args[1], "__call__") != 0 ||
      !std::all_of(args + 2, args + n, no_override))
    return not_implemented();
  if (names && PyTuple_GET_SIZE(names) > 0) {
    if (!is_numpys_out(args[n], names)) return not_implemented();
    return by_numpy(args[0], Py_None, args + 2, n - 2, names);
  }
  PyObject* result = call_native_ufunc(args[0], args + 2, n - 2);
  if (!result && !PyErr_Occurred()) return not_implemented();
  return check(result);
}

// What depends on who else refers to the array is asked here, where nobody does on our account.
PyObject* brief_resize(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  // Those of one name and of the call, which from Python 3.14 on borrows that of a local name.
  constexpr Py_ssize_t kOfOneName = PY_VERSION_HEX >= 0x030E0000 ? 1 : 2;
  if (as_array(self)->base || Py_REFCNT(self) <= kOfOneName) return not_implemented();
  if (names && PyObject_IsTrue(args[n]) != 1) return not_implemented();    // refcheck=False
  if (n == 0 || (n == 1 && args[0] == Py_None)) return not_implemented();  // the same shape
  Owned shape(check(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(shape.get(), i, Py_NewRef(args[i]));
  return or_numpy([&]() -> PyObject* {
    const auto to = parse_shape(n == 1 ? args[0] : shape.get());
    if (!to || element_count(*to) == as_array(self)->array.size()) return not_implemented();
    raise_error(PyExc_ValueError,
                "cannot resize an array that references or is referenced\nby another object "
                "in this way.\nUse the np.resize function to get a new resized copy or\n set "
                "refcheck=False to disable this check");
  });
}

ShortMethod short_methods[] = {
    {"__array_ufunc__", brief_array_ufunc},
    {"item", brief_item},
    {"resize", brief_resize},
    {"copy", brief_copy},
    {"tolist", brief_tolist},
    {"tobytes", brief_tobytes},
    {"astype", brief_astype},
    {"reshape", brief_reshape},
    {"ravel", brief_ravel},
    {"fill", brief_fill},
    {"dot", brief_dot},
    {"sum", brief_reduce<ReduceKind::Sum>},
    {"prod", brief_reduce<ReduceKind::Prod>},
    {"min", brief_reduce<ReduceKind::Min>},
    {"max", brief_reduce<ReduceKind::Max>},
    {"any", brief_reduce<ReduceKind::Any>},
    {"all", brief_reduce<ReduceKind::All>},
    {"mean", brief_statistic<FullReduction::Mean>},
    {"var", brief_statistic<FullReduction::Var>},
    {"std", brief_statistic<FullReduction::Std>},
    {"argmin", brief_reduce<ReduceKind::ArgMin>},
    {"argmax", brief_reduce<ReduceKind::ArgMax>},
};
constexpr std::size_t kCount = std::size(short_methods);

// --- as methods of the type

template <std::size_t which>
PyObject* method(PyObject* self, Args args, Py_ssize_t n, PyObject* names) {
  const ShortMethod& m = short_methods[which];
  const Temporaries temporaries(&self, 1);
  if (!as_array(self)->host) {
    PyObject* result = guarded([&] { return m.brief(self, args, n, names); });
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  const Py_ssize_t count = n + (names ? PyTuple_GET_SIZE(names) : 0);
  std::vector<PyObject*> all{self};
  all.insert(all.end(), args, args + count);
  return PyObject_Vectorcall(m.general, all.data(), static_cast<std::size_t>(n + 1), names);
}

template <std::size_t... which>
std::vector<PyCFunction> entry_points(std::index_sequence<which...>) {
  return {reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method<which>))...};
}

// NumPy's text, with its signature in the form that inspect reads. Lives as long as the type.
const char* text_of(const char* name) {
  const Owned theirs(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyArray_Type), name));
  if (!theirs) throw PythonError{};
  auto text = [&](const char* attribute) -> std::string {
    const Owned o(PyObject_GetAttrString(theirs.get(), attribute));
    const char* s = o && PyUnicode_Check(o.get()) ? PyUnicode_AsUTF8(o.get()) : nullptr;
    PyErr_Clear();
    return s ? s : "";
  };
  const std::string signature = text("__text_signature__");
  auto* whole = new std::string(signature.empty() ? "" : name + signature + "\n--\n\n");
  *whole += text("__doc__");
  return whole->c_str();
}

// (name, function): True when the method is a short one and the function its general way.
PyObject* set_general_method(Exactly<2>& args) {
  for (ShortMethod& m : short_methods)
    if (PyUnicode_CompareWithASCIIString(args[0], m.name) == 0) {
      m.general = Py_NewRef(args[1]);
      return Py_NewRef(Py_True);
    }
  return Py_NewRef(Py_False);
}

}  // namespace

PyMethodDef* with_short_methods(const PyMethodDef* others) {
  auto* all = new std::vector<PyMethodDef>;
  const std::vector<PyCFunction> entries = entry_points(std::make_index_sequence<kCount>());
  for (std::size_t i = 0; i < kCount; ++i)
    all->push_back({short_methods[i].name, entries[i], METH_FASTCALL | METH_KEYWORDS,
                    text_of(short_methods[i].name)});
  for (; others->ml_name; ++others) all->push_back(*others);
  all->push_back({nullptr, nullptr, 0, nullptr});
  return all->data();
}

PyMethodDef short_method_functions[] = {row<set_general_method>("set_general_method"),
                                        {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
