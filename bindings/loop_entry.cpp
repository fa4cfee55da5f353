#include "ndarray.hpp"  // Python's headers first

#include "loop_entry.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include "engine/engine.hpp"
#include "engine/sequential/array_memory.hpp"
#include "functions.hpp"
#include "holding.hpp"
#include "interrupt.hpp"
#include "loop_results.hpp"
#include "loop_span.hpp"
#include "loop_values.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

constexpr double kElement = 4e-9;  // seconds in which an element of a list is carried over and back
constexpr double kMany =
    1 << 16;  // elements, where it is not known how long the loop takes in Python

// Attributes of Python's objects that are asked for in each call.
struct Names {
  PyObject* start = PyUnicode_InternFromString("start");
  PyObject* stop = PyUnicode_InternFromString("stop");
  PyObject* step = PyUnicode_InternFromString("step");
  PyObject* finished = PyUnicode_InternFromString("finished");
  PyObject* told = PyUnicode_InternFromString("told");
};
const Names& asked() {
  static const Names* const all = new Names;
  return *all;
}

struct EntryObject {
  PyObject_HEAD PyObject* held;  // the Python objects of the description
  Description* d;
};
EntryObject* as_entry(PyObject* o) { return reinterpret_cast<EntryObject*>(o); }

// What a run has left: the value of end().
struct DoneObject {
  PyObject_HEAD PyObject* state;
};
PyTypeObject *entry_type, *done_type;
PyObject* nothing;  // an iterator at its end

PyObject* iterate_done(PyObject*) { return Py_NewRef(nothing); }
void dealloc_done(PyObject* self) {
  Py_XDECREF(reinterpret_cast<DoneObject*>(self)->state);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* make_entry(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::unique_ptr<Description> d;
    try {
      d = describe(pb::reinterpret_borrow<pb::dict>(PyTuple_GetItem(args, 0)));
    } catch (pb::error_already_set& e) {
      e.restore();
      throw PythonError{};
    }
    PyObject* const o = check(type->tp_alloc(type, 0));
    as_entry(o)->d = d.release();
    as_entry(o)->held = Py_NewRef(args);
    return o;
  });
}
using EntryHolding = Holding<EntryObject, &EntryObject::held>;
void dealloc_entry(PyObject* self) {
  delete as_entry(self)->d;
  EntryHolding::dealloc(self);
}
PyObject* runs_of(PyObject* self, void*) { return PyLong_FromLongLong(as_entry(self)->d->runs); }
PyObject* each_of(PyObject* self, void*) { return PyFloat_FromDouble(as_entry(self)->d->each); }
int set_each(PyObject* self, PyObject* seconds, void*) {
  const double each = seconds ? PyFloat_AsDouble(seconds) : -1;
  if (PyErr_Occurred()) return -1;
  as_entry(self)->d->each = each;
  return 0;
}

// list_of_rows(rows, address, count): a list of the elements whose words begin there, as
// listed.py's _rows() describes them
PyObject* new_list_of_rows(Exactly<3>& args) {
  const auto address = reinterpret_cast<const std::int64_t*>(PyLong_AsVoidPtr(args[1]));
  const Py_ssize_t count = PyLong_AsSsize_t(args[2]);
  if (PyErr_Occurred()) throw PythonError{};
  return list_of_rows(rows_of(args[0]), address, count);
}
PyMethodDef list_methods[] = {row<new_list_of_rows>("list_of_rows"),
                              {nullptr, nullptr, 0, nullptr}};

PyType_Slot done_slots[] = {
    {Py_tp_dealloc, slot_of(dealloc_done)}, {Py_tp_iter, slot_of(iterate_done)}, {0, nullptr}};
