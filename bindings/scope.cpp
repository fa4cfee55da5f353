#include "scope.hpp"  // Python's headers first

#include <structmember.h>

#include <cstdint>
#include <unordered_map>

#include "functions.hpp"
#include "holding.hpp"

namespace plait::py {
namespace {

// A number that is another one after each change of a dict; it lives as long as the dict.
const std::uint64_t* changes_of(PyObject* dict) {
#if PY_VERSION_HEX >= 0x030C0000
  static auto& counts = *new std::unordered_map<PyObject*, std::uint64_t>;
  static const int watcher =
      PyDict_AddWatcher([](PyDict_WatchEvent event, PyObject* d, PyObject*, PyObject*) {
        if (event == PyDict_EVENT_DEALLOCATED)
          counts.erase(d);
        else
          ++counts[d];
        return 0;
      });
  check(watcher);
  check(PyDict_Watch(watcher, dict));
  return &counts[dict];
#else
  return &reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#endif
}

struct ScopeObject {
  PyDictObject dict;
  PyObject* module;    // the dict beneath
  PyObject* builtins;  // the dict of those
  PyObject* known;   // dict: name -> (what the module had, or `missing`; what was put here for it)
  PyObject* stored;  // list: the names that functions assign or delete
  PyObject* plain;   // set: classes of which no instance is replaced
  PyObject* missing;
  PyObject* filled;  // set: names that stand here whatever they are
  char everything;   // so do all of the module's
  Py_ssize_t calls;  // of jitted functions of the module
  const std::uint64_t *own_changes, *module_changes, *builtin_changes;
  std::uint64_t own_seen, module_seen, builtins_seen;  // when both sides were the same last
  std::uint64_t own_written;  // when write_through() wrote last what functions assign
  bool within;  // another scope, of which the function that was jitted is one, is what is beneath
};
ScopeObject& as_scope(PyObject* o) { return *reinterpret_cast<ScopeObject*>(o); }
PyTypeObject* scope_type;

PyObject* in_dict(PyObject* dict, PyObject* name) {  // borrowed
  PyObject* const found = PyDict_GetItemWithError(dict, name);
  if (!found && PyErr_Occurred()) throw PythonError{};
  return found;
}

Owned beneath(const ScopeObject& s, PyObject* name) {
  if (!s.within) return Owned::borrow(in_dict(s.module, name));
  Owned found(PyObject_GetItem(s.module, name));
  if (!found && !PyErr_ExceptionMatches(PyExc_KeyError)) throw PythonError{};
  PyErr_Clear();
  return found;
}

bool module_is_as_seen(const ScopeObject& s) {
  return *s.module_changes == s.module_seen && !s.within;
}

// Whether all names that stand here, or are to, mean in the module what they meant; sees the module
// then, of which other names have changed.
bool names_are_as_seen(PyObject* self) {
  ScopeObject& s = as_scope(self);
  if (*s.own_changes != s.own_seen) return false;
  if (module_is_as_seen(s)) return true;
  if (s.within || s.everything || PyList_GET_SIZE(s.stored) > 0) return false;
  PyObject *name, *entry;
  for (Py_ssize_t at = 0; PyDict_Next(s.known, &at, &name, &entry);) {
    PyObject* const theirs = in_dict(s.module, name);
    if (PyTuple_GET_ITEM(entry, 0) != (theirs ? theirs : s.missing)) return false;
  }
  const Owned names(check(PyObject_GetIter(s.filled)));
  while (const Owned filled{PyIter_Next(names.get())})
    if (!in_dict(s.known, filled.get()) && in_dict(s.module, filled.get())) return false;
  s.module_seen = *s.module_changes;
  return true;
}

// What functions assigned or deleted goes to the module.
void write_through(PyObject* self) {
  ScopeObject& s = as_scope(self);
  if (*s.own_changes == s.own_written) return;
  const bool as_seen = module_is_as_seen(s);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(s.stored); ++i) {
    const Owned name = Owned::borrow(PyList_GET_ITEM(s.stored, i));
    const Owned own = Owned::borrow(in_dict(self, name.get()));
    PyObject* const entry = in_dict(s.known, name.get());
    if (own && (!entry || PyTuple_GET_ITEM(entry, 1) != own.get())) {
      const Owned both(check(PyTuple_Pack(2, own.get(), own.get())));
      check(PyDict_SetItem(s.known, name.get(), both.get()));
      check(PyDict_SetItem(s.module, name.get(), own.get()));
    } else if (!own && entry) {
      check(PyDict_DelItem(s.known, name.get()));
      if (in_dict(s.module, name.get())) check(PyDict_DelItem(s.module, name.get()));
    }
  }
  s.own_written = *s.own_changes;
  if (as_seen) s.module_seen = *s.module_changes;
}

// Whether what is here is the function's own, or stands for what the module still has.
bool holds(const ScopeObject& s, PyObject* name, PyObject* own) {
  if (module_is_as_seen(s)) return true;
  PyObject* const entry = in_dict(s.known, name);
  if (!entry || PyTuple_GET_ITEM(entry, 1) != own) return true;
  const Owned theirs = beneath(s, name);
  return PyTuple_GET_ITEM(entry, 0) == (theirs ? theirs.get() : s.missing);
}

// No look-up of a name issues the warnings that are collected meanwhile, as guarded() does.
PyObject* subscript(PyObject* self, PyObject* name) try {
  const ScopeObject& s = as_scope(self);
  write_through(self);
  if (PyObject* const own = in_dict(self, name)) {
    Owned held = Owned::borrow(own);
    if (holds(s, name, own)) return held.release();
  } else {
    Owned theirs = beneath(s, name);
    auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(theirs ? theirs.get() : Py_None));
    const int plain = theirs ? PySet_Contains(s.plain, type) : 0;
    check(plain);
    if (plain) return theirs.release();
  }
  static PyObject* const found = PyUnicode_InternFromString("found");
  return PyObject_CallMethodOneArg(self, found, name);
} catch (...) {
  set_python_error();
  return nullptr;
}

