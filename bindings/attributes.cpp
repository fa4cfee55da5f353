// Attributes of plait.ndarray. What is cheap to say from the view is said here; flags, flat, ctypes
// and the like are NumPy's own objects over a live export.
#include <algorithm>
#include <memory>

#include "core/device.hpp"
#include "functions.hpp"
#include "imported.hpp"
#include "iterator.hpp"
#include "relaid.hpp"
#include "swallowed.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

namespace plait::py {

Py_ssize_t times_relaid = 0;

void note_relaid(const ArrayObject* a) {
  ++times_relaid;
  if (!a->host && !a->base && a->array.storage->borrowed)
    tracer::obstruct_capture("it sets the shape, the dtype or the flags of an array that it got");
}

namespace {

PyObject* tuple_of(const Dims& d) {
  Owned t(check(PyTuple_New(d.size())));
  for (int i = 0; i < d.size(); ++i) PyTuple_SET_ITEM(t.get(), i, check(PyLong_FromLongLong(d[i])));
  return t.release();
}

// Either the host array's attribute or one worked out from the engine's view.
template <class F>
PyObject* attribute(PyObject* self, const char* name, F&& native) {
  return guarded([&]() -> PyObject* {
    ArrayObject* a = as_array(self);
    if (!a->host) return native(a->array);
    Owned value(check(PyObject_GetAttrString(a->host, name)));
    if (PyArray_Check(value.get())) return wrap_host(value.get());
    return value.release();
  });
}
// An attribute of the exported numpy array.
PyObject* exported_attribute(PyObject* self,
                             const char* name) {  // pins: nobody can see when its user is done
  return guarded([&]() -> PyObject* {
    Owned numpy(to_numpy(as_array(self), true));
    return check(PyObject_GetAttrString(numpy.get(), name));
  });
}
PyObject* view(PyObject* self, tracer::Array a) { return wrap_view(std::move(a), self); }

PyObject* get_shape(PyObject* s, void*) {
  return attribute(s, "shape", [](auto& a) { return tuple_of(a.shape); });
}
PyObject* get_strides(PyObject* s, void*) {
  return attribute(s, "strides", [](auto& a) { return tuple_of(a.strides); });
}
PyObject* get_dtype(PyObject* s, void*) {
  return attribute(s, "dtype", [](auto& a) {
    return Py_NewRef(reinterpret_cast<PyObject*>(descr_of(a.dtype)));
  });
}
PyObject* get_ndim(PyObject* s, void*) {
  return attribute(s, "ndim", [](auto& a) { return PyLong_FromLong(a.ndim()); });
}
PyObject* get_size(PyObject* s, void*) {
  return attribute(s, "size", [](auto& a) { return PyLong_FromLongLong(a.size()); });
}
PyObject* get_itemsize(PyObject* s, void*) {
  return attribute(s, "itemsize", [](auto& a) { return PyLong_FromLongLong(itemsize(a.dtype)); });
}
PyObject* get_nbytes(PyObject* s, void*) {
  return attribute(s, "nbytes",
                   [](auto& a) { return PyLong_FromLongLong(a.size() * itemsize(a.dtype)); });
}
PyObject* get_t(PyObject* s, void*) {
  return attribute(s, "T", [s](auto& a) { return view(s, tracer::transpose(a)); });
}
PyObject* get_mt(PyObject* s, void*) {
  return attribute(s, "mT", [s](auto& a) -> PyObject* {
    if (a.ndim() < 2) raise_error(PyExc_ValueError, "matrix transpose with ndim < 2 is undefined");
    return view(s, tracer::swapaxes(a, -1, -2));
  });
}
PyObject* get_real(PyObject* s, void*) {
  return attribute(s, "real", [s](auto& a) {
    return is_complex(a.dtype) ? view(s, tracer::real(a)) : Py_NewRef(s);
  });
}
PyObject* get_imag(PyObject* s, void*) {
  return attribute(s, "imag", [s](auto& a) { return view(s, tracer::imag(a)); });
}
PyObject* get_base(PyObject* s, void*) {
  return Py_NewRef(as_array(s)->base ? as_array(s)->base : Py_None);
}
PyObject* get_flags(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    ArrayObject* a = as_array(s);
    if (a->host) return check(PyObject_GetAttrString(a->host, "flags"));
    // The flags of an array with this layout; asking for them must not evaluate anything.
    static constinit Imported flags("plait._flags", "Flags");
    const auto truth = [](bool x) { return x ? Py_True : Py_False; };
    return check(PyObject_CallFunctionObjArgs(flags.get(), s,
                                              truth(tracer::is_c_contiguous(a->array)),
                                              truth(tracer::is_f_contiguous(a->array)),
                                              truth(a->array.writeable), truth(!a->base), nullptr));
  });
}
PyObject* get_data(PyObject* s, void*) { return PyMemoryView_FromObject(s); }
PyObject* get_flat(PyObject* s, void*) {
  return guarded([&] { return flat_of(s); });
}
// NumPy's object, whose pointers keep this array alive.
PyObject* get_ctypes(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    const Owned theirs(check(exported_attribute(s, "ctypes")));
    const Owned data(check(PyObject_GetAttrString(theirs.get(), "data")));
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(theirs.get()));
    return check(PyObject_CallFunctionObjArgs(type, s, data.get(), nullptr));
  });
}
// The interfaces have no word for variable-width strings and the dtypes of ml_dtypes: who asks
// takes the array itself.
bool has_interface(PyObject* s) {
  const ArrayObject* a = as_array(s);
  if (!a->host) return !is_narrow(a->array.dtype);
  return PyArray_DESCR(reinterpret_cast<PyArrayObject*>(a->host))->type_num != NPY_VSTRING;
}
PyObject* get_interface(PyObject* s, void*) {
  if (has_interface(s)) return exported_attribute(s, "__array_interface__");
  PyErr_SetString(PyExc_AttributeError, "__array_interface__");
  return nullptr;
}

