#include "ndarray.hpp"  // Python's headers first

#include "loop_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "functions.hpp"
#include "scope.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::py {

PyObject* in_dict(PyObject* dict, PyObject* name) {  // borrowed
  PyObject* const found = dict ? PyDict_GetItemWithError(dict, name) : nullptr;
  if (!found && PyErr_Occurred()) throw PythonError{};
  return found;
}

namespace {

thread_local std::unique_ptr<Given> kept;

// Attributes of Python's objects that are asked for in each call.
struct Names {
  PyObject* bits = PyUnicode_InternFromString("bit_generator");
  PyObject* own_bits = PyUnicode_InternFromString("_bit_generator");
  PyObject* drawing = PyUnicode_InternFromString("_drawing");
  PyObject* capsule = PyUnicode_InternFromString("capsule");
  PyObject* lock = PyUnicode_InternFromString("lock");
  PyObject* acquire = PyUnicode_InternFromString("acquire");
  PyObject* release = PyUnicode_InternFromString("release");
};
const Names& asked() {
  static const Names* const all = new Names;
  return *all;
}

struct Found {
  PyObject *value, *beneath;  // borrowed; beneath: of the module or the builtins
  bool own;                   // of the function, a cell or an object
};
Found look_up(const Place& p, const Known& known, Given& g) {
  if (p.argument >= 0) return {known.arguments[p.argument], nullptr, true};
  if (p.owner >= 0) {
    PyObject* const x = PyObject_GetAttr(g.found[static_cast<std::size_t>(p.owner)], p.name);
    if (x) return {g.hold(x), nullptr, true};
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
    PyErr_Clear();
    return {nullptr, nullptr, true};
  }
  if (p.local)
    if (PyObject* const x = in_dict(known.locals, p.name)) return {x, nullptr, true};
  if (p.cell) return {PyCell_GET(p.cell), nullptr, true};
  PyObject* const stands = p.scope ? in_scope(p.scope, p.name) : nullptr;
  PyObject* beneath = in_dict(p.module, p.name);
  if (!beneath) beneath = in_dict(p.builtins, p.name);
  return {stands ? stands : beneath, beneath, false};
}

bool take_number(const Input& in, PyObject* x, Given& g) {
  if (Py_TYPE(x) != in.type) return false;
  Scalar s;
  s.dtype = in.dtype;
  if (in.type == &PyLong_Type) {
    int over = 0;
    const std::int64_t v = PyLong_AsLongLongAndOverflow(x, &over);
    if (over != 0 || (in.counter && (v > kFar || v < -kFar))) return false;
    g.work += std::abs(static_cast<double>(v));
    std::memcpy(s.bytes, &v, sizeof v);
  } else if (in.type == &PyFloat_Type) {
    const double v = PyFloat_AS_DOUBLE(x);
    std::memcpy(s.bytes, &v, sizeof v);
  } else if (in.type == &PyBool_Type) {
    s.bytes[0] = x == Py_True;
  } else if (in.type == &PyComplex_Type) {
    const Py_complex v = PyComplex_AsCComplex(x);
    std::memcpy(s.bytes, &v, sizeof v);
  } else {
    PyArray_ScalarAsCtype(x, s.bytes);
  }
  if (!is_complex(in.dtype)) {
    g.numbers.push_back(s);
    return true;
  }
  for (std::size_t part = 0; part < 2; ++part) {
    Scalar p;
    p.dtype = in.dtype == DType::Complex64 ? DType::Float32 : DType::Float64;
    const std::size_t item = itemsize(p.dtype);
    std::memcpy(p.bytes, s.bytes + part * item, item);
    g.numbers.push_back(p);
  }
  return true;
}

template <class Dimensions>
void take_layout(const Dimensions& shape, const Dimensions& strides, int ndim, DType t, Given& g) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  std::int64_t first = 0, last = item;
  double size = 1;
  for (int i = 0; i < ndim; ++i) {
    g.params.push_back(shape[static_cast<std::size_t>(i)]);
    size *= static_cast<double>(g.params.back());
  }
  g.work += size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ndim); ++i) {
    g.params.push_back(strides[i]);
    (strides[i] < 0 ? first : last) += (shape[i] - 1) * strides[i];
    if (shape[i] == 0) last = first;
  }
  g.first.push_back(first);
  g.last.push_back(last < first ? first : last);
}