PyObject* write_through_method(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    write_through(self);
    return Py_NewRef(Py_None);
  });
}

// changed(): what is not as it was when look() was called last: bits, of this dict or the module,
// and of the builtins.
constexpr long kNames = 1, kBuiltins = 2;
PyObject* changed(PyObject* self, PyObject*) {
  return guarded([&] {
    const ScopeObject& s = as_scope(self);
    const bool builtins = *s.builtin_changes != s.builtins_seen;
    const bool names = builtins || !names_are_as_seen(self);
    return PyLong_FromLong((names ? kNames : 0) | (builtins ? kBuiltins : 0));
  });
}

// differing(): the names that stand for what the module, or the builtins, have no longer, that
// functions assign or have assigned, or that are no longer here.
PyObject* differing(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const ScopeObject& s = as_scope(self);
    Owned names(check(PyList_New(0)));
    const auto differs = [&](PyObject* name, PyObject* own) {
      PyObject* const entry = in_dict(s.known, name);
      if (!entry || PyTuple_GET_ITEM(entry, 1) != own) return true;
      const int stored = PySequence_Contains(s.stored, name);
      check(stored);
      if (stored) return true;
      const Owned theirs = beneath(s, name);
      if (PyTuple_GET_ITEM(entry, 0) != (theirs ? theirs.get() : s.missing)) return true;
      return !theirs && *s.builtin_changes != s.builtins_seen && in_dict(s.builtins, name) != own;
    };
    const Owned items(check(PyDict_Items(self))), known(check(PyDict_Keys(s.known)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* const item = PyList_GET_ITEM(items.get(), i);
      if (differs(PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1)))
        check(PyList_Append(names.get(), PyTuple_GET_ITEM(item, 0)));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(known.get()); ++i)
      if (PyObject* const name = PyList_GET_ITEM(known.get(), i); !in_dict(self, name))
        check(PyList_Append(names.get(), name));
    return names.release();
  });
}
PyObject* look(PyObject* self, PyObject*) {
  ScopeObject& s = as_scope(self);
  s.own_seen = *s.own_changes;
  s.module_seen = *s.module_changes;
  s.builtins_seen = *s.builtin_changes;
  Py_RETURN_NONE;
}

