// Arguments that nobody refers to but the call itself, as the inner one of np.mean((x - m) ** 2):
// what the call evaluates need not store them.
#pragma once
#include <optional>

#include "ndarray.hpp"
#include "tracer/expiring.hpp"

namespace plait::py {

// On the stack of a function that Python called, before anything else takes references to its
// arguments. Looks at the first two.
class Temporaries {
 public:
  Temporaries(PyObject* const* args, Py_ssize_t n) {
    if (n > 0 && is_temporary(args[0])) first_.emplace(*as_array(args[0])->array.storage);
    if (n > 1 && is_temporary(args[1])) second_.emplace(*as_array(args[1])->array.storage);
  }

 private:
  static bool is_temporary(PyObject* o) {
    if (Py_TYPE(o) != array_type || Py_REFCNT(o) != 1) return false;
#if PY_VERSION_HEX >= 0x030E0000
    // A local name's one reference may be lent to the stack.
    if (!PyUnstable_Object_IsUniqueReferencedTemporary(o)) return false;
#endif
    const ArrayObject* a = as_array(o);
    if (a->host || tracer::is_materialised(a->array)) return false;
    return !a->base || !is_array(a->base) || Py_REFCNT(a->base) == 1;
  }

  std::optional<tracer::Expiring> first_, second_;  // go in the opposite order
};

}  // namespace plait::py