// What the capsule of __array_struct__ holds.
struct ArrayStruct {
  PyArrayInterface interface;
  Owned host, dtype;
  npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
};
// NumPy asks for the struct before it asks for __array_interface__, whose list of fields comes back
// with padding for fields; a struct of NumPy's own has no room for units of time. The description
// is the dtype itself here, which NumPy takes for any that a list could give.
PyObject* get_struct(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    raise_kept_error(s);
    if (!has_interface(s)) raise_error(PyExc_AttributeError, "__array_struct__");
    auto* host = reinterpret_cast<PyArrayObject*>(as_array(s)->host);
    if (!host) return check(exported_attribute(s, "__array_struct__"));
    PyArray_Descr* d = PyArray_DESCR(host);
    auto made = std::make_unique<ArrayStruct>();
    std::copy_n(PyArray_DIMS(host), PyArray_NDIM(host), made->shape);
    std::copy_n(PyArray_STRIDES(host), PyArray_NDIM(host), made->strides);
    made->host = Owned::borrow(reinterpret_cast<PyObject*>(host));
    made->dtype = Owned::borrow(reinterpret_cast<PyObject*>(d));
    const int kept = ~(NPY_ARRAY_WRITEBACKIFCOPY | NPY_ARRAY_OWNDATA);
    PyArrayInterface& i = made->interface;
    i.two = 2;
    i.nd = PyArray_NDIM(host);
    i.typekind = d->kind;
    i.itemsize = static_cast<int>(PyArray_ITEMSIZE(host));
    i.flags = (PyArray_FLAGS(host) & kept) | NPY_ARR_HAS_DESCR;
    if (PyArray_ISNOTSWAPPED(host)) i.flags |= NPY_ARRAY_NOTSWAPPED;
    i.shape = made->shape;
    i.strides = made->strides;
    i.data = PyArray_DATA(host);
    i.descr = made->dtype.get();
    PyObject* capsule = check(PyCapsule_New(&i, nullptr, [](PyObject* c) {
      delete static_cast<ArrayStruct*>(PyCapsule_GetContext(c));
    }));
    PyCapsule_SetContext(capsule, made.release());
    return capsule;
  });
}
PyObject* get_device(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    const DeviceId id = as_array(s)->host ? kHost : tracer::device_of(as_array(s)->array);
    if (id == kHost) return PyUnicode_InternFromString("cpu");
    return check(PyUnicode_FromString(devices().name(id).c_str()));
  });
}
int refuse_device(PyObject*, PyObject*, void*) {
  PyErr_SetString(PyExc_AttributeError,
                  "attribute 'device' of 'numpy.ndarray' objects is not writable");
  return -1;
}
// An array passes for NumPy's in Python code that asks isinstance(x, numpy.ndarray), as proxies do;
// C code, which asks for the type, sees another one. Instances of subclasses are of their class:
// self.__class__(...) makes another.
PyObject* get_class(PyObject* s, void*) {
  PyTypeObject* type = Py_TYPE(s);
  return Py_NewRef(reinterpret_cast<PyObject*>(type == array_type ? &PyArray_Type : type));
}
int set_class(PyObject* s, PyObject* value, void*) {
  return guarded_int([&] {
    static PyObject* const by_object =
        check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dict__"));
    Owned descriptor(check(PyMapping_GetItemString(by_object, "__class__")));
    return Py_TYPE(descriptor.get())->tp_descr_set(descriptor.get(), s, value);
  });
}
PyObject* get_priority(PyObject*, void*) { return PyFloat_FromDouble(0.0); }
PyObject* get_pending(PyObject* s, void*) {
  ArrayObject* a = as_array(s);
  return PyBool_FromLong(!a->host && !tracer::is_materialised(a->array));
}

