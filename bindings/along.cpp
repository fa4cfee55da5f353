#include "along.hpp"

#include <mutex>

#include "core/device.hpp"
#include "engine/plans/state.hpp"
#include "functions.hpp"
#include "sites.hpp"
#include "tracer/graph.hpp"

namespace plait::py {
namespace {

PyObject* counts(PyObject*, PyObject*) {
  const std::lock_guard held(tracer::lock());
  const engine::ReductionsAlong& along = engine::state().reductions_along;
  return Py_BuildValue("KK", static_cast<unsigned long long>(along.passes),
                       static_cast<unsigned long long>(along.given));
}

}  // namespace

PyObject* reduced_along(FullReduction what, PyObject* self) {
  if (Py_TYPE(self) != array_type || as_array(self)->host || is_standard(self) ||
      scalars_stay_pending())
    return nullptr;
  const tracer::Array a = as_array(self)->array;
  const auto value = numpy::reduced_along(what, a, current_site());
  return value ? wrap_scalar(*value) : nullptr;
}

PyMethodDef along_functions[] = {
    {"reductions_along", counts, METH_NOARGS,
     "(passes that computed reductions for later calls, values that those were given)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
