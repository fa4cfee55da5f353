#include "ndarray.hpp"  // Python's headers first

#include <algorithm>
#include <optional>

#include "functions.hpp"
#include "holding.hpp"
#include "jitted.hpp"
#include "loop_entry.hpp"
#include "tracer/device.hpp"
#include "tracer/error_states.hpp"

namespace plait::py {
namespace {

constexpr double kEntry = 1.5e-6;  // seconds that running an entry takes beside the loop

// --- what all calls ask

// Objects of Python's modules, looked up once.
struct Asked {
  PyObject *warnings, *filters, *begin, *ended, *error;
};
const Asked* asked() {
  static const Asked* const all = []() -> const Asked* {
    const auto of = [](const char* module, const char* name) {
      const Owned m(check(PyImport_ImportModule(module)));
      return check(PyObject_GetAttrString(m.get(), name));
    };
    const auto text = [](const char* s) { return check(PyUnicode_InternFromString(s)); };
    return new Asked{of("warnings", "__dict__"), text("filters"), text("begin"), text("ended"),
                     text("error")};
  }();
  return all;
}

bool is_traced() { return PyThreadState_Get()->c_traceobj != nullptr; }  // sys.gettrace()

// Whether NumPy raises nothing, of what loops meet.
bool errors_are_heard() {
  const tracer::ErrorState& s = tracer::recorded_under().state;
  const auto heard = [](tracer::ErrorAction a) {
    return a == tracer::ErrorAction::Warn || a == tracer::ErrorAction::Ignore;
  };
  return heard(s.divide) && heard(s.invalid) && heard(s.over);
}

// Whether a string is that one; such are mostly interned, and then one object or different.
bool is_text(PyObject* string, PyObject* interned) {
  if (string == interned) return true;
  return !PyUnicode_CHECK_INTERNED(string) && PyUnicode_Compare(string, interned) == 0;
}

// Whether a RuntimeWarning may become an error.
bool warnings_may_raise() {
  PyObject* const filters = PyDict_GetItemWithError(asked()->warnings, asked()->filters);
  if (!filters || !PyList_Check(filters)) return true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(filters); ++i) {
    PyObject* const f = PyList_GET_ITEM(filters, i);
    if (!PyTuple_Check(f) || PyTuple_GET_SIZE(f) < 3 || !PyUnicode_Check(PyTuple_GET_ITEM(f, 0)))
      return true;
    if (!is_text(PyTuple_GET_ITEM(f, 0), asked()->error)) continue;
    PyObject* const category = PyTuple_GET_ITEM(f, 2);
    if (!PyType_Check(category) ||
        PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning),
                         reinterpret_cast<PyTypeObject*>(category)))
      return true;
  }
  return false;
}

// --- a loop

struct LoopObject {
  PyObject_HEAD PyObject* unbound;
  LoopEntries entries;
  bool fast, slow;  // the last time: by code that has an entry, or not
  long long naps;   // rounds that it sleeps through: it is not even called
  double each;      // seconds of an iteration in Python; of a `while`, of all that a call makes
};
LoopObject* as_loop(PyObject* o) { return reinterpret_cast<LoopObject*>(o); }
PyTypeObject* loop_type;

Owned locals_of_caller() {
#if PY_VERSION_HEX >= 0x030D0000
  return Owned(check(PyEval_GetFrameLocals()));
#else
  return Owned(check(PyFrame_GetLocals(PyEval_GetFrame())));
#endif
}

PyObject* by_entry(PyObject* self, PyObject* numbers) {
  LoopObject* const loop = as_loop(self);
  std::optional<Range> range;
  if (numbers && !(range = range_of(numbers))) return nullptr;
  if (!loops_may_run()) return nullptr;
  const Owned locals = locals_of_caller();
  PyObject* done = nullptr;
  const auto runs = [&](const Owned& entry) {
    done = run_entry(entry.get(), self, loop->unbound, range, locals.get(), loop->each);
    return done != nullptr;
  };
  loop->entries.find(runs);
  return done;
}