// (module, builtins, missing)
int init(PyObject* self, PyObject* args, PyObject*) {
  ScopeObject& s = as_scope(self);
  PyObject *module, *builtins, *missing;
  if (!PyArg_ParseTuple(args, "O!O!O", &PyDict_Type, &module, &PyDict_Type, &builtins, &missing))
    return -1;
  return guarded_int([&] {
    s.own_changes = changes_of(self);
    s.module_changes = changes_of(module);
    s.builtin_changes = changes_of(builtins);
    s.known = check(PyDict_New());
    s.stored = check(PyList_New(0));
    s.plain = check(PySet_New(nullptr));
    s.filled = check(PySet_New(nullptr));
    s.module = Py_NewRef(module);
    s.builtins = Py_NewRef(builtins);
    s.missing = Py_NewRef(missing);
    s.within = PyObject_TypeCheck(module, scope_type);
    return 0;
  });
}
using Held =
    Holding<ScopeObject, &ScopeObject::module, &ScopeObject::builtins, &ScopeObject::known,
            &ScopeObject::stored, &ScopeObject::plain, &ScopeObject::missing, &ScopeObject::filled>;
int traverse(PyObject* self, visitproc visit, void* arg) {
  const int stopped = Held::traverse(self, visit, arg);
  return stopped ? stopped : PyDict_Type.tp_traverse(self, visit, arg);
}
int clear(PyObject* self) {
  Held::clear(self);
  return PyDict_Type.tp_clear(self);
}
void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Held::clear(self);
  PyObject_GC_Track(self);  // as dict's own expects it
  PyDict_Type.tp_dealloc(self);
  Py_DECREF(type);
}

PyMemberDef scope_members[] = {
    {"module_globals", T_OBJECT, offsetof(ScopeObject, module), READONLY, nullptr},
    {"known", T_OBJECT, offsetof(ScopeObject, known), READONLY, nullptr},
    {"stored", T_OBJECT, offsetof(ScopeObject, stored), READONLY, nullptr},
    {"plain", T_OBJECT, offsetof(ScopeObject, plain), READONLY, nullptr},
    {"filled", T_OBJECT, offsetof(ScopeObject, filled), READONLY, nullptr},
    {"everything", T_BOOL, offsetof(ScopeObject, everything), 0, nullptr},
    {"calls", T_PYSSIZET, offsetof(ScopeObject, calls), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef scope_methods[] = {{"write_through", write_through_method, METH_NOARGS, nullptr},
                               {"changed", changed, METH_NOARGS, nullptr},
                               {"differing", differing, METH_NOARGS, nullptr},
                               {"look", look, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot scope_slots[] = {{Py_tp_base, &PyDict_Type},
                             {Py_tp_init, slot_of(init)},
                             {Py_tp_dealloc, slot_of(dealloc)},
                             {Py_tp_traverse, slot_of(traverse)},
                             {Py_tp_clear, slot_of(clear)},
                             {Py_mp_subscript, slot_of(subscript)},
                             {Py_tp_members, scope_members},
                             {Py_tp_methods, scope_methods},
                             {0, nullptr}};
PyType_Spec scope_spec = {"plait._plait.Scope", sizeof(ScopeObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                          scope_slots};

}  // namespace

PyObject* in_scope(PyObject* scope, PyObject* name) {
  PyObject* const own = in_dict(scope, name);
  return own && PyObject_TypeCheck(scope, scope_type) && !holds(as_scope(scope), name, own)
             ? nullptr
             : own;
}

bool scope_has_changed(PyObject* scope) {
  if (scope == Py_None) return false;
  const ScopeObject& s = as_scope(scope);
  return *s.builtin_changes != s.builtins_seen || !names_are_as_seen(scope);
}

bool is_scope(PyObject* o) { return PyObject_TypeCheck(o, scope_type); }
void count_call(PyObject* scope) { ++as_scope(scope).calls; }

bool add_scope(PyObject* module) { return add_type(module, scope_spec, &scope_type); }

}  // namespace plait::py
