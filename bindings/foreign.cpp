// Calls of jitted functions with arrays of other libraries (numpy_compat/plait/_foreign.py): where
// all arguments are such, NumPy's arrays and Python's numbers, and the result is an array or a
// number, all of it is done here.
//
// foreign_classes: dict, class of arrays -> its library, of which is asked for
//   lend(x): NumPy's array over x's memory, or what is none of NumPy's exact class; to_numpy: the
//   name of a method of x that gives that array, or raises, or None; take(array): the library's
//   array over NumPy's; from_numpy: what makes one of an array that is writable, or raises, or
//   None.
#include "jitted.hpp"  // Python's headers first

#include <algorithm>
#include <cstring>
#include <vector>

#include "functions.hpp"

namespace plait::py {
namespace {

PyObject* classes;  // the dict
struct ForeignHooks {
  PyObject* otherwise = nullptr;  // (jitted, function, args) -> result: of all other arguments
  PyObject* taken = nullptr;      // (result, args, given, library): of all other results
};
ForeignHooks foreign_hooks;
thread_local bool lending = false;

struct Names {
  PyObject* lend = PyUnicode_InternFromString("lend");
  PyObject* take = PyUnicode_InternFromString("take");
  PyObject* to_numpy = PyUnicode_InternFromString("to_numpy");
  PyObject* from_numpy = PyUnicode_InternFromString("from_numpy");
};
const Names& names() {
  static const Names* const all = new Names;
  return *all;
}

bool is_pythons(PyObject* x) {
  return x == Py_None || PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) ||
         PyComplex_CheckExact(x) || PyUnicode_CheckExact(x) || PyBytes_CheckExact(x);
}
// Borrowed; null for what is no array of another library.
PyObject* library_of(PyObject* x) {
  PyObject* const found = PyDict_GetItemWithError(classes, reinterpret_cast<PyObject*>(Py_TYPE(x)));
  if (!found) PyErr_Clear();  // of a class without a hash
  return found;
}

// NumPy's array over the memory of x; null without an error where it is not simply lent.
Owned lent(PyObject* x, PyObject* library) {
  const Owned method(check(PyObject_GetAttr(library, names().to_numpy)));
  Owned made(method.get() == Py_None ? PyObject_CallMethodOneArg(library, names().lend, x)
                                     : PyObject_CallMethodNoArgs(x, method.get()));
  if (made) return PyArray_CheckExact(made.get()) ? std::move(made) : Owned();
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};
  PyErr_Clear();  // it is asked for again, and then why it is not lent
  return {};
}

// NumPy's array of a scalar of its numbers, which other libraries have no such for; else null.
Owned array_of(PyObject* x) {
  if (!PyArray_IsScalar(x, Generic)) return {};
  const Owned descr(check(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(x))));
  const auto& d = *reinterpret_cast<PyArray_Descr*>(descr.get());
  const bool computes =
      d.type_num < NPY_USERDEF && std::strchr("biufc", d.kind) && d.typeobj == Py_TYPE(x);
  return computes ? Owned(check(PyArray_FromScalar(x, nullptr))) : Owned();
}

class ForeignCall {
 public:
  explicit ForeignCall(Arguments args) : args_(args) {}

  // Whether all arguments are simple, which are lent then. Throws.
  bool take() {
    given_.reserve(args_.size());
    for (std::size_t i = 0; i < args_.size(); ++i) {
      given_.push_back(given(i));
      if (!given_.back()) return false;
    }
    return library_.get() != nullptr;
  }
  PyObject* run(PyObject* function) {
    std::vector<PyObject*> all;
    all.reserve(given_.size());
    for (const Owned& g : given_) all.push_back(g.get());
    const bool before = std::exchange(lending, true);
    const Owned result(PyObject_Vectorcall(function, all.data(), all.size(), nullptr));
    lending = before;
    return result ? taken(result.get()) : nullptr;
  }

