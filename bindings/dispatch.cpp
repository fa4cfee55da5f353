// Functions of NumPy's namespace that ask __array_function__ of arguments that are of a subclass of
// plait.ndarray with that method of its own, as NumPy's functions do.
#include "core/device.hpp"
#include "functions.hpp"
#include "temporaries.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

#include <structmember.h>

#include <algorithm>
#include <optional>

namespace plait::py {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* implementation;
  PyObject* dict;
  // What NumPy does, and its name, where the arrays have fewer elements; null: never.
  PyObject *theirs, *name;
  PyObject* numpy;  // whose equal it is, or null
  std::int64_t few;
  bool records;         // the implementation does of few, too, which a call that is captured wants
  BriefFunction brief;  // asked first, or null
  int depth;   // of lists and tuples in which arrays are looked for, or one of the constants below
  bool binds;  // as an attribute of a class it is a method
};
constexpr int kLikeAlone = -1;  // only the keyword `like` is looked at
constexpr int kNobody = -2;
FunctionObject* as_function(PyObject* o) { return reinterpret_cast<FunctionObject*>(o); }

PyTypeObject* function_type = nullptr;

bool overrides(PyObject* o, int depth) {
  if (is_array(o)) return Py_TYPE(o) != array_type && class_overrides_functions(Py_TYPE(o));
  if (depth == 0 || !(PyList_CheckExact(o) || PyTuple_CheckExact(o))) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (overrides(PySequence_Fast_GET_ITEM(o, i), depth - 1)) return true;
  return false;
}

// Whether __array_function__ is to be asked, in Python.
bool asked(const FunctionObject& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (f.depth == kNobody) return false;
  if (f.depth == kLikeAlone) {
    for (Py_ssize_t i = 0; i < named; ++i)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "like") == 0)
        return args[n + i] != Py_None;
    return false;
  }
  for (Py_ssize_t i = 0; i < n + named; ++i)
    if (overrides(args[i], f.depth)) return true;
  return false;
}

// The device of the arrays among these, in lists and tuples of them, too; kAnyDevice where there is
// none. Those that are not 0-D decide.
DeviceId device_among(PyObject* const* items, Py_ssize_t n, int depth, bool& decided) {
  DeviceId device = kAnyDevice;
  for (Py_ssize_t i = 0; i < n && !decided; ++i) {
    if (is_array(items[i])) {
      if (as_array(items[i])->host) continue;
      const tracer::Array& a = as_array(items[i])->array;
      decided = a.ndim() > 0;
      device = decided ? tracer::device_of(a) : std::max(device, tracer::device_of(a));
    } else if (depth > 0 && (PyList_CheckExact(items[i]) || PyTuple_CheckExact(items[i]))) {
      const DeviceId inside = device_among(PySequence_Fast_ITEMS(items[i]),
                                           PySequence_Fast_GET_SIZE(items[i]), depth - 1, decided);
      device = decided ? inside : std::max(device, inside);
    }
  }
  return device;
}

// What a function makes on its way stands where its arrays are, whatever the thread creates on.
class BesideArguments {
 public:
  BesideArguments(const FunctionObject& f, PyObject* const* args, Py_ssize_t n) {
    if (!devices_in_use() || f.depth == kLikeAlone) return;  // those create, and say where
    bool decided = false;
    const DeviceId device = device_among(args, n, 2, decided);
    if (device != kAnyDevice && device != tracer::current_device()) scope_.emplace(device);
  }

 private:
  std::optional<tracer::OnDevice> scope_;
};

PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  const FunctionObject& f = *as_function(self);
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  const Temporaries temporaries(args, n);
  const BesideArguments beside(f, args, n + (names ? PyTuple_GET_SIZE(names) : 0));
  if (!asked(f, args, n, names)) {
    if (f.brief) {
      PyObject* result = guarded([&] { return f.brief(args, n, names); });
      if (result != Py_NotImplemented) return result;
      Py_DECREF(result);
    }
    // Where somebody wants to know, Python tells calls with arrays from those of numbers.
    if (f.theirs && !noting_fallbacks() && !(f.records && tracer::capture()) &&
        few_elements(args, n, names, f.few))
      return guarded([&] { return by_numpy(f.theirs, f.name, args, n, names); });
    return PyObject_Vectorcall(f.implementation, args, nargsf, names);
  }
  return guarded([&]() -> PyObject* {
    Owned positional(check(PyTuple_New(n))), keywords(check(PyDict_New()));
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
      check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[n + i]));
    Owned depth(check(PyLong_FromLong(f.depth)));
    return call_hook(hooks.function, self, positional.get(), keywords.get(), depth.get());
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(as_function(self)->implementation);
  Py_XDECREF(as_function(self)->dict);
  Py_XDECREF(as_function(self)->theirs);
  Py_XDECREF(as_function(self)->name);
  Py_XDECREF(as_function(self)->numpy);
  PyObject_Free(self);
  Py_DECREF(type);
}
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object && as_function(self)->binds ? PyMethod_New(self, object) : Py_NewRef(self);
}
PyObject* repr(PyObject* self) { return PyObject_Repr(as_function(self)->implementation); }
PyObject* numpy_or_itself(PyObject* o) {
  const bool ours = Py_IS_TYPE(o, function_type) && as_function(o)->numpy;
  return ours ? as_function(o)->numpy : o;
}
PyObject* compare(PyObject* self, PyObject* other, int op) {
  return equal_to(numpy_or_itself(self), numpy_or_itself(other), op);
}
Py_hash_t hash(PyObject* self) {
  PyObject* const theirs = as_function(self)->numpy;
  return theirs ? PyObject_Hash(theirs) : PyBaseObject_Type.tp_hash(self);
}
// As NumPy's function, which is read without Plait: what copy.copy gives for one is itself. Plait's
// own go by their names.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* const theirs = as_function(self)->numpy;
    if (!theirs) return check(PyObject_GetAttrString(self, "__qualname__"));
    const Owned module(check(PyImport_ImportModule("copy")));
    const Owned copy(check(PyObject_GetAttrString(module.get(), "copy")));
    return check(Py_BuildValue("O(O)", copy.get(), theirs));
  });
}
PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"_implementation", T_OBJECT, offsetof(FunctionObject, implementation), READONLY,
     "the function, which asks nobody"},
    {"_numpy", T_OBJECT, offsetof(FunctionObject, numpy), 0, "NumPy's function, or None"},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {"__copy__", itself, METH_NOARGS, nullptr},
                         {"__deepcopy__", itself, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                       {Py_tp_hash, reinterpret_cast<void*>(hash)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getset},
                       {0, nullptr}};
