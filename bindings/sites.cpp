#include "sites.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/timeline.hpp"
#include "engine/reports/report.hpp"
#include "events.hpp"
#include "tracer/context.hpp"

namespace plait::py {
namespace {

constexpr std::size_t kMaxBytes = 16 << 20, kMaxSites = 1 << 16;

// A code object that the table holds.
struct Code {
  bool internal = false;  // of the plait package itself
  std::size_t bytes = 0;
  std::uint64_t used = 0;
  std::vector<std::uint32_t> sites;
};

// A site that was asked for lately. Its code is in the table.
struct Recent {
  Site site{nullptr, 0};
  std::uint32_t id = 0;
  Code* code = nullptr;
};
constexpr std::size_t kRecent = 256;

// Changed with the GIL and the mutex, so that either is enough to read.
struct SiteTable {
  std::mutex mutex;
  std::unordered_map<PyCodeObject*, Code> codes;
  std::unordered_map<std::uint32_t, Site> sites;
  std::unordered_map<std::uint64_t, std::uint32_t> ids;
  std::uint32_t newest = 0;
  std::size_t bytes = 0;
  std::uint64_t clock = 0;
  std::string package_dir;
  Site last{nullptr, 0};
  std::uint32_t last_id = 0;
  std::array<Recent, kRecent> recent;  // at a hash of the site
};
SiteTable& site_table() {
  static auto* t = new SiteTable;
  return *t;
}

std::uint64_t key_of(const PyCodeObject* code, int instruction) {
  return reinterpret_cast<std::uint64_t>(code) * 0x9E3779B97F4A7C15ull +
         static_cast<unsigned>(instruction);
}

// Roughly: the object, its bytecode and tables, and constants and names that nobody else holds.
std::size_t bytes_of(PyCodeObject* code) {
  const auto length = [](PyObject* o) {
    return o && PyBytes_Check(o) ? static_cast<std::size_t>(PyBytes_GET_SIZE(o)) : 0;
  };
  const auto items = [](PyObject* o) {
    return o && PyTuple_Check(o) ? static_cast<std::size_t>(PyTuple_GET_SIZE(o)) : 0;
  };
  constexpr std::size_t kItem = 48;
  return sizeof(PyCodeObject) + sizeof(Code) + static_cast<std::size_t>(Py_SIZE(code)) * 2 +
         length(code->co_linetable) + length(code->co_exceptiontable) +
         (items(code->co_consts) + items(code->co_names) + items(code->co_localsplusnames)) * kItem;
}
thread_local std::uint32_t remembered = 0;  // of what is watched; see remember_site()

constexpr std::size_t kSiteBytes = 128;  // in three tables

// Takes out the code objects used longest ago until the rest fits into so much. They are the
// caller's to release.
std::vector<PyCodeObject*> evict(SiteTable& t, std::size_t bytes, std::size_t sites) {
  std::vector<PyCodeObject*> going;
  for (const auto& [code, c] : t.codes) going.push_back(code);
  std::sort(going.begin(), going.end(), [&](PyCodeObject* a, PyCodeObject* b) {
    return t.codes.at(a).used < t.codes.at(b).used;
  });
  std::size_t gone = 0;
  const std::lock_guard guard(t.mutex);
  for (; gone < going.size() && (t.bytes > bytes || t.sites.size() > sites); ++gone) {
    const auto it = t.codes.find(going[gone]);
    for (const std::uint32_t id : it->second.sites)
      if (const auto site = t.sites.find(id); site != t.sites.end()) {
        t.ids.erase(key_of(it->first, site->second.instruction));
        t.sites.erase(site);
      }
    t.bytes -= it->second.bytes;
    t.codes.erase(it);
  }
  t.last = {nullptr, 0};
  t.recent = {};
  going.resize(gone);
  return going;
}

Code& code_of(SiteTable& t, PyCodeObject* code) {
  auto it = t.codes.find(code);
  if (it == t.codes.end()) {
    Py_ssize_t n = 0;
    const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &n);
    if (!file) PyErr_Clear();
    const std::lock_guard guard(t.mutex);
    it = t.codes.try_emplace(code).first;
    Py_INCREF(code);
    it->second.internal =
        file && !t.package_dir.empty() && std::string_view(file, n).starts_with(t.package_dir);
    it->second.bytes = bytes_of(code);
    t.bytes += it->second.bytes;
  }
  it->second.used = ++t.clock;
  return it->second;
}

std::uint32_t id_of(SiteTable& t, PyCodeObject* code, Code& c, int instruction) {
  const std::uint64_t key = key_of(code, instruction);
  if (const auto it = t.ids.find(key); it != t.ids.end()) return it->second;
  const std::lock_guard guard(t.mutex);
  const std::uint32_t id = ++t.newest ? t.newest : ++t.newest;
  c.sites.push_back(id);
  t.sites.emplace(id, Site{code, instruction});
  t.ids.emplace(key, id);
  c.bytes += kSiteBytes;
  t.bytes += kSiteBytes;
  return id;
}

// For errors of a device, which are found under the recorder's lock: the GIL may not be taken
// there.
std::string site_text_without_gil(std::uint32_t id) {
  SiteTable& t = site_table();
  const std::lock_guard guard(t.mutex);
  const auto it = t.sites.find(id);
  if (it == t.sites.end()) return "";
  const Site s = it->second;
  if (!PyUnicode_IS_COMPACT_ASCII(s.code->co_filename)) return "";
  return std::string(reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(s.code->co_filename))) +
         ":" + std::to_string(PyCode_Addr2Line(s.code, s.instruction));
}

}  // namespace