 private:
  Owned given(std::size_t i) {
    PyObject* const x = args_[i];
    if (PyArray_CheckExact(x) || is_pythons(x)) return Owned::borrow(x);
    const auto first = std::find(args_.begin(), args_.begin() + static_cast<std::ptrdiff_t>(i), x);
    if (const auto at = static_cast<std::size_t>(first - args_.begin()); at < i)
      return Owned::borrow(given_[at].get());
    PyObject* const library = library_of(x);
    if (!library) return {};
    const Owned held = Owned::borrow(library);
    Owned made = lent(x, library);
    if (!library_) library_ = Owned::borrow(library);
    return made;
  }
  PyObject* taken(PyObject* result) const {
    if (is_pythons(result)) return Py_NewRef(result);
    if (PyArray_CheckExact(result)) {
      for (std::size_t i = 0; i < given_.size(); ++i)
        if (given_[i].get() == result) return Py_NewRef(args_[i]);
      return array_taken(result);
    }
    const Owned array = array_of(result);
    return array ? array_taken(array.get()) : seldom_taken(result);
  }
  PyObject* array_taken(PyObject* array) const {
    if (PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(array))) {
      const Owned make(check(PyObject_GetAttr(library_.get(), names().from_numpy)));
      if (make.get() != Py_None) {
        PyObject* const made = PyObject_CallOneArg(make.get(), array);
        if (made || !PyErr_ExceptionMatches(PyExc_Exception)) return made;
        PyErr_Clear();
      }
    }
    return PyObject_CallMethodOneArg(library_.get(), names().take, array);
  }
  PyObject* seldom_taken(PyObject* result) const {
    const Owned args = tuple_of(args_);
    const Owned given(check(PyTuple_New(static_cast<Py_ssize_t>(given_.size()))));
    for (std::size_t i = 0; i < given_.size(); ++i)
      PyTuple_SET_ITEM(given.get(), static_cast<Py_ssize_t>(i), Py_NewRef(given_[i].get()));
    return PyObject_CallFunctionObjArgs(foreign_hooks.taken, result, args.get(), given.get(),
                                        library_.get(), nullptr);
  }

  Arguments args_;
  std::vector<Owned> given_;
  Owned library_;  // of the first
};

PyObject* call_otherwise(PyObject* jitted, PyObject* function, Arguments args) {
  const Owned all = tuple_of(args);
  return PyObject_CallFunctionObjArgs(foreign_hooks.otherwise, jitted, function, all.get(),
                                      nullptr);
}

PyObject* call_lent(PyObject* jitted, PyObject* function, Arguments args) {
  return guarded([&] {
    ForeignCall call(args);
    return call.take() ? call.run(function) : call_otherwise(jitted, function, args);
  });
}

// --- for Python

// As far as the classes are known to be such.
bool has_foreign(Arguments args) {
  if (PyDict_GET_SIZE(classes) == 0) return false;
  return std::any_of(args.begin(), args.end(), [](PyObject* x) {
    return !PyArray_CheckExact(x) && !is_pythons(x) && library_of(x);
  });
}

PyObject* has_foreign_class(PyObject*, PyObject* args) {
  return PyBool_FromLong(
      PyTuple_Check(args) &&
      has_foreign({PySequence_Fast_ITEMS(args), static_cast<std::size_t>(Py_SIZE(args))}));
}
PyObject* call_with_foreign(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (!exact_count(n, 3)) return nullptr;
  return call_lent(
      args[0], args[1],
      {PySequence_Fast_ITEMS(args[2]), static_cast<std::size_t>(PyTuple_GET_SIZE(args[2]))});
}
PyObject* set_hooks(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (!exact_count(n, 2)) return nullptr;
  Py_XSETREF(foreign_hooks.otherwise, Py_NewRef(args[0]));
  Py_XSETREF(foreign_hooks.taken, Py_NewRef(args[1]));
  Py_RETURN_NONE;
}
PyObject* set_lending(PyObject*, PyObject* yes) {
  return PyBool_FromLong(std::exchange(lending, yes == Py_True));
}
PyObject* is_lending(PyObject*, PyObject*) { return PyBool_FromLong(lending); }

PyMethodDef functions[] = {
    {"has_foreign_class", has_foreign_class, METH_O,
     "whether one of a tuple is of a class of foreign_classes"},
    {"call_with_foreign", c(call_with_foreign), METH_FASTCALL,
     "(jitted, function, args) -> the result for arrays of other libraries among the arguments"},
    {"set_foreign_hooks", c(set_hooks), METH_FASTCALL,
     "(otherwise, taken): what Python's half does of such calls"},
    {"set_lending", set_lending, METH_O,
     "whether other libraries' arrays are lent in this thread; returns what was so before"},
    {"is_lending", is_lending, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_foreign(PyObject* module) {
  classes = PyDict_New();
  return classes && PyModule_AddObjectRef(module, "foreign_classes", classes) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace plait::py
