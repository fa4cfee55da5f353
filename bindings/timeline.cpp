// What plait/_trace.py opens and writes; see core/timeline.hpp.
#include "core/timeline.hpp"

#include <cerrno>

#include "core/thread_profile.hpp"
#include "functions.hpp"
#include "sites.hpp"

namespace plait::py {
namespace {

// A callable (site) -> (place, name, text of the line), while a trace is written.
thread_local PyObject* describe_site = nullptr;

// What a program's source does not say is left out of the trace.
timeline::Source traced_source(std::uint32_t site) {
  const Owned made(PyObject_CallFunction(describe_site, "I", site));
  const char *where, *name, *text;
  if (made && PyArg_ParseTuple(made.get(), "sss", &where, &name, &text)) return {where, name, text};
  PyErr_Clear();
  return {};
}

PyObject* trace_open(PyObject*, PyObject* path) {  // its number; raises OSError
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path, &bytes)) return nullptr;
  const Owned held(bytes);
  return guarded([&]() -> PyObject* {
    const int trace = timeline::open(PyBytes_AS_STRING(bytes));
    if (trace < 0) return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    return check(PyLong_FromLong(trace));
  });
}

PyObject* trace_start(PyObject* trace) {
  timeline::start(static_cast<int>(integer(trace)));
  return Py_NewRef(Py_None);
}

// (trace or None: PLAIT_TRACE's, describe, path)
PyObject* trace_finish(Exactly<3>& args) {
  describe_site = args[1];
  bool done = true;
  if (args[0] == Py_None)
    timeline::finish_environments(traced_source);
  else
    done = timeline::finish(static_cast<int>(integer(args[0])), traced_source);
  if (!done) return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, args[2]);
  return Py_NewRef(Py_None);
}

// The moment, for trace_fallback(); None where nothing is recorded.
PyObject* trace_now(PyObject*, PyObject*) {
  if (!timeline::on()) Py_RETURN_NONE;
  return PyLong_FromLongLong(timeline::now());
}

PyObject* trace_fallback(Exactly<2>& args) {  // (name, start)
  Py_ssize_t size = 0;
  const char* const name = PyUnicode_AsUTF8AndSize(args[0], &size);
  if (!name) throw PythonError{};
  timeline::add(timeline::Category::Fallback, {name, static_cast<std::size_t>(size)},
                integer(args[1]), current_site());
  return Py_NewRef(Py_None);
}

PyObject* profile_start(PyObject* own) {  // of this thread alone? -> its number
  return check(
      PyLong_FromLong(own == Py_True ? timeline::profile_this_thread() : timeline::profile()));
}

// A list of (category, site, name, how often, nanoseconds, bytes, elements, bytes grown).
PyObject* profile_finish(PyObject* number) {
  const std::vector<timeline::SumWithMemory> sums =
      timeline::finish_profile_with_memory(static_cast<int>(integer(number)));
  Owned made(check(PyList_New(static_cast<Py_ssize_t>(sums.size()))));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const timeline::SumWithMemory& s = sums[i];
    PyList_SET_ITEM(
        made.get(), static_cast<Py_ssize_t>(i),
        check(Py_BuildValue("(sIs#LLLLL)", timeline::name(s.category), s.site, s.name.data(),
                            static_cast<Py_ssize_t>(s.name.size()), static_cast<long long>(s.count),
                            static_cast<long long>(s.nanoseconds), static_cast<long long>(s.bytes),
                            static_cast<long long>(s.elements), static_cast<long long>(s.grown))));
  }
  return made.release();
}

PyObject* trace_of_children() {  // PLAIT_TRACE for them
  return check(PyUnicode_DecodeFSDefault(timeline::environment_of_children().c_str()));
}

}  // namespace

PyMethodDef trace_functions[] = {{"trace_open", trace_open, METH_O, nullptr},
                                 row<trace_start>("trace_start"),
                                 row<trace_finish>("trace_finish"),
                                 {"trace_now", trace_now, METH_NOARGS, nullptr},
                                 row<trace_fallback>("trace_fallback"),
                                 row<profile_start>("profile_start"),
                                 row<profile_finish>("profile_finish"),
                                 row<trace_of_children>("trace_of_children"),
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
