// Small arrays that are written at once: from lists of Python's plain numbers, which most literals
// are, and of NumPy's scalars of the same dtypes, which elements are; and filled with one value.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "core/config.hpp"
#include "crossing.hpp"
#include "functions.hpp"
#include "tracer/capture.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::py {
namespace {

// What numbers have been seen; one array holds them all as NumPy would.
struct Seen {
  bool floats = false, integers = false, bools = false;

  bool add(PyObject* o) {
    if (PyFloat_CheckExact(o) || PyArray_IsScalar(o, Double))
      floats = true;
    else if (PyLong_CheckExact(o) || PyArray_IsScalar(o, Long))
      integers = true;
    else if (PyBool_Check(o) || PyArray_IsScalar(o, Bool))
      bools = true;
    else
      return false;
    return !bools || !(floats || integers);
  }
  DType dtype() const { return floats ? DType::Float64 : bools ? DType::Bool : DType::Int64; }
};

template <class T>
std::byte* put(std::byte* to, T v) {
  std::memcpy(to, &v, sizeof v);
  return to + sizeof v;
}

// Null when an integer has too many digits.
std::byte* put(std::byte* to, DType t, PyObject* o) {
  if (t == DType::Bool) return put(to, o == Py_True || o == PyArrayScalar_True);
  if (PyFloat_CheckExact(o)) return put(to, PyFloat_AS_DOUBLE(o));
  if (PyArray_IsScalar(o, Double)) return put(to, PyArrayScalar_VAL(o, Double));
  int overflow = 0;
  const long long v = PyArray_IsScalar(o, Long) ? PyArrayScalar_VAL(o, Long)
                                                : PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow) return nullptr;
  return t == DType::Int64 ? put(to, std::int64_t{v}) : put(to, static_cast<double>(v));
}

// Calls f(number) for each, row after row; false as soon as f is.
template <class F>
bool each_number(PyObject* list, bool nested, F&& f) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* o = PySequence_Fast_GET_ITEM(list, i);
    if (nested ? !each_number(o, false, f) : !f(o)) return false;
  }
  return true;
}

constexpr std::int64_t kCopiedAtOnce = 1 << 20;  // bytes

// Copies the rows one after the other; false where one is not in memory as it will lie.
bool copy_rows(PyObject* list, std::int64_t bytes, std::byte* to) {
  const std::lock_guard held(tracer::lock());
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i, to += bytes) {
    const tracer::Array& a = as_array(PySequence_Fast_GET_ITEM(list, i))->array;
    if (!tracer::is_materialised(a) || !tracer::is_c_contiguous(a) || a.storage->any_bytes)
      return false;
    std::memcpy(to, tracer::data(a), static_cast<std::size_t>(bytes));
  }
  return true;
}

// An array whose rows are arrays of one dtype and shape: copied, or recorded where they are.
std::optional<tracer::Array> from_rows(PyObject* list) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  const tracer::Array& first = as_array(PySequence_Fast_GET_ITEM(list, 0))->array;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* const o = PySequence_Fast_GET_ITEM(list, i);
    if (Py_TYPE(o) != array_type || as_array(o)->host) return std::nullopt;
    const tracer::Array& a = as_array(o)->array;
    if (a.dtype != first.dtype || a.shape != first.shape || tracer::device_of(a) != kHost)
      return std::nullopt;
  }
  if (first.ndim() == kMaxDims) return std::nullopt;
  Dims shape{n};
  for (std::int64_t extent : first.shape) shape.push_back(extent);
  const auto item = static_cast<std::int64_t>(itemsize(first.dtype));
  const std::int64_t bytes = first.size() * item;
  if (bytes <= kCopiedAtOnce / n) {
    Ref<Buffer> memory = allocate(static_cast<std::size_t>(n * bytes));
    if (copy_rows(list, bytes, memory->data))
      return tracer::from_buffer(std::move(memory), first.dtype, shape,
                                 contiguous_strides(shape, item), 0);
  }
  const DType dtype = first.dtype;
  const Owned rows(check(PySequence_Tuple(list)));  // other threads may change a list meanwhile
  tracer::Array made = tracer::empty(shape, dtype, 'C');
  for (std::int64_t i = 0; i < n; ++i) {
    const tracer::Index row[] = {i};
    tracer::assign(tracer::slice(made, row), as_array(PyTuple_GET_ITEM(rows.get(), i))->array);
  }
  return made;
}

}  // namespace

std::optional<tracer::Array> from_list(PyObject* o) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  if (n == 0) return std::nullopt;
  PyObject* first = PySequence_Fast_GET_ITEM(o, 0);
  if (Py_TYPE(first) == array_type && !as_array(first)->host) return from_rows(o);
  const bool nested = is_list(first);
  Dims shape{n};
  if (nested) {
    shape.push_back(PySequence_Fast_GET_SIZE(first));
    if (shape[1] == 0) return std::nullopt;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* row = PySequence_Fast_GET_ITEM(o, i);
      if (!is_list(row) || PySequence_Fast_GET_SIZE(row) != shape[1]) return std::nullopt;
    }
  }
  Seen seen;
  if (!each_number(o, nested, [&](PyObject* v) { return seen.add(v); })) return std::nullopt;
  const DType t = seen.dtype();
  const auto item = static_cast<std::int64_t>(itemsize(t));
  Ref<Buffer> memory = allocate(static_cast<std::size_t>(element_count(shape) * item));
  std::byte* to = memory->data;
  if (!each_number(o, nested, [&](PyObject* v) { return (to = put(to, t, v)) != nullptr; }))
    return std::nullopt;
  return tracer::from_buffer(std::move(memory), t, shape, contiguous_strides(shape, item), 0);
}

