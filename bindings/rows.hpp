// Rows of tables of functions, made of plain C++ functions: row<f>("name"). What f takes says how
// Python calls it: nothing, one object, so many objects, or any number of them. The row counts the
// arguments and guards the call; f may throw.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

using Args = PyObject* const*;
template <std::size_t n>
using Exactly = PyObject* const[n];

// What becomes of a call with an integer that int64 does not hold.
enum class Beyond { Raises, NumPys };

template <class F>
PyCFunction c(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}
inline bool exact_count(Py_ssize_t n, Py_ssize_t want) {
  if (n == want) return true;
  PyErr_Format(PyExc_TypeError, "plait internal function takes %zd arguments, got %zd", want, n);
  return false;
}

template <auto f, Beyond beyond>
struct RowOf {
  template <class... Given>
  static PyObject* guarded_call(Given&... given) {
    return guarded([&]() -> PyObject* {
      if constexpr (beyond == Beyond::Raises) return f(given...);
      try {
        return f(given...);
      } catch (const plait::OverflowError&) {
        return Py_NewRef(Py_NotImplemented);
      }
    });
  }
  template <std::size_t n>
  static PyObject* counted(PyObject*, Args args, Py_ssize_t given) {
    return exact_count(given, n) ? guarded_call(*reinterpret_cast<Exactly<n>*>(args)) : nullptr;
  }
  // An array or a number of the engine's first; without, the call is NumPy's.
  template <std::size_t n>
  static PyObject* of_array(PyObject*, Args args, Py_ssize_t given) {
    if (!exact_count(given, n)) return nullptr;
    return guarded([&]() -> PyObject* {
      auto a = parse_viewed(args[0]);
      return a ? f(*a, *reinterpret_cast<Exactly<n>*>(args)) : Py_NewRef(Py_NotImplemented);
    });
  }
  static PyObject* any_number(PyObject*, Args args, Py_ssize_t n) { return guarded_call(args, n); }
  static PyObject* of_one(PyObject*, PyObject* o) { return guarded_call(o); }
  static PyObject* of_none(PyObject*, PyObject*) { return guarded_call(); }

  template <std::size_t n>
  static PyMethodDef make(PyObject* (*)(Exactly<n>&)) {
    return {nullptr, c(counted<n>), METH_FASTCALL, nullptr};
  }
  template <std::size_t n>
  static PyMethodDef make(PyObject* (*)(tracer::Array&, Exactly<n>&)) {
    return {nullptr, c(of_array<n>), METH_FASTCALL, nullptr};
  }
  static PyMethodDef make(PyObject* (*)(Args, Py_ssize_t)) {
    return {nullptr, c(any_number), METH_FASTCALL, nullptr};
  }
  static PyMethodDef make(PyObject* (*)(PyObject*)) { return {nullptr, of_one, METH_O, nullptr}; }
  static PyMethodDef make(PyObject* (*)()) { return {nullptr, of_none, METH_NOARGS, nullptr}; }
};

template <auto f, Beyond beyond = Beyond::Raises>
PyMethodDef row(const char* name, const char* doc = nullptr) {
  PyMethodDef made = RowOf<f, beyond>::make(f);
  made.ml_name = name;
  made.ml_doc = doc;
  return made;
}

}  // namespace plait::py
