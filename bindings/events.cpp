// What happens while the engine runs without the GIL and must wait for it: floating-point warnings,
// releases of foreign owners, signals.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/reports/report.hpp"
#include "events.hpp"
#include "interrupt.hpp"
#include "numpy_compat/functions.hpp"
#include "python.hpp"
#include "sites.hpp"
#include "tracer/context.hpp"

namespace plait::py {

std::atomic<bool> events_pending{false};

namespace {

struct Report {
  PyObject* category;  // of the warning
  tracer::FpEvent event;
  std::string text;
  tracer::ErrorAction action;
  std::uint32_t site;
};
struct Queue {
  std::mutex mutex;
  std::vector<Report> reports;
  std::vector<PyObject*> owners;
};
Queue& queue() {
  static auto* q = new Queue;  // outlives static destructors: owners may be released at exit
  return *q;
}

void on_fp_event(tracer::FpEvent e, std::string_view op, const tracer::ErrorState& s,
                 std::uint32_t site) {
  tracer::ErrorAction action = e == tracer::FpEvent::Divide  ? s.divide
                               : e == tracer::FpEvent::Over  ? s.over
                               : e == tracer::FpEvent::Under ? s.under
                                                             : s.invalid;
  if (action == tracer::ErrorAction::Ignore) return;
  std::lock_guard guard(queue().mutex);
  std::vector<Report>& reports = queue().reports;
  // What is two operations here, and one call of NumPy's, says so once.
  if (op == "divmod" && std::ranges::any_of(reports, [&](const Report& r) {
        return r.event == e && r.site == site && r.text.ends_with(" divmod");
      }))
    return;
  reports.push_back({PyExc_RuntimeWarning, e,
                     std::string(tracer::event_name(e)) + " encountered in " + std::string(op),
                     action, site});
  events_pending = true;
}

// Warnings that functions of numpy_compat give by themselves.
void on_warning(numpy::Warning category, std::string_view text) {
  std::lock_guard guard(queue().mutex);
  queue().reports.push_back(
      {category == numpy::Warning::Runtime ? PyExc_RuntimeWarning : PyExc_DeprecationWarning,
       tracer::FpEvent::Invalid, std::string(text), tracer::ErrorAction::Warn, current_site()});
  events_pending = true;
}

bool warn(const Report& r) {
  const Site site = site_of(r.site);
  if (!site.code) return PyErr_WarnEx(r.category, r.text.c_str(), 1) == 0;
  // One registry a file, so that the "default" filter shows each line once, as for warnings of
  // Python code.
  static PyObject* registries = PyDict_New();
  if (PyDict_GET_SIZE(registries) > 1024) PyDict_Clear(registries);
  PyObject* file = site.code->co_filename;
  Owned registry = Owned::borrow(PyDict_GetItem(registries, file));
  if (!registry) {
    registry = Owned(PyDict_New());
    if (!registry || PyDict_SetItem(registries, file, registry.get()) < 0) return false;
  }
  Owned text(PyUnicode_FromString(r.text.c_str()));
  return text && PyErr_WarnExplicitObject(r.category, text.get(), file,
                                          PyCode_Addr2Line(site.code, site.instruction), nullptr,
                                          registry.get()) == 0;
}

bool report(const Report& r) {
  switch (r.action) {
    case tracer::ErrorAction::Ignore:
      return true;
    case tracer::ErrorAction::Warn:
      return warn(r);
    case tracer::ErrorAction::Raise:
      PyErr_SetString(PyExc_FloatingPointError, r.text.c_str());
      return false;
    case tracer::ErrorAction::Print:
      PySys_FormatStderr("Warning: %s\n", r.text.c_str());
      return true;
    case tracer::ErrorAction::Call:
    case tracer::ErrorAction::Log: {
      Owned numpy(PyImport_ImportModule("numpy"));
      Owned target(numpy ? PyObject_CallMethod(numpy.get(), "geterrcall", nullptr) : nullptr);
      if (!target) return false;
      const char* kind = tracer::event_name(r.event).data();
      if (r.action == tracer::ErrorAction::Call) {
        Owned done(PyObject_CallFunction(target.get(), "si", kind, 1 << static_cast<int>(r.event)));
        return static_cast<bool>(done);
      }
      Owned done(
          PyObject_CallMethod(target.get(), "write", "s", ("Warning: " + r.text + "\n").c_str()));
      return static_cast<bool>(done);
    }
  }
  return true;
}

}  // namespace

bool handle_events() {
  std::vector<Report> reports;
  std::vector<PyObject*> owners;
  {
    std::lock_guard guard(queue().mutex);
    reports.swap(queue().reports);
    owners.swap(queue().owners);
    events_pending = false;
  }
  // An exception may already be on its way: it wins over what warnings would raise.
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  for (PyObject* o : owners) Py_DECREF(o);
  bool good = true;
  for (const Report& r : reports)
    if (good) good = report(r);
  if (type) {
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
  }
  return good;
}

void release_later(void* object) {
  std::lock_guard guard(queue().mutex);
  queue().owners.push_back(static_cast<PyObject*>(object));
  events_pending = true;
}

void install_event_hooks() {
  tracer::set_fp_sink(on_fp_event);
  numpy::set_warning_hook(on_warning);
  install_site_hooks();
  install_interrupt_hook();
}

}  // namespace plait::py
