#include "replay.hpp"

#include <algorithm>
#include <mutex>

#include "core/config.hpp"
#include "engine/plans/seen_calls.hpp"
#include "functions.hpp"
#include "holding.hpp"
#include "kept_call.hpp"
#include "tracer/at_once.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

#include <structmember.h>

namespace plait::py {

namespace {

using engine::CapturedCall;
using SeenCalls = engine::SeenCalls<CallKey>;
using KeptCalls = engine::CallCache<std::shared_ptr<Kept>, engine::kKeptCalls>;

// Arrays of a call: more are not worth a key.
constexpr std::size_t kMostArrays = 256;

// A call that is being watched, in this thread.
struct Watched {
  Watched(PyObject* f, std::shared_ptr<SeenCalls::Seen> s, CallKey k)
      : function(f), seen(std::move(s)), key(std::move(k)) {}
  PyObject* function;
  std::shared_ptr<SeenCalls::Seen> seen;
  CallKey key;
  std::vector<Owned> given;           // all arguments, as the caller gave them
  std::vector<Owned> theirs;          // the arrays among them
  std::vector<PyObject*> ours;        // and as the function has them
  std::vector<PyObject*> containers;  // lists and dicts that the function got
  std::vector<CapturedCall::Argument> arguments;
  std::vector<NumpysOutside> outside;
  std::optional<tracer::Capture> capture;
};
thread_local std::unique_ptr<Watched> watched;

struct ReplayedObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* miss;  // makes the call by the function: its arguments are the call's
  PyObject* dict;
  PyObject* weakrefs;
  KeptCalls kept;
  SeenCalls seen;
};
ReplayedObject* as_replayed(PyObject* o) { return reinterpret_cast<ReplayedObject*>(o); }

// Whether this thread's calls may be kept and run from what is kept.
bool possible() {
  return config().fuse && !tracer::eager_errors() && !tracer::everything_recorded() &&
         !default_dtype_differs() && tracer::current_device() <= kHost;
}

// --- the end of a watched call

class Results {
 public:
  explicit Results(const Watched& w) : watched_(w) {}
  std::vector<tracer::Array> arrays;
  const char* obstacle = nullptr;

  Returned add(PyObject* o) {
    Returned r{};
    if (PyList_CheckExact(o) || PyDict_CheckExact(o)) {
      if (std::ranges::find(watched_.containers, o) != watched_.containers.end())
        obstacle = "it returns a list or a dict of its arguments";
      if (std::ranges::find(open_, o) != open_.end()) {
        obstacle = "it returns a list or a dict that holds itself";
        return r;
      }
    }
    for (std::size_t i = 0; i < watched_.ours.size(); ++i)
      if (watched_.ours[i] == o) {
        r.kind = Returned::Kind::Argument;
        r.number = i;
        return r;
      }
    open_.push_back(o);
    if (Py_TYPE(o) == array_type && !as_array(o)->host) {
      r.kind = Returned::Kind::Array;
      r.number = arrays.size();
      arrays.push_back(as_array(o)->array);
    } else if (is_lazy(o)) {
      r.kind = Returned::Kind::Scalar;
      r.number = arrays.size();
      arrays.push_back(as_lazy(o)->array);
    } else if (PyTuple_CheckExact(o) || PyList_CheckExact(o) ||
               (PyTuple_Check(o) && PyObject_HasAttrString(o, "_fields"))) {
      r.kind = PyTuple_CheckExact(o)  ? Returned::Kind::Tuple
               : PyList_CheckExact(o) ? Returned::Kind::List
                                      : Returned::Kind::NamedTuple;
      r.value = Owned::borrow(reinterpret_cast<PyObject*>(Py_TYPE(o)));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
        r.items.push_back(add(PySequence_Fast_GET_ITEM(o, i)));
    } else if (PyDict_CheckExact(o)) {
      r.kind = Returned::Kind::Dict;
      const Owned names(check(PyDict_Keys(o)));
      r.value = Owned(check(PySequence_Tuple(names.get())));
      Py_ssize_t at = 0;
      PyObject *name, *item;
      while (PyDict_Next(o, &at, &name, &item)) r.items.push_back(add(item));
    } else {
      r.kind = Returned::Kind::Constant;
      r.value = Owned::borrow(o);
      if (o != Py_None && !PyBool_Check(o) && !PyLong_CheckExact(o) && !PyFloat_CheckExact(o) &&
          !PyComplex_CheckExact(o) && !PyUnicode_CheckExact(o) && !PyBytes_CheckExact(o) &&
          !PyArray_IsScalar(o, Generic) && !PyArray_DescrCheck(o) && !PyType_Check(o))
        obstacle = "it returns an object that is neither an array nor a number";
    }
    open_.pop_back();
    return r;
  }