// Nothing, or the numbers that are counted, and what the loop goes over where that is something
// else.
PyObject* call_loop(PyObject* self, PyObject* args, PyObject* named) {
  LoopObject* const loop = as_loop(self);
  if (!loop->entries.empty() && !named && PyTuple_GET_SIZE(args) <= 2) {
    const Py_ssize_t given = PyTuple_GET_SIZE(args);
    PyObject* const numbers = given > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
    if (numbers && PyRange_Check(numbers)) {
      const Py_ssize_t count = PyObject_Size(numbers);
      if (count < 0) PyErr_Clear();  // of more than a size holds
      if (count >= 0 && static_cast<double>(count) * loop->each < kEntry && loop->each > 0) {
        loop->fast = true;  // as long as its code would be in running
        loop->slow = false;
        return Py_NewRef(PyTuple_GET_ITEM(args, given - 1));
      }
    }
    PyObject* const done = guarded([&] { return by_entry(self, numbers); });
    if (done || PyErr_Occurred()) {
      loop->fast = done && state_behind(done);
      loop->slow = !loop->fast;
      return done;
    }
  }
  loop->fast = false;
  loop->slow = true;
  const Owned begin(PyObject_GetAttr(self, asked()->begin));
  return begin ? PyObject_Call(begin.get(), args, named) : nullptr;
}

PyObject* end_loop(PyObject* self, PyObject* rest) {
  if (PyObject* const state = state_behind(rest)) return Py_NewRef(state);
  if (PyRange_Check(rest)) Py_RETURN_NONE;
  return PyObject_CallMethodOneArg(self, asked()->ended, rest);
}

// add_entry(entry)
PyObject* add_entry(PyObject* self, PyObject* entry) {
  if (!is_loop_entry(entry)) return PyErr_Format(PyExc_TypeError, "not a LoopEntry");
  as_loop(self)->entries.add(Owned::borrow(entry));
  Py_RETURN_NONE;
}

// Of a loop that machine code leaves to Python too often.
PyObject* drop_entries(PyObject* self, PyObject*) {
  as_loop(self)->entries.clear();
  Py_RETURN_NONE;
}

// Code that has an entry was run by way of Python.
PyObject* ran_code(PyObject* self, PyObject*) {
  as_loop(self)->fast = true;
  as_loop(self)->slow = false;
  Py_RETURN_NONE;
}

// Whether it is called in this round.
PyObject* is_awake(PyObject* self, void*) {
  LoopObject* const loop = as_loop(self);
  if (loop->naps == 0) Py_RETURN_TRUE;
  --loop->naps;
  loop->fast = false;
  loop->slow = true;
  Py_RETURN_FALSE;
}
PyObject* each_of(PyObject* self, void*) { return PyFloat_FromDouble(as_loop(self)->each); }
int set_each(PyObject* self, PyObject* seconds, void*) {
  const double each = seconds ? PyFloat_AsDouble(seconds) : 0;
  if (PyErr_Occurred()) return -1;
  as_loop(self)->each = each;
  return 0;
}
PyObject* naps_of(PyObject* self, void*) { return PyLong_FromLongLong(as_loop(self)->naps); }
int set_naps(PyObject* self, PyObject* rounds, void*) {
  const long long naps = rounds ? PyLong_AsLongLong(rounds) : 0;
  if (PyErr_Occurred()) return -1;
  as_loop(self)->naps = naps;
  return 0;
}

PyObject* make_loop(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  new (&as_loop(o)->entries) LoopEntries;
  as_loop(o)->unbound = PyObject_GetAttrString(o, "unbound");
  if (as_loop(o)->unbound) return o;
  Py_DECREF(o);
  return nullptr;
}
using LoopHolding = Holding<LoopObject, &LoopObject::unbound>;
int traverse_loop(PyObject* self, visitproc visit, void* arg) {
  for (const Owned& entry : as_loop(self)->entries) Py_VISIT(entry.get());
  return LoopHolding::traverse(self, visit, arg);
}
int clear_loop(PyObject* self) {
  as_loop(self)->entries.clear();
  return LoopHolding::clear(self);
}
void dealloc_loop(PyObject* self) {
  PyObject_GC_UnTrack(self);
  as_loop(self)->entries.~LoopEntries();
  LoopHolding::dealloc(self);
}

// --- a function

PyTypeObject* direct_type;
struct DirectObject {
  PyObject_HEAD PyObject* function;
  PyObject* loops;        // tuple, the outermost
  std::uint64_t numbers;  // bits: arguments that are no arrays
};
DirectObject* as_direct(PyObject* o) { return reinterpret_cast<DirectObject*>(o); }

bool crosses(PyObject* x, bool number);

// Elements of a list that are looked at: of more it takes longer than to go over the rest.
constexpr Py_ssize_t kLong = 1 << 12;

// Whether a list or a tuple has numbers alone; rows: or lists and tuples of such.
bool is_of_numbers(PyObject* list, bool rows) {
  PyObject** const items = PySequence_Fast_ITEMS(list);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  return count <= kLong && std::all_of(items, items + count, [&](PyObject* x) {
           const bool row = PyList_CheckExact(x) || PyTuple_CheckExact(x);
           return row ? rows && is_of_numbers(x, false) : crosses(x, true);
         });
}