namespace {

// What threading.Thread says; empty: "MainThread", and threads that it does not know. It runs no
// code of Python's, as the recorder's lock may be held.
std::string python_thread_name() {
  if (!holds_gil()) return "";
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  std::string made;
  PyObject* const threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  const Owned active(threading ? PyObject_GetAttrString(threading, "_active") : nullptr);
  const Owned own(PyLong_FromUnsignedLong(PyThread_get_thread_ident()));
  if (active && own && PyDict_Check(active.get()))
    if (PyObject* const thread = PyDict_GetItem(active.get(), own.get())) {
      const Owned name(PyObject_GetAttrString(thread, "_name"));
      const char* const text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
      if (text && std::string_view(text) != "MainThread") made = text;
    }
  PyErr_Restore(type, value, traceback);
  return made;
}

}  // namespace

std::uint32_t current_site() {
  if (!holds_gil()) return engine::Watch::current() || timeline::on() ? remembered : 0;
  SiteTable& t = site_table();
  PyFrameObject* frame = PyEval_GetFrame();
  Owned hold;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Py_DECREF(code);  // the frame keeps it
    int at = PyFrame_GetLasti(frame);
    if (code == t.last.code && at == t.last.instruction) return t.last_id;
    Recent& r =
        t.recent[((reinterpret_cast<std::uintptr_t>(code) >> 6) + static_cast<unsigned>(at) / 2) %
                 kRecent];
    if (r.site.code == code && r.site.instruction == at) {
      r.code->used = ++t.clock;
      t.last = r.site;
      return t.last_id = r.id;
    }
    Code& c = code_of(t, code);
    if (c.internal) {
      hold = Owned(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
      frame = reinterpret_cast<PyFrameObject*>(hold.get());
      continue;
    }
    const std::uint32_t id = id_of(t, code, c, at);
    r = {{code, at}, id, &c};
    if (t.bytes > kMaxBytes || t.sites.size() > kMaxSites)
      // Not here: the last reference may run Python code, and the recorder's lock is held.
      for (PyCodeObject* c : evict(t, kMaxBytes - kMaxBytes / 8, kMaxSites - kMaxSites / 8))
        release_later(c);
    t.last = {code, at};
    return t.last_id = id;
  }
  return 0;
}

Site site_of(std::uint32_t id) {
  const SiteTable& t = site_table();
  const auto it = t.sites.find(id);
  return it == t.sites.end() ? Site{nullptr, 0} : it->second;
}

PyObject* site_code(std::uint32_t id) {
  const Site s = site_of(id);
  if (!s.code) Py_RETURN_NONE;
  return Py_BuildValue("Oi", s.code, s.instruction);
}

void remember_site() {
  const std::lock_guard held(tracer::lock());
  remembered = current_site();
  thread_local bool named = false;
  if (!std::exchange(named, true))
    if (std::string name = python_thread_name(); !name.empty())
      timeline::name_thread(std::move(name));
}

std::size_t forget_sites() {
  SiteTable& t = site_table();
  const std::size_t before = t.bytes;
  const std::vector<PyCodeObject*> going = evict(t, 0, 0);
  const std::size_t bytes = before - t.bytes;
  for (PyCodeObject* c : going) Py_DECREF(c);
  return bytes;
}

SitesKept sites_kept() {
  const SiteTable& t = site_table();
  return {t.sites.size(), t.bytes};
}

void set_package_dir(const char* dir) { site_table().package_dir = dir; }

void install_site_hooks() {
  tracer::set_site_hook(current_site);
  timeline::set_thread_name_hook(python_thread_name);
  tracer::set_site_text_hook(site_text_without_gil);
}

}  // namespace plait::py