 private:
  const Watched& watched_;
  std::vector<PyObject*> open_;  // what the object at hand is in
};

// --- calls

PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  ReplayedObject& f = *as_replayed(self);
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  bool missed = true;
  PyObject* made = nullptr;
  if (!f.kept.empty() && !in_jit())
    made = guarded([&]() -> PyObject* {
      if (!possible()) return nullptr;
      PyObject* given[kMostArrays];
      const std::shared_ptr<Kept> k =
          f.kept.find([&](const auto& known) { return known->key.matches(args, n, names, given); });
      if (!k) return nullptr;
      // Lists may change while the GIL is away.
      std::vector<Owned> hold;
      hold.reserve(k->key.size());
      for (std::size_t i = 0; i < k->key.size(); ++i) hold.push_back(Owned::borrow(given[i]));
      missed = false;
      PyObject* const result = run_kept(*k, given);
      missed = !result && !PyErr_Occurred();
      return result;
    });
  if (!missed || made || PyErr_Occurred()) return made;
  return PyObject_Vectorcall(f.miss, args, nargsf, names);
}

// --- watching a call

// The arrays in the arguments of the function, in the order of those in the caller's.
std::vector<PyObject*> arrays_in(PyObject* args, PyObject* named) {
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args); ++i)
    ArgumentKey(PySequence_Fast_GET_ITEM(args, i), found);
  Py_ssize_t at = 0;
  PyObject *name, *item;
  while (PyDict_Next(named, &at, &name, &item)) ArgumentKey(item, found);
  return found;
}

// The lists and dicts among the arguments of the function.
void add_containers(PyObject* o, std::vector<PyObject*>& found) {
  if (PyDict_CheckExact(o)) {
    found.push_back(o);
    Py_ssize_t at = 0;
    PyObject *name, *item;
    while (PyDict_Next(o, &at, &name, &item)) add_containers(item, found);
  } else if (PyList_CheckExact(o) || PyTuple_Check(o)) {
    if (!PyTuple_Check(o)) found.push_back(o);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      add_containers(PySequence_Fast_GET_ITEM(o, i), found);
  }
}

// Whether the storage of a borrowed array begins where the first of the call's arrays in it does:
// somebody else's borrowing of the same memory, which is larger, may be under way.
bool is_borrowed_whole(const Watched& w, const tracer::Array& a) {
  if (a.size() == 0) return true;
  const tracer::Node& n = *a.storage->version;
  if (!a.storage->borrowed || !n.data) return false;
  for (std::size_t i = 0; i < w.ours.size(); ++i)
    if (is_array(w.ours[i]) && as_array(w.ours[i])->array.storage == a.storage &&
        reinterpret_cast<std::byte*>(
            PyArray_BYTES(reinterpret_cast<PyArrayObject*>(w.theirs[i].get()))) +
                w.key[i].first ==
            n.data->data)
      return true;
  return false;
}

// begin(args, kwargs, list of the function's, dict of those by name): None, or why the call cannot
// be kept; "" where another could.
PyObject* begin(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (!exact_count(n, 4)) return nullptr;
  return guarded([&]() -> PyObject* {
    if (tracer::current_device() > kHost) return PyUnicode_FromString("it runs on a device");
    if (!possible() || watched) return PyUnicode_FromString("");
    std::vector<PyObject*> flat;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i)
      flat.push_back(PyTuple_GET_ITEM(args[0], i));
    const auto positional = static_cast<Py_ssize_t>(flat.size());
    const Owned keys(check(PyDict_Keys(args[1]))), names(check(PySequence_Tuple(keys.get())));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i)
      flat.push_back(PyDict_GetItem(args[1], PyTuple_GET_ITEM(names.get(), i)));
    try {
      std::vector<PyObject*> theirs;
      for (PyObject* o : flat) ArgumentKey(o, theirs);
      for (PyObject* o : theirs)
        if (is_array(o) && !as_array(o)->host) force(as_array(o)->array);
      if (theirs.size() > kMostArrays) return PyUnicode_FromString("it has too many arrays");
      const auto make_key = [&] { return CallKey(flat.data(), positional, names.get()); };
      auto seen = as_replayed(self)->seen.to_watch(
          [&](const CallKey& k) {
            PyObject* arrays[kMostArrays];
            return k.matches(flat.data(), positional, names.get(), arrays);
          },
          make_key);
      if (!seen) return PyUnicode_FromString("");
      auto w = std::make_unique<Watched>(self, std::move(seen), make_key());
      for (PyObject* o : flat) w->given.push_back(Owned::borrow(o));
      for (PyObject* o : w->key.found()) w->theirs.push_back(Owned::borrow(o));
      w->ours = arrays_in(args[2], args[3]);
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[2]); ++i)
        add_containers(PySequence_Fast_GET_ITEM(args[2], i), w->containers);
      Py_ssize_t at = 0;
      PyObject *name, *item;
      while (PyDict_Next(args[3], &at, &name, &item)) add_containers(item, w->containers);
      std::vector<tracer::Array> arrays;
      const std::lock_guard held(tracer::lock());
      for (std::size_t i = 0; i < w->ours.size(); ++i) {
        if (Py_TYPE(w->ours[i]) != array_type || as_array(w->ours[i])->host)
          return PyUnicode_FromString("");
        const tracer::Array& a = as_array(w->ours[i])->array;
        const tracer::Node& node = *a.storage->version;
        if (w->key.numpys() && !is_borrowed_whole(*w, a)) return PyUnicode_FromString("");
        arrays.push_back(a);
        w->arguments.push_back({a, &node});
      }
      w->capture.emplace(arrays);
      watched = std::move(w);
      return Py_NewRef(Py_None);
    } catch (const ArgumentKey::Unknown& u) {
      if (!u.what) return PyUnicode_FromString("");
      return PyUnicode_FromFormat("an argument is of a kind that is not compared: %s", u.what);
    }
  });
}