PyType_Spec spec = {
    "plait._plait.function", sizeof(FunctionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

FunctionObject* make(PyTypeObject* type, vectorcallfunc call, PyObject* implementation) {
  auto* f = PyObject_New(FunctionObject, type);
  if (!f) throw PythonError{};
  f->call = call;
  f->implementation = Py_NewRef(implementation);
  f->dict = f->theirs = f->name = f->numpy = nullptr;
  f->brief = nullptr;
  f->few = 0;
  f->records = false;
  f->depth = kNobody;
  f->binds = true;
  return f;
}

// (implementation, depth, binds, (NumPy's function, name, few, whether the implementation records)
// or None, name in the namespace, NumPy's function)
PyObject* asking(Exactly<6>& args) {
  const long depth = PyLong_AsLong(args[1]);
  if (depth == -1 && PyErr_Occurred()) throw PythonError{};
  FunctionObject* f = make(function_type, call, args[0]);
  f->depth = static_cast<int>(depth);
  f->binds = PyObject_IsTrue(args[2]) == 1;
  f->brief = brief_of(args[4]);
  if (args[5] != Py_None) f->numpy = Py_NewRef(args[5]);
  if (args[3] != Py_None) {
    f->theirs = Py_NewRef(PyTuple_GetItem(args[3], 0));
    f->name = Py_NewRef(PyTuple_GetItem(args[3], 1));
    f->few = PyLong_AsLongLong(PyTuple_GetItem(args[3], 2));
    f->records = PyObject_IsTrue(PyTuple_GetItem(args[3], 3)) == 1;
  }
  return reinterpret_cast<PyObject*>(f);
}

// --- methods of generators of random numbers

// Whether NumPy draws so few numbers for this argument that nothing is won by doing it here.
bool draws_few(PyObject* o, std::int64_t few) {
  if (o == Py_None || PyBool_Check(o) || PyFloat_CheckExact(o)) return true;
  if (PyLong_CheckExact(o)) {
    int beyond = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &beyond);
    return beyond == 0 && v < few;
  }
  return Py_TYPE(o) == array_type && !as_array(o)->host && as_array(o)->array.size() < few;
}

// The generator of NumPy's that the Python method keeps, in a slot of the class of `self`; null
// where it is not there yet. Read in place: a number is drawn in about the time of an attribute's
// look-up.
Owned kept_generator(PyObject* self) {
  static PyObject* const name = PyUnicode_InternFromString("_drawing");
  static PyMemberDescrObject* own = nullptr;  // of Plait's class itself: no look-up
  const auto read = [self](PyMemberDescrObject* slot) {
    return Owned::borrow(
        *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + slot->d_member->offset));
  };
  if (own && Py_IS_TYPE(self, PyDescr_TYPE(own))) return read(own);
  PyObject* const found = _PyType_Lookup(Py_TYPE(self), name);
  if (found && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
    auto* const slot = reinterpret_cast<PyMemberDescrObject*>(found);
    if (slot->d_member->type == T_OBJECT_EX) {
      if (!own && Py_IS_TYPE(self, PyDescr_TYPE(slot)))
        own = reinterpret_cast<PyMemberDescrObject*>(Py_NewRef(found));
      return read(slot);
    }
  }
  Owned other(PyObject_GetAttr(self, name));
  if (!other) PyErr_Clear();
  return other;
}

// A plain call of few numbers is one of NumPy's method. Where the Python method keeps a generator
// of NumPy's over the same bits, `_drawing`, that is the one which draws, once it is there.
template <bool by_another>
PyObject* draw(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  tracer::obstruct_capture("it draws random numbers");
  const FunctionObject& f = *as_function(self);
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  constexpr Py_ssize_t kMost = 6;
  const bool plain =
      !names && n > 0 && n <= kMost && !default_dtype_differs() && !devices_in_use() &&
      !noting_fallbacks() &&
      std::all_of(args + 1, args + n, [&](PyObject* o) { return draws_few(o, f.few); });
  Owned generator;
  if (plain) generator = by_another ? kept_generator(args[0]) : Owned::borrow(args[0]);
  if (!generator) return PyObject_Vectorcall(f.implementation, args, nargsf, names);
  PyObject* all[kMost] = {generator.get()};
  std::copy(args + 1, args + n, all + 1);
  if (std::any_of(args + 1, args + n, is_array))
    return guarded([&] { return by_numpy(f.theirs, f.name, all, n, nullptr, 1); });
  Owned drawn(PyObject_Vectorcall(f.theirs, all, static_cast<std::size_t>(n), nullptr));
  if (!drawn || !PyArray_CheckExact(drawn.get())) return drawn.release();
  return guarded([&] { return adopted(reinterpret_cast<PyArrayObject*>(drawn.get())); });
}

// (implementation, NumPy's method, its name for the log, few, whether `_drawing` draws)
PyObject* drawing(Exactly<5>& args) {
  static PyTypeObject* const type = [] {
    PyType_Spec method = spec;
    method.name = "plait._plait.method";
    method.flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
    return reinterpret_cast<PyTypeObject*>(check(PyType_FromSpec(&method)));
  }();
  FunctionObject* f = make(type, PyObject_IsTrue(args[4]) == 1 ? draw<true> : draw<false>, args[0]);
  f->theirs = Py_NewRef(args[1]);
  f->name = Py_NewRef(args[2]);
  f->few = PyLong_AsLongLong(args[3]);
  return reinterpret_cast<PyObject*>(f);
}

}  // namespace

bool add_asking_function(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return function_type &&
         PyModule_AddObjectRef(module, "function", reinterpret_cast<PyObject*>(function_type)) == 0;
}

PyMethodDef dispatch_functions[] = {
    row<asking>("asking"), row<drawing>("drawing"), {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