bool take_array(const Input& in, PyObject* x, Given& g) {
  const auto packed = [&](const auto& strides) {
    return in.ndim > 0 && strides[in.ndim - 1] == static_cast<std::int64_t>(itemsize(in.dtype));
  };
  if (Py_TYPE(x) == array_type) {
    if (as_array(x)->host) return false;
    const tracer::Array& a = as_array(x)->array;
    if (a.dtype != in.dtype || a.ndim() != in.ndim || packed(a.strides) != in.packed ||
        (in.written && !a.writeable) || tracer::device_of(a) != kHost)
      return false;
    g.arrays.plaits.push_back(a);
    g.arrays.at.push_back(g.arrays.pointers.size());
    g.arrays.pointers.push_back(nullptr);
    take_layout(a.shape, a.strides, in.ndim, in.dtype, g);
  } else {
    // A jitted function that runs may have recorded what is to be read from there before.
    if (!PyArray_CheckExact(x) || in_jit()) return false;
    auto* const a = reinterpret_cast<PyArrayObject*>(x);
    // long long has the memory of int64, and other scalars.
    if (PyArray_TYPE(a) != descr_of(in.dtype)->type_num || !PyArray_ISNOTSWAPPED(a) ||
        PyArray_NDIM(a) != in.ndim || !PyArray_ISALIGNED(a) ||
        packed(PyArray_STRIDES(a)) != in.packed || (in.written && !PyArray_ISWRITEABLE(a)))
      return false;
    g.arrays.pointers.push_back(PyArray_DATA(a));
    take_layout(PyArray_DIMS(a), PyArray_STRIDES(a), in.ndim, in.dtype, g);
  }
  g.slots.push_back({&in, g.hold(Py_NewRef(x)), 0});
  return true;
}

// Of a list or a tuple; of lists in it, those of the first one each.
double elements_of(PyObject* x) {
  if (PyBytes_CheckExact(x)) return static_cast<double>(PyBytes_GET_SIZE(x));
  if (!PyList_CheckExact(x) && !PyTuple_CheckExact(x)) return 0;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(x);
  PyObject* const first = count > 0 ? PySequence_Fast_GET_ITEM(x, 0) : nullptr;
  const bool rows = first && (PyList_CheckExact(first) || PyTuple_CheckExact(first));
  return static_cast<double>(count) *
         static_cast<double>(rows ? 1 + PySequence_Fast_GET_SIZE(first) : 1);
}

bool take_list(const Input& in, PyObject* x, Given& g) {
  g.room -= elements_of(x);
  if (g.room < 0) return false;
  if (g.listed == g.lists.size()) g.lists.emplace_back();
  Numbers& n = g.lists[g.listed];
  if (!read_sequence(in.sequence, x, n)) return false;
  g.arrays.pointers.push_back(n.memory.data());
  take_layout(n.shape, n.strides, in.ndim, in.dtype, g);
  g.slots.push_back({&in, g.hold(Py_NewRef(x)), g.listed++});
  return true;
}

// The address of a bit generator, which is to be held while it draws.
Scalar drawn_from(PyObject* generator, PyObject* attribute, Given& g) {
  PyObject* const bits = g.hold(check(PyObject_GetAttr(generator, attribute)));
  const Owned capsule(check(PyObject_GetAttr(bits, asked().capsule)));
  void* const found = PyCapsule_GetPointer(capsule.get(), "BitGenerator");
  if (!found) throw PythonError{};
  g.bits.push_back(bits);
  return Scalar::of(DType::Int64,
                    static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(found)));
}

bool take_generator(const Input& in, PyObject* x, Given& g) {
  if (Py_TYPE(x) != in.type) return false;
  if (!in.exact) {
    const Owned theirs(check(PyObject_GetAttr(x, asked().drawing)));
    if (theirs.get() != Py_None &&
        std::strcmp(Py_TYPE(theirs.get())->tp_name, "numpy.random._generator.Generator") != 0)
      return false;
  }
  g.numbers.push_back(drawn_from(x, asked().bits, g));
  return true;
}

// A bound method, and no attribute of the object's own by that name.
bool is_method(const Input& in, PyObject* x, PyObject* owner) {
  return PyMethod_Check(x) && PyMethod_GET_FUNCTION(x) == in.object &&
         PyMethod_GET_SELF(x) == owner;
}

bool take(const Input& in, const Known& known, Given& g) {
  const Found f = look_up(in.place, known, g);
  g.found.push_back(f.value);
  switch (in.kind) {
    case Input::Kind::Object:
      // A function of the module is rebuilt where it is looked up, and nothing stands for it then.
      if (f.own) return f.value == in.object;
      return f.beneath == in.beneath && (f.value == in.object || f.value == f.beneath);
    case Input::Kind::Missing:
      return !f.value;
    case Input::Kind::Class:
      if (!f.value || Py_TYPE(f.value) != in.type) return false;
      if (in.version == 0) return true;
      g.hold(Py_NewRef(f.value));
      return version_of(in.type) == in.version;
    case Input::Kind::Method:
      return f.value && is_method(in, f.value, g.found[static_cast<std::size_t>(in.place.owner)]);
    case Input::Kind::Number:
      return f.value && take_number(in, f.value, g);
    case Input::Kind::Array:
      return f.value && take_array(in, f.value, g);
    case Input::Kind::List:
      return f.value && take_list(in, f.value, g);
    case Input::Kind::Generator:
      return f.value && take_generator(in, f.value, g);
  }
  return false;
}

bool overlap(const Given& g, std::size_t a, std::size_t b) {
  const auto at = [&](std::size_t n) {
    return reinterpret_cast<std::intptr_t>(g.arrays.pointers[n]);
  };
  return at(a) + g.first[a] < at(b) + g.last[b] && at(b) + g.first[b] < at(a) + g.last[a];
}