// Whether an argument is what NumPy and Plait take alike, and holds nothing else.
bool crosses(PyObject* x, bool number) {
  if (PyArray_CheckExact(x)) return !number;
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return !number && is_of_numbers(x, true);
  return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || x == Py_None ||
         PyComplex_CheckExact(x) ||
         (PyArray_IsScalar(x, Generic) && !PyArray_IsScalar(x, Object) &&
          !PyArray_IsScalar(x, Void));
}

// Whether the function may run on the arguments.
bool runs_on(const DirectObject& direct, Arguments args) {
  bool fast = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(direct.loops); ++i) {
    const LoopObject& loop = *as_loop(PyTuple_GET_ITEM(direct.loops, i));
    if (loop.slow) return false;
    fast |= loop.fast;
  }
  if (!fast || in_jit() || default_dtype_differs() || tracer::current_device() != kHost)
    return false;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (i >= 64 || !crosses(args[i], direct.numbers >> i & 1)) return false;
  return true;
}

PyObject* takes(PyObject* self, PyObject* args) {
  return PyBool_FromLong(
      runs_on(*as_direct(self),
              {PySequence_Fast_ITEMS(args), static_cast<std::size_t>(PyTuple_GET_SIZE(args))}));
}

PyObject* make_direct(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *function, *loops;
  unsigned long long numbers;
  if (!PyArg_ParseTuple(args, "OO!K", &function, &PyTuple_Type, &loops, &numbers)) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(loops); ++i)
    if (!PyObject_TypeCheck(PyTuple_GET_ITEM(loops, i), loop_type))
      return PyErr_Format(PyExc_TypeError, "not a LoopCall");
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  as_direct(o)->function = Py_NewRef(function);
  as_direct(o)->loops = Py_NewRef(loops);
  as_direct(o)->numbers = numbers;
  return o;
}
using DirectHolding = Holding<DirectObject, &DirectObject::function, &DirectObject::loops>;
PyObject* function_of(PyObject* self, void*) { return Py_NewRef(as_direct(self)->function); }

PyMethodDef loop_methods[] = {{"end", c(end_loop), METH_O, nullptr},
                              {"add_entry", c(add_entry), METH_O, nullptr},
                              {"drop_entries", c(drop_entries), METH_NOARGS, nullptr},
                              {"ran_code", c(ran_code), METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyGetSetDef loop_getset[] = {{"awake", is_awake, nullptr, nullptr, nullptr},
                             {"naps", naps_of, set_naps, nullptr, nullptr},
                             {"each", each_of, set_each, nullptr, nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot loop_slots[] = {{Py_tp_new, slot_of(make_loop)},
                            {Py_tp_call, slot_of(call_loop)},
                            {Py_tp_dealloc, slot_of(dealloc_loop)},
                            {Py_tp_traverse, slot_of(traverse_loop)},
                            {Py_tp_clear, slot_of(clear_loop)},
                            {Py_tp_methods, loop_methods},
                            {Py_tp_getset, loop_getset},
                            {0, nullptr}};
PyType_Spec loop_spec = {"plait._plait.LoopCall", sizeof(LoopObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, loop_slots};

PyMethodDef direct_methods[] = {{"takes", c(takes), METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef direct_getset[] = {{"function", function_of, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot direct_slots[] = {{Py_tp_new, slot_of(make_direct)},
                              {Py_tp_dealloc, slot_of(DirectHolding::dealloc)},
                              {Py_tp_traverse, slot_of(DirectHolding::traverse)},
                              {Py_tp_clear, slot_of(DirectHolding::clear)},
                              {Py_tp_methods, direct_methods},
                              {Py_tp_getset, direct_getset},
                              {0, nullptr}};
PyType_Spec direct_spec = {"plait._plait.DirectCall", sizeof(DirectObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, direct_slots};

}  // namespace

bool loops_may_run() { return !is_traced() && errors_are_heard() && !warnings_may_raise(); }

LoopEntries& entries_of(PyObject* loop) { return as_loop(loop)->entries; }

bool is_direct_call(PyObject* o) { return Py_TYPE(o) == direct_type; }
PyObject* directly(PyObject* direct, Arguments args) {
  return runs_on(*as_direct(direct), args) ? as_direct(direct)->function : nullptr;
}

bool is_loop_call(PyObject* o) { return PyObject_TypeCheck(o, loop_type); }

bool add_loop_calls(PyObject* module) {
  return add_type(module, loop_spec, &loop_type) && add_type(module, direct_spec, &direct_type);
}

}  // namespace plait::py
