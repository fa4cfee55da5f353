// What a module has by a name, looked up once.
#pragma once
#include "python.hpp"

namespace plait::py {

// To be a `static constinit` variable, as a static that is initialised by an import may never be
// there: threads that ask for it meanwhile would wait for it with the GIL, which an import lets go.
class Imported {
 public:
  constexpr Imported(const char* module, const char* name) : module_(module), name_(name) {}

  // Borrowed. Throws PythonError.
  PyObject* get() {
    if (!found_) {
      const Owned module(check(PyImport_ImportModule(module_)));
      Owned found(check(PyObject_GetAttrString(module.get(), name_)));
      if (!found_) found_ = found.release();  // another thread may have been as far meanwhile
    }
    return found_;
  }

 private:
  const char *module_, *name_;
  PyObject* found_ = nullptr;
};

}  // namespace plait::py
