#include "crossing.hpp"  // Python's headers first

#include <structmember.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "functions.hpp"
#include "holding.hpp"
#include "loop_entry.hpp"
#include "relaid.hpp"
#include "scope.hpp"
#include "tracer/device.hpp"

namespace plait::py {

namespace {

struct CrossingObject {
  PyObject_HEAD PyObject* function;  // what runs
  PyObject* scope;                   // its globals, or None where they are its own
  PyObject* cells;                   // list: those that are kept in step with the program's
  PyObject* sync;                    // () brings both in step
  PyObject* calls;                   // their account, or None
  PyObject* classes;                 // set: of what crosses as it is
  PyObject* stand_ins;  // dict: functions that it may leave somewhere, which are to be NumPy's
  PyObject* seldom;     // (args, kwargs, pairs, copies, exported, references) -> a _boundary.Call
  char closed;          // scalars may stay pending in it
};
CrossingObject& as_crossing(PyObject* o) { return *reinterpret_cast<CrossingObject*>(o); }

PyObject* maps;  // dict: ids of arrays over mapped files (numpy_compat/plait/_mapped.py)

// Whether a Plait array has a mapped file's memory: NumPy's for it is of a class of its own.
bool is_mapped(PyObject* x) {
  if (PyDict_GET_SIZE(maps) == 0) return false;
  for (; x && Py_TYPE(x) == array_type; x = as_array(x)->base) {
    const Owned id(check(PyLong_FromVoidPtr(x)));
    const int found = PyDict_Contains(maps, id.get());
    check(found);
    if (found) return true;
  }
  return false;
}

constexpr int kDeepest = 20;  // lists in lists; those that are deeper, or go in circles, are seldom

bool crosses(PyObject* x, PyObject* classes, int depth = kDeepest) {
  if (PyArray_CheckExact(x)) return true;
  if (depth > 0 && is_list(x)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); ++i)
      if (!crosses(PySequence_Fast_GET_ITEM(x, i), classes, depth - 1)) return false;
    return true;
  }
  if (depth > 0 && PyDict_CheckExact(x)) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(x, &at, &key, &value);)
      if (!crosses(value, classes, depth - 1)) return false;
    return true;
  }
  return !is_list(x) && crosses_as_it_is(x, classes);
}

// What the function gets in the place of an array, a list, a tuple or a dict of the caller's.
struct Stand {
  Owned ours, theirs;
  Owned before;  // what was in a list or a dict

  bool is_array() const { return PyArray_CheckExact(theirs.get()); }
  // Whether the function changed what is in it.
  bool changed() const {
    if (!before) return false;
    if (PyList_CheckExact(before.get())) {
      const auto items = [](const Owned& list) {
        return std::span(PySequence_Fast_ITEMS(list.get()),
                         static_cast<std::size_t>(PyList_GET_SIZE(list.get())));
      };
      return !std::ranges::equal(items(ours), items(before));
    }
    PyObject *key, *value, *old_key, *old;
    Py_ssize_t at = 0, old_at = 0;
    while (PyDict_Next(before.get(), &old_at, &old_key, &old))
      if (!PyDict_Next(ours.get(), &at, &key, &value) || key != old_key || value != old)
        return true;
    return PyDict_GET_SIZE(ours.get()) != PyDict_GET_SIZE(before.get());
  }
};

// takes(args, kwargs): whether run() does this call.
PyObject* takes(PyObject* self, Args args, Py_ssize_t n) {
  if (!exact_count(n, 2)) return nullptr;
  return guarded([&]() -> PyObject* {
    PyObject* const classes = as_crossing(self).classes;
    if (tracer::current_device() != kHost) Py_RETURN_FALSE;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i)
      if (!crosses(PyTuple_GET_ITEM(args[0], i), classes)) Py_RETURN_FALSE;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(args[1], &at, &key, &value);)
      if (!crosses(value, classes)) Py_RETURN_FALSE;
    Py_RETURN_TRUE;
  });
}