PyType_Spec done_spec = {"plait._plait.LoopDone", sizeof(DoneObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, done_slots};

PyGetSetDef entry_getset[] = {{"runs", runs_of, nullptr, nullptr, nullptr},
                              {"each", each_of, set_each, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot entry_slots[] = {{Py_tp_new, slot_of(make_entry)},
                             {Py_tp_dealloc, slot_of(dealloc_entry)},
                             {Py_tp_traverse, slot_of(EntryHolding::traverse)},
                             {Py_tp_getset, entry_getset},
                             {0, nullptr}};
PyType_Spec entry_spec = {"plait._plait.LoopEntry", sizeof(EntryObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, entry_slots};

}  // namespace

bool is_loop_entry(PyObject* o) { return Py_TYPE(o) == entry_type; }

PyObject* state_behind(PyObject* rest) {
  return Py_TYPE(rest) == done_type ? reinterpret_cast<DoneObject*>(rest)->state : nullptr;
}

std::optional<Range> range_of(PyObject* o) {
  if (Py_TYPE(o) != &PyRange_Type) return std::nullopt;
  Range r;
  PyObject* const names[] = {asked().start, asked().stop, asked().step};
  for (int i = 0; i < 3; ++i) {
    const Owned n(check(PyObject_GetAttr(o, names[i])));
    int over = 0;
    r.bounds[i] = PyLong_AsLongLongAndOverflow(n.get(), &over);
    if (over != 0 || r.bounds[i] < -kFar || r.bounds[i] >= kFar) return std::nullopt;
  }
  return r;
}

namespace {

void place_plaits(const engine::SequentialProgram& program, Memory& arrays,
                  std::optional<engine::ArrayMemory>& memory) {
  std::vector<ir::BufferParam> buffers;
  for (const std::size_t at : arrays.at) buffers.push_back(program.array(at));
  without_gil([&] { memory.emplace(arrays.plaits, buffers); });
  for (std::size_t n = 0; n < arrays.at.size(); ++n)
    arrays.pointers[arrays.at[n]] = memory->pointers()[n];
}

// Runs the code on a call's values; parked: without the GIL. False: arrays overlap. Throws.
bool run_code(const Description& d, Given& g, std::unique_ptr<Heap>& heap, bool parked) {
  const engine::SequentialProgram& program = *d.program;
  try {
    const Drawing drawing(g.bits);
    const LoopSpan span;
    std::optional<engine::ArrayMemory> memory;
    if (!g.arrays.plaits.empty()) place_plaits(program, g.arrays, memory);
    if (!lie_apart(d, g)) return false;
    g.results.resize(program.result_count());
    if (program.uses_heap()) heap = std::make_unique<Heap>();
    std::optional<GilParked> released;
    if (parked) released.emplace();
    program.run({g.arrays.pointers.data(), g.params.data(), g.numbers.data()}, g.results.data(),
                heap.get(), engine::SequentialProgram::Interrupts::Heard);
  } catch (const engine::Interrupted&) {
    const ErrorAside aside;
    give_back(g);
    throw;
  }
  give_back(g);
  return true;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}
}  // namespace

PyObject* run_entry(PyObject* entry, PyObject* loop, PyObject* unbound,
                    const std::optional<Range>& range, PyObject* locals, double each) {
  Description& d = *as_entry(entry)->d;
  if (d.ranged != range.has_value()) return nullptr;
  const std::int64_t count = range ? range->size() : 1;
  if (range) {
    const std::int64_t step = range->bounds[2];
    const std::optional<std::int64_t> usual =
        step == 1 || step == -1 ? std::optional(step) : std::nullopt;
    if (usual != d.step) return nullptr;
    if (d.shared_from >= 0 && count > 1 && engine::num_threads() > 1 &&
        (d.each < 0 || d.each * static_cast<double>(count) >= d.shared_from))
      return nullptr;
  }
  const KeptGiven kept;
  Given& g = *kept;
  g.room = each > 0 ? each * static_cast<double>(count) / kElement : kMany;
  if (!take_all(d, range ? &*range : nullptr, {locals, nullptr}, g)) return nullptr;
  // Loops may run each other's code while the GIL is away, and entries may go.
  const Owned held = Owned::borrow(entry);
  std::unique_ptr<Heap> heap;
  const Clock::time_point begun = Clock::now();
  if (!run_code(d, g, heap, true)) return nullptr;
  const bool told = has_to_tell(g.results.data());
  if (count > 0 && !told) d.each = seconds_since(begun) / static_cast<double>(count);
  ++d.runs;
  if (told) {
    const Owned all = all_results(g, std::move(heap));
    PyObject* args[] = {loop, d.code, all.get()};
    return check(PyObject_VectorcallMethod(asked().finished, args, 3, nullptr));
  }
  Owned state(state_of(d, g, locals, unbound));
  auto* const done = reinterpret_cast<DoneObject*>(check(done_type->tp_alloc(done_type, 0)));
  done->state = state.release();
  return reinterpret_cast<PyObject*>(done);
}

PyObject* run_whole(PyObject* entry, PyObject* body, Arguments args) {
  Description& d = *as_entry(entry)->d;
  const KeptGiven kept;
  Given& g = *kept;
  constexpr Range once{{0, 1, 1}};
  PyObject* const* const given = args.data();
  const bool as_before = dicts_are_as_before(d);
  if (!as_before) look_at_dicts(d);
  if (!take_all(d, &once, {nullptr, given}, g, as_before)) {
    if (!as_before) d.dicts.clear();
    return nullptr;
  }
  if (d.lengths.is_long(g.work)) return nullptr;
  const Owned held = Owned::borrow(entry);
  std::unique_ptr<Heap> heap;
  const bool measured = d.lengths.is_measured(g.work);
  const Clock::time_point begun = measured ? Clock::now() : Clock::time_point();
  // What is short keeps the GIL, as to give it away and to get it back takes as long.
  if (!run_code(d, g, heap, d.lengths.is_new(g.work))) return nullptr;
  if (measured) d.lengths.took(seconds_since(begun), g.work);
  ++d.runs;
  if (!has_to_tell(g.results.data())) return value_of(d, g, given);
  const Owned all = all_results(g, std::move(heap));
  const Owned arguments = tuple_of(args);
  PyObject* told[] = {body, d.code, all.get(), arguments.get()};
  return check(PyObject_VectorcallMethod(asked().told, told, 4, nullptr));
}

bool add_loop_entries(PyObject* module) {
  const Owned empty(PyTuple_New(0));
  nothing = empty ? PyObject_GetIter(empty.get()) : nullptr;
  if (!nothing) return false;
  const Owned end(PyIter_Next(nothing));  // which lets go of the tuple
  done_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&done_spec));
  return done_type && PyModule_AddFunctions(module, list_methods) == 0 &&
         add_type(module, entry_spec, &entry_type);
}

}  // namespace plait::py
