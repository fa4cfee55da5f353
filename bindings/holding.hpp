// What types with the garbage collector's flag do alike: their objects hold others in members.
#pragma once
#include "python.hpp"

namespace plait::py {

template <class Object, PyObject* Object::*... members>
struct Holding {
  static constexpr PyObject* Object::* kAll[] = {members...};

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    for (const auto member : kAll) Py_VISIT(of(self).*member);
    Py_VISIT(Py_TYPE(self));
    return 0;
  }
  static int clear(PyObject* self) {
    for (const auto member : kAll) Py_CLEAR(of(self).*member);
    return 0;
  }
  static void dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    type->tp_free(self);
    Py_DECREF(type);
  }
  // All members become new references.
  static void hold(PyObject* self, PyObject* const (&given)[sizeof...(members)]) {
    for (std::size_t i = 0; i < sizeof...(members); ++i)
      Py_XSETREF(of(self).*kAll[i], Py_NewRef(given[i]));
  }

 private:
  static Object& of(PyObject* self) { return *reinterpret_cast<Object*>(self); }
};

template <class F>
void* slot_of(F* f) {
  return reinterpret_cast<void*>(f);
}

// Makes the type, which the module has by its name; false with a Python error. It lives on.
inline bool add_type(PyObject* module, PyType_Spec& spec, PyTypeObject** type = nullptr) {
  auto* const made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (type) *type = made;
  return made && PyModule_AddType(module, made) == 0;
}

}  // namespace plait::py