tracer::Array filled(const Dims& shape, const Scalar& s, char order) {
  const std::int64_t limit = tracer::eager_limit();
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0 || extent > limit || count > limit) return tracer::full(shape, s, order);
    count *= extent;
  }
  if (count > limit || shape.size() > kMaxDims || tracer::current_device() != kHost)
    return tracer::full(shape, s, order);
  const auto size = static_cast<std::int64_t>(itemsize(s.dtype)), bytes = count * size;
  tracer::Array made = tracer::empty(shape, s.dtype, order);
  const Ref<Buffer>& memory = made.storage->version->data;
  std::byte* const to = memory ? memory->data : static_cast<std::byte*>(tracer::data(made));
  if (std::all_of(s.bytes, s.bytes + size, [](auto b) { return static_cast<int>(b) == 0; })) {
    std::memset(to, 0, static_cast<std::size_t>(bytes));
    return made;
  }
  if (count > 0) std::memcpy(to, s.bytes, static_cast<std::size_t>(size));
  for (std::int64_t done = size; done < bytes; done *= 2)
    std::memcpy(to + done, to, static_cast<std::size_t>(std::min(done, bytes - done)));
  return made;
}

namespace {
PyObject* array_of(PyObject* o) {
  if (is_list(o) && tracer::current_device() == kHost)
    if (auto made = from_list(o)) return wrap(std::move(*made));
  return not_implemented();
}
}  // namespace

namespace {

constexpr int kDeepest = 50;  // lists in lists; beyond, and where they go in circles, Python looks

// The two classes that were asked for last, and are of those that are looked for.
using Last = std::array<PyTypeObject*, 2>;

// Whether x is of one of these classes, or a list, a tuple or a dict of nothing else.
bool holds_only(PyObject* x, PyObject* classes, Last& last, int depth) {
  PyTypeObject* const type = Py_TYPE(x);
  if (type == last[0] || type == last[1]) return true;
  if (type == &PyList_Type || type == &PyTuple_Type) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(x);
    for (Py_ssize_t i = 0; i < n && depth > 0; ++i)
      if (!holds_only(PySequence_Fast_GET_ITEM(x, i), classes, last, depth - 1)) return false;
    return n == 0 || depth > 0;
  }
  if (type == &PyDict_Type) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(x, &at, &key, &value))
      if (depth == 0 || !holds_only(value, classes, last, depth - 1)) return false;
    return true;
  }
  const int found = PySet_Contains(classes, reinterpret_cast<PyObject*>(type));
  if (found < 0) throw PythonError{};
  if (found) last = {type, last[0]};
  return found;
}

}  // namespace

bool crosses_as_it_is(PyObject* x, PyObject* classes) {
  Last last{};
  return holds_only(x, classes, last, kDeepest);
}

namespace {

// holds_only(x, classes): classes of a set, whose own hashes run no Python
PyObject* holds_only_of(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2 || !PyAnySet_Check(args[1]))
    return PyErr_Format(PyExc_TypeError, "holds_only() takes an object and a set of classes");
  return guarded([&] { return PyBool_FromLong(crosses_as_it_is(args[0], args[1])); });
}

// The number of bits of a size or a number, in steps of three: how large it is to a factor of
// eight.
std::uint64_t magnitude(std::uint64_t n) {
  return static_cast<std::uint64_t>(std::bit_width(n)) / 3;
}

}  // namespace

std::uint64_t kind_of_call(std::span<PyObject* const> args) {
  std::uint64_t all = 0;
  for (PyObject* const x : args) {
    std::uint64_t size = 0;
    if (PyLong_CheckExact(x)) {
      int over = 0;
      const long long v = PyLong_AsLongLongAndOverflow(x, &over);
      size = over != 0 ? 64 : magnitude(static_cast<std::uint64_t>(v < 0 ? -(v + 1) : v));
    } else if (PyArray_CheckExact(x)) {
      auto* const a = reinterpret_cast<PyArrayObject*>(x);
      size = magnitude(static_cast<std::uint64_t>(PyArray_SIZE(a))) * 64 +
             static_cast<std::uint64_t>(PyArray_TYPE(a));
    } else if (PyList_CheckExact(x) || PyTuple_CheckExact(x) || PyDict_CheckExact(x) ||
               PyUnicode_CheckExact(x) || PyBytes_CheckExact(x) || PyAnySet_CheckExact(x)) {
      size = magnitude(static_cast<std::uint64_t>(PyObject_Size(x)));
    }
    for (const std::uint64_t part : {reinterpret_cast<std::uintptr_t>(Py_TYPE(x)), size})
      all = (all ^ part) * 0x9E3779B97F4A7C15u + (all >> 29);
  }
  return all;
}

PyMethodDef list_functions[] = {row<array_of>("array_of"),
                                {"holds_only", c(holds_only_of), METH_FASTCALL, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