// What is raised, while more is done: a later error has it as its context.
class Raised {
 public:
  void take() {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    Owned later(value);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    if (error_ && later && error_.get() != later.get())
      PyException_SetContext(later.get(), error_.release());
    error_ = std::move(later);
  }
  template <class F>
  void during(F&& f) {
    const Owned done(guarded([&]() -> PyObject* {
      f();
      return Py_NewRef(Py_None);
    }));
    if (!done) take();
  }
  explicit operator bool() const { return static_cast<bool>(error_); }
  PyObject* type() const {
    return error_ ? reinterpret_cast<PyObject*>(Py_TYPE(error_.get())) : Py_None;
  }
  void raise() {
    // PyErr_SetObject() would give it what the caller handles as its context, in place of its own.
    if (PyObject* const e = error_.release())
      PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(e))), e,
                    PyException_GetTraceback(e));
  }

 private:
  Owned error_;
};

// One call.
class Crossed {
 public:
  Crossed(PyObject* self, PyObject* args, PyObject* kwargs)
      : c_(as_crossing(self)), args_(args), kwargs_(kwargs) {}

  PyObject* run() {
    raised_.during([&] {
      list();
      if (c_.calls != Py_None && !in_jit()) begun_ = begin_call(c_.calls, theirs_);
      sync();
    });
    if (raised_) return raised_.raise(), nullptr;
    const bool pended = set_scalars_stay_pending(c_.closed);
    const bool jitted = set_in_jit(true);
    laid_ = times_relaid;
    before_ = live_objects;
    named_ = references_of(c_.stand_ins);
    Owned out;
    raised_.during([&] { take(); });
    if (!raised_) {
      Owned result(called());
      if (result) out = Owned(guarded([&] { return outward(result.get()); }));
      if (!out) raised_.take();
    }
    set_scalars_stay_pending(pended);
    set_in_jit(jitted);
    end();
    if (!raised_) return out.release();
    raised_.raise();
    return nullptr;
  }

 private:
  void sync() {
    if (PyList_GET_SIZE(c_.cells) > 0 || scope_has_changed(c_.scope))
      const Owned done(check(PyObject_CallNoArgs(c_.sync)));
  }