// An array of NumPy's own, whose attributes are set or deleted for what the NumPy at hand says to
// it.
PyObject* numpys_scalar() {
  static PyObject* const scalar = check(PyArray_SimpleNew(0, nullptr, NPY_DOUBLE));
  return scalar;
}
void set_on_scalar(const char* name, PyObject* value) {
  check(PyObject_SetAttrString(numpys_scalar(), name, value));
}
void refuse_delete(const char* name, PyObject* value) {
  if (!value) set_on_scalar(name, nullptr);
}
// Where warnings are errors, nothing is set.
void warn_of_setting(const char* name) {
  const Owned own(check(PyObject_GetAttrString(numpys_scalar(), name)));
  set_on_scalar(name, own.get());
}
int set_flat(PyObject* s, PyObject* value, void*) {
  return guarded_int([&]() -> int {
    refuse_delete("flat", value);
    Owned module(check(PyImport_ImportModule("plait._flat")));
    Owned none(check(PyObject_CallMethod(module.get(), "assign", "OO", s, value)));
    return 0;
  });
}

// NumPys that warn have a method that sets it without a word.
void set_on_host(PyObject* host, const char* name, PyObject* value) {
  const Owned method(check(PyUnicode_FromFormat("_set_%s", name)));
  if (PyObject_HasAttr(host, method.get()))
    const Owned none(check(PyObject_CallMethodOneArg(host, method.get(), value)));
  else
    check(PyObject_SetAttrString(host, name, value));
}

void put_shape(ArrayObject* a, PyObject* value) {
  note_relaid(a);
  if (a->host) return set_on_host(a->host, "shape", value);
  PyArray_Dims want{nullptr, 0};
  if (!PyArray_IntpConverter(value, &want)) throw PythonError{};
  Dims shape(want.len);
  for (int i = 0; i < want.len; ++i) shape[i] = want.ptr[i];
  PyDimMem_FREE(want.ptr);
  tracer::Array made = tracer::reshape(a->array, shape);
  if (made.storage != a->array.storage)
    raise_error(PyExc_AttributeError,
                "Incompatible shape for in-place modification. Use `.reshape()` to make a "
                "copy with the desired "
                "shape.");
  made.writeable = a->array.writeable;
  a->array = std::move(made);
}
void put_dtype(ArrayObject* a, PyObject* value) {
  note_relaid(a);
  if (auto v = a->host ? std::nullopt : viewed(a->array, value)) {
    a->array = std::move(*v);
    return;
  }
  Owned numpy(to_numpy(a));
  set_on_host(numpy.get(), "dtype", value);
  if (a->host) return;
  auto native = native_from_numpy(reinterpret_cast<PyArrayObject*>(numpy.get()), Take::Share);
  if (native) {
    a->array = std::move(*native);
  } else {
    a->host = numpy.release();
    a->array = {};
  }
}
int set_shape(PyObject* s, PyObject* value, void*) {
  return guarded_int([&]() -> int {
    refuse_delete("shape", value);
    warn_of_setting("shape");
    put_shape(as_array(s), value);
    return 0;
  });
}
int set_dtype(PyObject* s, PyObject* value, void*) {
  return guarded_int([&]() -> int {
    refuse_delete("dtype", value);
    warn_of_setting("dtype");
    put_dtype(as_array(s), value);
    return 0;
  });
}
template <auto put>
PyObject* put_quietly(PyObject* s, PyObject* value) {
  return guarded([&] {
    put(as_array(s), value);
    return Py_NewRef(Py_None);
  });
}
PyMethodDef quiet_setters[] = {{"_set_shape", put_quietly<put_shape>, METH_O, nullptr},
                               {"_set_dtype", put_quietly<put_dtype>, METH_O, nullptr}};

