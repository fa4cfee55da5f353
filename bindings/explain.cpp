// What plait/_explain.py asks the engine: the plan of pending arrays, and what a function
// evaluated.
#include <memory>
#include <vector>

#include "engine/reports/report.hpp"
#include "events.hpp"
#include "functions.hpp"
#include "ndarray.hpp"
#include "sites.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"

namespace plait::py {
namespace {

// A callable (site) -> (place, name, text of the line).
thread_local PyObject* describe = nullptr;

engine::SourceLine source(std::uint32_t site) {
  if (!describe || !site) return {};
  const Owned made(check(PyObject_CallFunction(describe, "I", site)));
  const char *where, *name, *text;
  if (!PyArg_ParseTuple(made.get(), "sss", &where, &name, &text)) throw PythonError{};
  return {where, name, text};
}

class Describing {
 public:
  explicit Describing(PyObject* by) : before_(std::exchange(describe, by)) {}
  ~Describing() { describe = before_; }
  Describing(const Describing&) = delete;

 private:
  PyObject* before_;
};

engine::Names names_of(PyObject* dict) {
  engine::Names names;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    if (!is_array(value) || as_array(value)->host) continue;
    names.emplace_back(utf8(key), as_array(value)->array);
  }
  return names;
}

// What a report counts: regions, nodes, bytes moved, bytes needed.
PyObject* counts(const engine::Report& r) {
  return check(Py_BuildValue("iinn", static_cast<int>(r.regions.size()), r.nodes,
                             static_cast<Py_ssize_t>(r.bytes_moved),
                             static_cast<Py_ssize_t>(r.bytes_least)));
}

// (array, call site, name or "", type, bytes)
PyObject* pictured_value(const engine::Value& v) {
  return check(Py_BuildValue("KIssL", static_cast<unsigned long long>(v.array), v.site,
                             engine::name_in(v, source).c_str(), v.type.c_str(),
                             static_cast<long long>(v.bytes)));
}

template <class Items, class F>
Owned made_list(const Items& items, F&& f) {
  Owned list(check(PyList_New(0)));
  for (const auto& item : items) check(PyList_Append(list.get(), Owned(f(item)).get()));
  return list;
}

// ([(number, planned, results, reads, [(place, text of the line)], [(scratch's level, value,
// bytes)], bytes moved, seconds predicted, measured, tier)]: what a picture shows of the regions. A
// number that is not known is 0.
Owned pictured(const engine::Report& r, int first) {
  const char* const space = engine::scratch_space(r);
  const Owned all = made_list(r.regions, [&](const engine::RegionReport& region) {
    const Owned results = made_list(region.results, pictured_value),
                reads = made_list(region.reads, pictured_value);
    const Owned lines = made_list(region.sites, [](std::uint32_t site) {
      const engine::SourceLine line = source(site);
      return check(Py_BuildValue("ss", line.where.c_str(), line.text.c_str()));
    });
    const Owned scratch = made_list(region.scratch, [&](const engine::RegionReport::Scratch& s) {
      const Owned of(pictured_value(s.value));
      return check(Py_BuildValue("ssOL", space, engine::level_text(s.level), of.get(),
                                 static_cast<long long>(s.bytes)));
    });
    return check(Py_BuildValue(
        "iOOOOOLdds", first++, r.how == engine::Report::Planned ? Py_True : Py_False, results.get(),
        reads.get(), lines.get(), scratch.get(), static_cast<long long>(region.bytes),
        region.predicted, engine::measured_seconds(region), engine::tier_of(region).c_str()));
  });
  const Owned kept = made_list(r.in_memory, [](const auto& note) {
    return check(Py_BuildValue("Ks", static_cast<unsigned long long>(note.first.array),
                               note.second.c_str()));
  });
  return Owned(check(Py_BuildValue("OO", all.get(), kept.get())));
}

// (target, source, names, describe, first region's number, arrays) -> (counts or None, headline,
// text, pictured())
PyObject* explain(PyObject*, PyObject* args) {
  const char* target;
  int with_source, first;
  PyObject *names, *by, *arrays;
  if (!PyArg_ParseTuple(args, "spO!OiO!", &target, &with_source, &PyDict_Type, &names, &by, &first,
                        &PyTuple_Type, &arrays))
    return nullptr;
  return guarded([&]() -> PyObject* {
    const engine::Names known = names_of(names);
    std::vector<Ref<tracer::Node>> nodes;
    std::vector<tracer::Node*> wanted;
    engine::Explanation e;
    {
      const std::lock_guard held(tracer::lock());
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); ++i) {
        PyObject* o = PyTuple_GET_ITEM(arrays, i);
        if (is_array(o) && !as_array(o)->host)
          nodes.push_back(tracer::read(as_array(o)->array));
        else if (is_lazy(o))
          nodes.push_back(tracer::read(as_lazy(o)->array));
      }
      for (auto& n : nodes) wanted.push_back(n.get());
      e = engine::explained(wanted, {target, with_source != 0}, known);
      wanted.clear();
      nodes.clear();
    }
    const Describing described(by);
    const std::string headline = e.plan ? engine::headline(*e.plan) : std::string();
    Owned count(e.plan ? counts(*e.plan) : Py_NewRef(Py_None));
    const Owned picture = pictured(e.plan ? *e.plan : engine::Report(), first);
    return check(Py_BuildValue("OssO", count.get(), headline.c_str(),
                               engine::text(e, first, source).c_str(), picture.get()));
  });
}