// end(result): as begin(). Without a result the call is forgotten.
PyObject* end(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    if (!watched || watched->function != self) return Py_NewRef(Py_None);
    const std::unique_ptr<Watched> w = std::move(watched);
    w->capture->end();
    if (n == 0) return Py_NewRef(Py_None);
    Results results(*w);
    Returned returned = results.add(args[0]);
    const char* why = results.obstacle;
    if (!w->key.arguments_match(w->given))
      why = "it changes an object among its arguments, or a list or a dict in one";
    std::shared_ptr<CapturedCall> made;
    if (!why) {
      std::vector<CapturedCall::Outside> outside;
      for (const NumpysOutside& o : w->outside) outside.push_back({o.node});
      const std::lock_guard held(tracer::lock());
      made = CapturedCall::make(*w->capture, w->arguments, outside, results.arrays, w->seen->plan,
                                why);
    }
    if (!made) return PyUnicode_FromString(why);
    as_replayed(self)->seen.forget(w->seen);
    as_replayed(self)->kept.add(std::make_shared<Kept>(
        Kept{std::move(w->key), std::move(w->outside), std::move(made), std::move(returned)}));
    return Py_NewRef(Py_None);
  });
}

PyObject* kept_calls(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(as_replayed(self)->kept.size());
}
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* miss;
  if (!PyArg_ParseTuple(args, "O", &miss)) return nullptr;
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  ReplayedObject* const f = as_replayed(o);
  f->call = call;
  f->miss = Py_NewRef(miss);
  new (&f->kept) KeptCalls;
  new (&f->seen) SeenCalls;
  return o;
}

using Held = Holding<ReplayedObject, &ReplayedObject::miss, &ReplayedObject::dict>;
void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  ReplayedObject* const f = as_replayed(self);
  if (f->weakrefs) PyObject_ClearWeakRefs(self);
  Held::clear(self);
  f->kept.~KeptCalls();
  f->seen.~SeenCalls();
  Held::dealloc(self);
}
PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyMethodDef methods[] = {{"_begin", c(begin), METH_FASTCALL, nullptr},
                         {"_end", c(end), METH_FASTCALL, nullptr},
                         {"_kept", kept_calls, METH_NOARGS, nullptr},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ReplayedObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(ReplayedObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ReplayedObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, slot_of(make)},
                       {Py_tp_call, slot_of(PyVectorcall_Call)},
                       {Py_tp_dealloc, slot_of(dealloc)},
                       {Py_tp_traverse, slot_of(Held::traverse)},
                       {Py_tp_clear, slot_of(Held::clear)},
                       {Py_tp_descr_get, slot_of(bind_method)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, getset},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.replayed", sizeof(ReplayedObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

}  // namespace

void note_numpys(PyArrayObject* array, const tracer::Node* node) {
  if (!watched) return;
  auto* const o = reinterpret_cast<PyObject*>(array);
  watched->outside.push_back({Owned::borrow(o), node, array_key(o)});
}

namespace {
PyObject* obstruct(PyObject* why) {  // text: a string that lives on
  if (tracer::capture()) tracer::obstruct_capture(PyUnicode_AsUTF8(PyUnicode_FromObject(why)));
  return Py_NewRef(Py_None);
}
PyMethodDef functions[] = {
    row<obstruct>("obstruct_capture", "says why a call that is watched for replay cannot be kept"),
    {nullptr, nullptr, 0, nullptr}};
}  // namespace

bool add_replayed(PyObject* module) {
  return add_type(module, spec) && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace plait::py