// NumPy's array of it, whose base is that of the array whose memory it views: new strides may reach
// as far as that.
PyObject* within_base(ArrayObject* a) {
  Owned view(to_numpy(a));
  ArrayObject* owner = a;
  while (!owner->host && owner->base && is_array(owner->base)) owner = as_array(owner->base);
  if (owner == a || owner->host || tracer::device_of(a->array) != kHost) return view.release();
  auto* v = reinterpret_cast<PyArrayObject*>(view.get());
  Owned base(to_numpy(owner));
  PyArray_Descr* d = PyArray_DESCR(v);
  Py_INCREF(d);
  Owned made(
      check(PyArray_NewFromDescr(&PyArray_Type, d, PyArray_NDIM(v), PyArray_DIMS(v),
                                 PyArray_STRIDES(v), PyArray_DATA(v), PyArray_FLAGS(v), nullptr)));
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(made.get()), base.release()) < 0)
    throw PythonError{};
  return made.release();
}
int set_strides(PyObject* s, PyObject* value, void*) {
  return guarded_int([&]() -> int {
    refuse_delete("strides", value);
    ArrayObject* a = as_array(s);
    note_relaid(a);
    Owned numpy(within_base(a));
    check(PyObject_SetAttrString(numpy.get(), "strides", value));
    if (a->host) return 0;
    auto laid = native_from_numpy(reinterpret_cast<PyArrayObject*>(numpy.get()), Take::Share);
    if (laid) {
      a->array = std::move(*laid);
    } else {  // elements that are not aligned are NumPy's
      a->host = numpy.release();
      a->array = {};
    }
    return 0;
  });
}
char real_name[] = "real", imag_name[] = "imag";

// a.real = v and a.imag = v assign through the part's view.
int set_part(PyObject* s, PyObject* value, void* name) {
  return guarded_int([&]() -> int {
    refuse_delete(static_cast<const char*>(name), value);
    const ArrayObject* a = as_array(s);
    if (name == imag_name && !a->host && !is_complex(a->array.dtype)) {
      set_on_scalar(imag_name, value);  // raises
      return 0;
    }
    Owned part(check(PyObject_GetAttrString(s, static_cast<const char*>(name))));
    if (!is_array(part.get())) throw PythonError{};
    if (is_array(value) || is_lazy(value)) return array_setitem(part.get(), Py_Ellipsis, value);
    const Owned values = with_numpys_arrays(value);
    const Owned made(check(PyArray_FromAny(values.get(), nullptr, 0, 0, 0, nullptr)));
    return array_setitem(part.get(), Py_Ellipsis, made.get());  // cast as arrays are
  });
}

}  // namespace

PyGetSetDef array_getset[] = {
    {"__class__", get_class, set_class, "numpy.ndarray; of an instance of a subclass, that",
     nullptr},
    {"shape", get_shape, set_shape, nullptr, nullptr},
    {"strides", get_strides, set_strides, nullptr, nullptr},
    {"dtype", get_dtype, set_dtype, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, nullptr, nullptr},
    {"size", get_size, nullptr, nullptr, nullptr},
    {"itemsize", get_itemsize, nullptr, nullptr, nullptr},
    {"nbytes", get_nbytes, nullptr, nullptr, nullptr},
    {"T", get_t, nullptr, nullptr, nullptr},
    {"mT", get_mt, nullptr, nullptr, nullptr},
    {"real", get_real, set_part, nullptr, real_name},
    {"imag", get_imag, set_part, nullptr, imag_name},
    {"base", get_base, nullptr, nullptr, nullptr},
    {"flags", get_flags, nullptr, nullptr, nullptr},
    {"data", get_data, nullptr, nullptr, nullptr},
    {"flat", get_flat, set_flat, nullptr, nullptr},
    {"ctypes", get_ctypes, nullptr, nullptr, nullptr},
    {"device", get_device, refuse_device, nullptr, nullptr},
    {"__array_interface__", get_interface, nullptr, nullptr, nullptr},
    {"__array_struct__", get_struct, nullptr, nullptr, nullptr},
    {"__array_priority__", get_priority, nullptr, nullptr, nullptr},
    {"_pending", get_pending, nullptr, "True while the value has not been computed", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

void add_quiet_setters(PyTypeObject* type) {
  for (PyMethodDef& m : quiet_setters) {
    if (!PyObject_HasAttrString(reinterpret_cast<PyObject*>(&PyArray_Type), m.ml_name)) continue;
    const Owned method(check(PyDescr_NewMethod(type, &m)));
    check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), m.ml_name, method.get()));
  }
}

// Strings that live as long as the type: one reference to each is kept.
void document(PyGetSetDef* attributes) {
  const Owned numpy(check(PyImport_ImportModule("numpy")));
  const Owned theirs(check(PyObject_GetAttrString(numpy.get(), "ndarray")));
  for (PyGetSetDef* a = attributes; a->name; ++a) {
    if (a->doc) continue;
    const Owned attribute(PyObject_GetAttrString(theirs.get(), a->name));
    PyObject* text = attribute ? PyObject_GetAttrString(attribute.get(), "__doc__") : nullptr;
    if (text && PyUnicode_Check(text)) a->doc = PyUnicode_AsUTF8(text);
    PyErr_Clear();
  }
}

}  // namespace plait::py