// Whether the lists that the loop changes have one name each.
bool lists_differ(const Description& d, const Given& g) {
  if (d.changed.empty()) return true;
  std::vector<PyObject*> all, own;
  for (const Slot& slot : g.slots)
    if (slot.input->kind == Input::Kind::List) lists_of(slot.input->sequence, slot.object, all);
  for (const std::size_t n : d.changed)
    lists_of(g.slots[n].input->sequence, g.slots[n].object, own);
  std::sort(all.begin(), all.end());
  return std::all_of(own.begin(), own.end(), [&](PyObject* x) {
    return std::upper_bound(all.begin(), all.end(), x) -
               std::lower_bound(all.begin(), all.end(), x) ==
           1;
  });
}

bool has_attributes(const Description& d) {
  for (const Attribute& a : d.attributes) {
    const Owned now(PyObject_GetAttr(a.of, a.name));
    if (!now) PyErr_Clear();
    if (now.get() != a.value) return false;
  }
  return true;
}

std::int64_t size_of(const Slot& slot) {
  if (slot.input->kind == Input::Kind::List) return 0;
  if (Py_TYPE(slot.object) == array_type) return as_array(slot.object)->array.size();
  return PyArray_SIZE(reinterpret_cast<PyArrayObject*>(slot.object));
}

// What the values of a call have to be to each other.
bool fit(const Description& d, const Given& g) {
  for (const auto& [a, b] : d.different)
    if (g.found[a] == g.found[b]) return false;
  for (const auto& [slot, size] : d.largest)
    if (size_of(g.slots[slot]) > size) return false;
  return lists_differ(d, g) && has_attributes(d);
}

// 0: Python does not say.
std::uint64_t version_of_dict([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030C0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  return 0;
#endif
}
// An object of the globals, of a function as a whole.
bool is_of_globals(const Input& in) {
  const Place& p = in.place;
  return in.kind == Input::Kind::Object && p.argument < 0 && p.owner < 0 && !p.cell;
}

}  // namespace

KeptGiven::KeptGiven() : given_(std::move(kept)) {
  if (!given_) given_ = std::make_unique<Given>();
}
KeptGiven::~KeptGiven() {
  given_->clear();  // which may run whatever code
  kept = std::move(given_);
}

Drawing::Drawing(const std::vector<PyObject*>& bits) {
  std::vector<PyObject*> all(bits);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (PyObject* const b : all) {
    Owned lock(check(PyObject_GetAttr(b, asked().lock)));
    const Owned done(check(PyObject_CallMethodNoArgs(lock.get(), asked().acquire)));
    locks_.push_back(std::move(lock));
  }
}
Drawing::~Drawing() {
  const ErrorAside aside;
  for (const Owned& lock : locks_) {
    const Owned done(PyObject_CallMethodNoArgs(lock.get(), asked().release));
    if (!done) PyErr_Clear();
  }
}
bool dicts_are_as_before(const Description& d) {
  return !d.dicts.empty() && std::all_of(d.dicts.begin(), d.dicts.end(), [](const auto& seen) {
    return seen.second != 0 && seen.second == version_of_dict(seen.first);
  });
}
void look_at_dicts(Description& d) {
  d.dicts.clear();
  for (const Input& in : d.inputs)
    if (is_of_globals(in))
      for (PyObject* const dict : {in.place.scope, in.place.module, in.place.builtins})
        if (dict) d.dicts.emplace_back(dict, version_of_dict(dict));
  std::sort(d.dicts.begin(), d.dicts.end());
  d.dicts.erase(std::unique(d.dicts.begin(), d.dicts.end()), d.dicts.end());
}

bool take_all(const Description& d, const Range* range, const Known& known, Given& g,
              bool objects_known) {
  if (d.makes_floats && default_dtype_differs()) return false;
  if (d.limit >= 0 && d.limit != Py_GetRecursionLimit()) return false;
  if (!d.program->optimised()) return false;
  if (range)
    for (const std::int64_t b : range->bounds) g.numbers.push_back(Scalar::of(DType::Int64, b));
  g.numbers.reserve(g.numbers.size() + d.numbers);
  g.arrays.pointers.reserve(d.arrays);
  g.held.reserve(d.arrays);
  for (const Argument& a : d.arguments)
    g.numbers.push_back(a.source ? drawn_from(a.source, asked().own_bits, g)
                                 : Scalar::of(DType::Int64, a.address));
  for (const Input& in : d.inputs) {
    if (objects_known && is_of_globals(in))
      g.found.push_back(in.object);
    else if (!take(in, known, g))
      return false;
  }
  return fit(d, g);
}

bool lie_apart(const Description& d, const Given& g) {
  return std::none_of(d.apart.begin(), d.apart.end(),
                      [&](const auto& pair) { return overlap(g, pair.first, pair.second); });
}

}  // namespace plait::py