  void list() {
    const Py_ssize_t named = PyDict_GET_SIZE(kwargs_);
    theirs_.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(args_) + named));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args_); ++i)
      theirs_.push_back(PyTuple_GET_ITEM(args_, i));
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(kwargs_, &at, &key, &value);) theirs_.push_back(value);
  }
  void take() {
    ours_.reserve(theirs_.size());
    for (PyObject* x : theirs_) ours_.push_back(taken(x));
    references_ = references();
  }
  Owned taken(PyObject* x) {
    if (PyArray_CheckExact(x)) {
      ++lent_;
      return stands(borrowed_from(x), x);
    }
    if (!(is_list(x) || PyDict_CheckExact(x)) || crosses_as_it_is(x, c_.classes))
      return Owned::borrow(x);
    if (PyTuple_CheckExact(x)) {
      Owned made(check(PyTuple_New(PyTuple_GET_SIZE(x))));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(x); ++i)
        PyTuple_SET_ITEM(made.get(), i, taken(PyTuple_GET_ITEM(x, i)).release());
      return stands(made.release(), x);
    }
    const bool is_dict = PyDict_CheckExact(x);
    const auto copy = [&](PyObject* of) {
      return Owned(check(is_dict ? PyDict_Copy(of) : PyList_GetSlice(of, 0, PyList_GET_SIZE(of))));
    };
    Owned made = copy(x);  // of which nobody else knows
    if (is_dict) {
      PyObject *key, *value;
      for (Py_ssize_t at = 0; PyDict_Next(made.get(), &at, &key, &value);)
        check(PyDict_SetItem(made.get(), key, taken(value).get()));
    } else {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(made.get()); ++i)
        check(PyList_SetItem(made.get(), i, taken(PyList_GET_ITEM(made.get(), i)).release()));
    }
    Owned before = copy(made.get());
    return stands(made.release(), x, std::move(before));
  }
  Owned stands(PyObject* ours, PyObject* theirs, Owned before = Owned()) {
    Owned given = Owned::borrow(ours);
    stands_.push_back({Owned(ours), Owned::borrow(theirs), std::move(before)});
    return given;
  }
  static std::vector<Py_ssize_t> references_of(PyObject* dict) {
    std::vector<Py_ssize_t> counts;
    counts.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(dict)));
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);)
      counts.push_back(Py_REFCNT(value));
    return counts;
  }
  // To what the function got: with more, it has left some of it somewhere.
  Py_ssize_t references() const {
    Py_ssize_t all = 0;
    for (const Stand& s : stands_) all += Py_REFCNT(s.ours.get());
    return all;
  }
  // The caller's, of which this stands in the place; null for what is no such.
  PyObject* stood_for(PyObject* ours) {
    if (stands_.size() > 8) {
      if (by_ours_.empty())
        for (const Stand& s : stands_) by_ours_.emplace(s.ours.get(), s.theirs.get());
      const auto found = by_ours_.find(ours);
      return found == by_ours_.end() ? nullptr : found->second;
    }
    for (const Stand& s : stands_)
      if (s.ours.get() == ours) return s.theirs.get();
    return nullptr;
  }

  PyObject* called() {
    std::vector<PyObject*> given(ours_.size() + 1);
    std::transform(ours_.begin(), ours_.end(), given.begin() + 1,
                   [](const Owned& o) { return o.get(); });
    const auto n = static_cast<std::size_t>(PyTuple_GET_SIZE(args_));
    Owned names;
    if (ours_.size() > n) {
      names = Owned(PyTuple_New(static_cast<Py_ssize_t>(ours_.size() - n)));
      if (!names) return nullptr;
      PyObject *key, *value;
      Py_ssize_t i = 0;
      for (Py_ssize_t at = 0; PyDict_Next(kwargs_, &at, &key, &value);)
        PyTuple_SET_ITEM(names.get(), i++, Py_NewRef(key));
    }
    return PyObject_Vectorcall(c_.function, given.data() + 1, n | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               names.get());
  }

  // What the caller gets for a result that is no list and no tuple, or an argument; null for what
  // is seldom.
  PyObject* single(PyObject* x) {
    if (PyObject* const theirs = stood_for(x)) return Py_NewRef(theirs);
    if (is_lazy(x)) return exported(x, [&] { return Py_NewRef(lazy_value(as_lazy(x))); });
    if (Py_TYPE(x) == array_type) {
      ArrayObject* const a = as_array(x);
      if (!a->host && tracer::device_of(a->array) != kHost) return nullptr;
      if (is_mapped(x)) return nullptr;
      return exported(x, [&] { return to_numpy(a); });
    }
    return PyArray_CheckExact(x) || plain(x) ? Py_NewRef(x) : nullptr;
  }
  // NumPy's for an array or a scalar: one object for one, wherever it comes out.
  template <class Make>
  PyObject* exported(PyObject* ours, Make&& make) {
    constexpr std::size_t kFew = 8;
    if (exported_.size() > kFew) {
      if (exported_at_.empty())
        for (const Exported& e : exported_) exported_at_.emplace(e.ours.get(), e.theirs.get());
      if (const auto found = exported_at_.find(ours); found != exported_at_.end())
        return Py_NewRef(found->second);
    } else {
      for (const Exported& e : exported_)
        if (e.ours.get() == ours) return Py_NewRef(e.theirs.get());
    }
    Owned made(check(make()));
    exported_.push_back({Owned::borrow(ours), Owned::borrow(made.get())});
    if (!exported_at_.empty()) exported_at_.emplace(ours, made.get());
    return made.release();
  }
  bool plain(PyObject* x) const {
    const int found = PySet_Contains(c_.classes, reinterpret_cast<PyObject*>(Py_TYPE(x)));
    check(found);
    return found;
  }

  PyObject* outward(PyObject* result) {
    if (is_list(result) && !stood_for(result)) {
      if (PyObject* const made = each(result)) return made;
    } else if (PyObject* const made = single(result)) {
      return made;
    }
    return ask("outward", result).release();
  }

  // A list or a tuple of what is single; null for what is seldom.
  PyObject* each(PyObject* list) {
    std::vector<tracer::Array> pending;
    bool changes = false;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* const x = PySequence_Fast_GET_ITEM(list, i);
      if (plain(x)) continue;
      changes = true;
      if (is_lazy(x))
        pending.push_back(as_lazy(x)->array);
      else if (Py_TYPE(x) != array_type)
        return nullptr;
      else if (!as_array(x)->host)
        pending.push_back(as_array(x)->array);
    }
    if (!changes) return Py_NewRef(list);
    if (pending.size() > 1)  // one plan for all the results
      without_gil([&] { tracer::evaluate(pending); });
    const Owned held(check(PySequence_Tuple(list)));  // other threads may change a list
    Owned made(check(PyTuple_New(n)));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* const x =
          i < PyTuple_GET_SIZE(held.get()) ? single(PyTuple_GET_ITEM(held.get(), i)) : nullptr;
      if (!x) return nullptr;
      PyTuple_SET_ITEM(made.get(), i, x);
    }
    if (PyTuple_CheckExact(list)) return made.release();
    // In place: the function may have left it somewhere else, too.
    check(PyList_SetSlice(list, 0, PyList_GET_SIZE(list), made.get()));
    return Py_NewRef(list);
  }

  void end() {
    if (begun_) raised_.during([&] { end_call(c_.calls, *begun_); });
    raised_.during([&] { sync(); });
    if (times_relaid != laid_) raised_.during([&] { ask("return_layouts"); });
    if (std::ranges::any_of(stands_, &Stand::changed)) raised_.during([&] { ask("return_lists"); });
    // What nobody else refers to was left nowhere.
    bool out = false;
    if (seldom_) {
      raised_.during([&] { out = PyObject_IsTrue(ask("still_out").get()) != 0; });
    } else {
      std::erase_if(exported_, [](const Exported& e) { return Py_REFCNT(e.ours.get()) == 1; });
      out = !exported_.empty();
    }
    // Whether the function may have left an array somewhere, or what stands for NumPy's functions.
    Py_ssize_t asked = 0;
    if (seldom_)
      for (const Stand& s : stands_) asked += s.before ? 2 : 1;
    if (out || live_objects != before_ + lent_ || references() != references_ + asked ||
        references_of(c_.stand_ins) != named_)
      raised_.during([&] { ask("take_back", raised_.type()); });
    seldom_ = Owned();
    exported_.clear();
    std::vector<tracer::Array> lent;
    for (const Stand& s : stands_)
      if (s.is_array() && !as_array(s.ours.get())->host)
        lent.push_back(as_array(s.ours.get())->array);
    if (lent.empty()) return;
    const auto leftover = raised_ ? tracer::Leftover::Pending : tracer::Leftover::Evaluated;
    raised_.during([&] { without_gil([&] { tracer::end_borrow(lent, leftover); }); });
  }

  // A method of the Call of this one, which is made when there is something for it to do.
  Owned ask(const char* method, PyObject* argument = nullptr) {
    if (!seldom_) {
      const Owned stands(check(PyList_New(0))), copies(check(PyList_New(0)));
      for (const Stand& s : stands_) {
        const Owned both(check(PyTuple_Pack(2, s.ours.get(), s.theirs.get())));
        check(PyList_Append(stands.get(), both.get()));
        if (!s.before) continue;
        const Owned all(check(PyTuple_Pack(3, s.theirs.get(), s.ours.get(), s.before.get())));
        check(PyList_Append(copies.get(), all.get()));
      }
      const Owned exported(check(PyList_New(0)));
      for (const Exported& e : exported_) {
        const Owned both(check(PyTuple_Pack(2, e.ours.get(), e.theirs.get())));
        check(PyList_Append(exported.get(), both.get()));
      }
      const Owned named(check(
          PyBytes_FromStringAndSize(reinterpret_cast<const char*>(named_.data()),
                                    static_cast<Py_ssize_t>(named_.size() * sizeof(Py_ssize_t)))));
      seldom_ = Owned(
          check(PyObject_CallFunctionObjArgs(c_.seldom, args_, kwargs_, stands.get(), copies.get(),
                                             exported.get(), named.get(), nullptr)));
      exported_.clear();  // the Call holds them, and counts references to them
    }
    return Owned(
        check(PyObject_CallMethod(seldom_.get(), method, argument ? "(O)" : nullptr, argument)));
  }

  const CrossingObject& c_;
  PyObject *args_, *kwargs_;
  std::vector<PyObject*> theirs_;  // arguments, and those by name behind them
  std::vector<Owned> ours_;        // what the function gets for each
  std::vector<Stand> stands_;
  std::unordered_map<PyObject*, PyObject*> by_ours_;
  struct Exported {
    Owned ours, theirs;
  };
  std::vector<Exported> exported_;  // what came out, until the call ends
  std::unordered_map<PyObject*, PyObject*> exported_at_;
  std::vector<Py_ssize_t> named_;  // references to each of the stand-ins, before
  Py_ssize_t laid_ = 0, before_ = 0, lent_ = 0, references_ = 0;
  std::optional<BegunCall> begun_;
  Owned seldom_;
  Raised raised_;
};

