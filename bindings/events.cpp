// What happens while the engine runs without the GIL and must wait for it: floating-point warnings,
// releases of foreign owners, signals. Also the call sites that warnings and explain() name.
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"
#include "events.hpp"
#include "interrupt.hpp"
#include "numpy_compat/functions.hpp"
#include "python.hpp"
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

// A call site is a code object and an instruction in it; the line is worked out only when somebody
// asks.
struct Site {
  PyCodeObject* code;
  int instruction;
};
constexpr std::size_t kMaxSites = 1 << 16;
struct SiteTable {
  std::vector<Site> sites{{nullptr, 0}};
  std::unordered_map<std::uint64_t, std::uint32_t> ids;
  std::unordered_map<PyCodeObject*, bool> internal;  // code of the plait package itself
  std::string package_dir;
  Site last{nullptr, 0};
  std::uint32_t last_id = 0;
};
SiteTable& site_table() {
  static auto* t = new SiteTable;
  return *t;
}

Site site_of_id(std::uint32_t id) {
  SiteTable& t = site_table();
  return id < t.sites.size() ? t.sites[id] : Site{nullptr, 0};
}

bool is_internal(PyCodeObject* code) {
  SiteTable& t = site_table();
  auto it = t.internal.find(code);
  if (it != t.internal.end()) return it->second;
  Py_ssize_t n = 0;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &n);
  if (!file) PyErr_Clear();
  bool inside =
      file && !t.package_dir.empty() && std::string_view(file, n).starts_with(t.package_dir);
  if (t.internal.size() < kMaxSites) {
    Py_INCREF(code);  // the address is the key
    t.internal.emplace(code, inside);
  }
  return inside;
}

std::uint32_t current_site() {
  if (!holds_gil()) return 0;
  SiteTable& t = site_table();
  PyFrameObject* frame = PyEval_GetFrame();
  Owned hold;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Py_DECREF(code);  // the frame keeps it
    int at = PyFrame_GetLasti(frame);
    if (code == t.last.code && at == t.last.instruction) return t.last_id;
    if (is_internal(code)) {
      hold = Owned(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
      frame = reinterpret_cast<PyFrameObject*>(hold.get());
      continue;
    }
    std::uint64_t key =
        reinterpret_cast<std::uint64_t>(code) * 0x9E3779B97F4A7C15ull + static_cast<unsigned>(at);
    auto [it, fresh] = t.ids.try_emplace(key, static_cast<std::uint32_t>(t.sites.size()));
    if (fresh) {
      if (t.sites.size() >= kMaxSites) {
        t.ids.erase(it);
        return 0;
      }
      Py_INCREF(code);
      t.sites.push_back({code, at});
    }
    t.last = {code, at};
    return t.last_id = it->second;
  }
  return 0;
}

// For errors of a device, which are found under the recorder's lock: the GIL may not be taken
// there. Code objects in the table stay and do not change, and new sites come under the same lock.
std::string site_text_without_gil(std::uint32_t id) {
  const Site s = site_of_id(id);
  if (!s.code || !PyUnicode_IS_COMPACT_ASCII(s.code->co_filename)) return "";
  return std::string(reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(s.code->co_filename))) +
         ":" + std::to_string(PyCode_Addr2Line(s.code, s.instruction));
}

void on_fp_event(tracer::FpEvent e, std::string_view op, const tracer::ErrorState& s,
                 std::uint32_t site) {
  tracer::ErrorAction action = e == tracer::FpEvent::Divide  ? s.divide
                               : e == tracer::FpEvent::Over  ? s.over
                               : e == tracer::FpEvent::Under ? s.under
                                                             : s.invalid;
  if (action == tracer::ErrorAction::Ignore) return;
  std::lock_guard guard(queue().mutex);
  queue().reports.push_back(
      {PyExc_RuntimeWarning, e,
       std::string(tracer::event_name(e)) + " encountered in " + std::string(op), action, site});
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
  Site site = site_of_id(r.site);
  if (!site.code) return PyErr_WarnEx(r.category, r.text.c_str(), 1) == 0;
  // One registry a file, so that the "default" filter shows each line once, as for warnings of
  // Python code.
  static PyObject* registries = PyDict_New();
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

void set_package_dir(const char* dir) { site_table().package_dir = dir; }

PyObject* site_text(std::uint32_t id) {
  Site s = site_of_id(id);
  if (!s.code) return PyUnicode_FromString("");
  return PyUnicode_FromFormat("%U:%d", s.code->co_filename,
                              PyCode_Addr2Line(s.code, s.instruction));
}

void install_event_hooks() {
  tracer::set_fp_sink(on_fp_event);
  numpy::set_warning_hook(on_warning);
  tracer::set_site_hook(current_site);
  tracer::set_site_text_hook(site_text_without_gil);
  install_interrupt_hook();
}

}  // namespace plait::py