std::vector<std::unique_ptr<engine::Watch>>& watches() {
  thread_local std::vector<std::unique_ptr<engine::Watch>> w;
  return w;
}

PyObject* watch(PyObject* names) {  // what this thread evaluates, until watched()
  watches().push_back(std::make_unique<engine::Watch>(names_of(names)));
  return Py_NewRef(Py_None);
}

// (describe) -> [(kind, note, site, counts, headline, text, times, seconds,
// pictured())]; kind: "evaluation",
// "note" or "at call". Regions are numbered through. What a kind has not is empty.
PyObject* watched(PyObject* by) {
  const std::unique_ptr<engine::Watch> w = std::move(watches().back());
  watches().pop_back();
  const Describing described(by);
  Owned list(check(PyList_New(0)));
  int first = 1;
  for (const engine::Watch::Event& event : w->events) {
    const engine::Report& r = event.report;
    Owned count(counts(r));
    constexpr const char* kinds[] = {"evaluation", "note", "at call"};
    const bool planned = event.kind == engine::Watch::Event::Evaluation;
    const std::string headline = planned ? engine::headline(r) : std::string();
    const std::string text = planned ? engine::text(r, first, source) : std::string();
    const Owned picture = pictured(r, first);
    Owned item(check(Py_BuildValue(
        "ssIOssKdO", kinds[event.kind], event.note.c_str(), r.site, count.get(), headline.c_str(),
        text.c_str(), static_cast<unsigned long long>(event.times), event.seconds, picture.get())));
    check(PyList_Append(list.get(), item.get()));
    first += static_cast<int>(r.regions.size());
  }
  return list.release();
}

// Something else that happens among the evaluations; the number of its event, or None.
PyObject* watch_note(PyObject* text) {
  engine::Watch* w = engine::Watch::current();
  if (!w) Py_RETURN_NONE;
  const char* const note = utf8(text);
  const std::lock_guard held(tracer::lock());
  w->events.push_back({engine::Watch::Event::Note, {}, note});
  w->events.back().report.site = tracer::current_site();
  return check(PyLong_FromSize_t(w->events.size() - 1));
}

PyObject* site(PyObject*, PyObject* id) {  // (code, instruction), or None
  const unsigned long number = PyLong_AsUnsignedLong(id);
  if (number == static_cast<unsigned long>(-1) && PyErr_Occurred()) return nullptr;
  return site_code(static_cast<std::uint32_t>(number));
}

}  // namespace

PyMethodDef explain_functions[] = {{"explain", explain, METH_VARARGS, nullptr},
                                   row<watch>("watch"),
                                   row<watched>("watched"),
                                   row<watch_note>("watch_note"),
                                   {"site", site, METH_O, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