PyObject* run(PyObject* self, Args args, Py_ssize_t n) {
  if (!exact_count(n, 2)) return nullptr;
  const Owned held = Owned::borrow(self);
  return Crossed(self, args[0], args[1]).run();
}

using Held = Holding<CrossingObject, &CrossingObject::function, &CrossingObject::scope,
                     &CrossingObject::cells, &CrossingObject::sync, &CrossingObject::calls,
                     &CrossingObject::classes, &CrossingObject::stand_ins, &CrossingObject::seldom>;

// (function, closed, scope, cells, sync, calls, classes, stand_ins, seldom)
int init(PyObject* self, PyObject* args, PyObject*) {
  CrossingObject& c = as_crossing(self);
  PyObject *function, *scope, *cells, *sync, *calls, *classes, *stand_ins, *seldom;
  int closed = 0;
  if (!PyArg_ParseTuple(args, "OpOO!OOO!O!O", &function, &closed, &scope, &PyList_Type, &cells,
                        &sync, &calls, &PySet_Type, &classes, &PyDict_Type, &stand_ins, &seldom))
    return -1;
  c.closed = static_cast<char>(closed);
  PyObject* const given[] = {function, scope, cells, sync, calls, classes, stand_ins, seldom};
  Held::hold(self, given);
  return 0;
}

PyMethodDef methods[] = {{"takes", c(takes), METH_FASTCALL, nullptr},
                         {"run", c(run), METH_FASTCALL, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_init, slot_of(init)},
                       {Py_tp_dealloc, slot_of(Held::dealloc)},
                       {Py_tp_traverse, slot_of(Held::traverse)},
                       {Py_tp_clear, slot_of(Held::clear)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.Crossing", sizeof(CrossingObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool add_crossing(PyObject* module) {
  maps = PyDict_New();
  return maps && PyModule_AddObjectRef(module, "maps", maps) == 0 && add_type(module, spec);
}

}  // namespace plait::py
