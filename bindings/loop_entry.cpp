#include "ndarray.hpp"  // Python's headers first

#include "loop_entry.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "functions.hpp"
#include "procedure.hpp"
#include "scope.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

// Counters of loops are that far from the ends of int64, so that they need no check.
constexpr std::int64_t kFar = std::int64_t{1} << 62;

// Attributes of Python's objects that are asked for in each call.
struct Names {
  PyObject* start = PyUnicode_InternFromString("start");
  PyObject* stop = PyUnicode_InternFromString("stop");
  PyObject* step = PyUnicode_InternFromString("step");
  PyObject* finished = PyUnicode_InternFromString("finished");
};
const Names& asked() {
  static const Names* const all = new Names;
  return *all;
}

// --- one version of a loop's code

// Where a name is looked up: in this order, where each is not null.
struct Place {
  PyObject* name;
  bool local;
  PyObject *cell, *scope, *module, *builtins;
};

struct Input {
  enum class Kind { Object, Class, Missing, Number, Array } kind;
  Place place;
  PyObject *object, *beneath;  // what it is, and what it is without what stands for NumPy's
  PyTypeObject* type;          // Class, Number
  DType dtype;
  int ndim;
  bool packed, written, counter;
};

struct Output {
  enum class Kind { Variable, Returns, Returned } kind;
  Py_ssize_t at;  // of the variables; of the parts of what is returned
  bool tagged;
  PyTypeObject* type;
  DType dtype;
};

struct Description {
  const Procedure* procedure;
  PyObject* code;  // Python's, which has the rest where it goes on in Python
  std::optional<std::int64_t> step;
  bool ranged;
  bool makes_floats;   // arrays of the default dtype
  double shared_from;  // seconds from which threads share it; negative where they never do
  double each = -1;    // seconds of an iteration; negative where that is not known
  std::vector<Input> inputs;
  std::size_t arrays = 0, numbers = 0;
  std::vector<std::pair<std::size_t, std::size_t>> apart;
  std::vector<PyObject*> stored;
  std::vector<Output> outputs;
  std::vector<std::pair<PyTypeObject*, DType>> classes;  // by tag
  Py_ssize_t returned = 0;  // parts of a tuple or a list; -1: the value itself; -2: None
  bool listed = false;      // a list
  std::int64_t runs = 0;
};

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

PyObject* in_dict(PyObject* dict, PyObject* name) {  // borrowed
  PyObject* const found = dict ? PyDict_GetItemWithError(dict, name) : nullptr;
  if (!found && PyErr_Occurred()) throw PythonError{};
  return found;
}

struct Found {
  PyObject *value, *beneath;  // borrowed; beneath: of the module or the builtins
  bool own;                   // of the function or a cell
};
Found look_up(const Place& p, PyObject* locals) {
  if (p.local)
    if (PyObject* const x = in_dict(locals, p.name)) return {x, nullptr, true};
  if (p.cell) return {PyCell_GET(p.cell), nullptr, true};
  PyObject* const stands = p.scope ? in_scope(p.scope, p.name) : nullptr;
  PyObject* beneath = in_dict(p.module, p.name);
  if (!beneath) beneath = in_dict(p.builtins, p.name);
  return {stands ? stands : beneath, beneath, false};
}

// A call's values.
struct Given {
  std::vector<Scalar> numbers;
  Procedure::Memory arrays;
  std::vector<std::int64_t> params;
  std::vector<std::int64_t> first, last;  // bytes that an array spans, from its first element
  std::vector<Owned> held;
  std::vector<Scalar> results;

  void clear() {
    for (auto* const all : {&numbers, &results}) all->clear();
    for (auto* const all : {&params, &first, &last}) all->clear();
    arrays.pointers.clear();
    arrays.plaits.clear();
    arrays.at.clear();
    held.clear();
  }
};

// Where short loops are run often, their memory is kept. A run inside another has memory of its
// own.
class KeptGiven {
 public:
  KeptGiven() : given_(std::move(kept)) {
    if (!given_) given_ = std::make_unique<Given>();
  }
  ~KeptGiven() {
    given_->clear();  // which may run whatever code
    kept = std::move(given_);
  }
  KeptGiven(const KeptGiven&) = delete;
  KeptGiven& operator=(const KeptGiven&) = delete;
  Given& operator*() const { return *given_; }

 private:
  static thread_local std::unique_ptr<Given> kept;
  std::unique_ptr<Given> given_;
};
thread_local std::unique_ptr<Given> KeptGiven::kept;

bool take_number(const Input& in, PyObject* x, Given& g) {
  if (Py_TYPE(x) != in.type) return false;
  Scalar s;
  s.dtype = in.dtype;
  if (in.type == &PyLong_Type) {
    int over = 0;
    const std::int64_t v = PyLong_AsLongLongAndOverflow(x, &over);
    if (over != 0 || (in.counter && (v > kFar || v < -kFar))) return false;
    std::memcpy(s.bytes, &v, sizeof v);
  } else if (in.type == &PyFloat_Type) {
    const double v = PyFloat_AS_DOUBLE(x);
    std::memcpy(s.bytes, &v, sizeof v);
  } else if (in.type == &PyBool_Type) {
    s.bytes[0] = x == Py_True;
  } else if (in.type == &PyComplex_Type) {
    const Py_complex v = PyComplex_AsCComplex(x);
    std::memcpy(s.bytes, &v, sizeof v);
  } else {
    PyArray_ScalarAsCtype(x, s.bytes);
  }
  if (!is_complex(in.dtype)) {
    g.numbers.push_back(s);
    return true;
  }
  for (std::size_t part = 0; part < 2; ++part) {
    Scalar p;
    p.dtype = in.dtype == DType::Complex64 ? DType::Float32 : DType::Float64;
    const std::size_t item = itemsize(p.dtype);
    std::memcpy(p.bytes, s.bytes + part * item, item);
    g.numbers.push_back(p);
  }
  return true;
}

template <class Dimensions>
void take_layout(const Dimensions& shape, const Dimensions& strides, int ndim, DType t, Given& g) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  std::int64_t first = 0, last = item;
  for (int i = 0; i < ndim; ++i) g.params.push_back(shape[i]);
  for (int i = 0; i < ndim; ++i) {
    g.params.push_back(strides[i]);
    (strides[i] < 0 ? first : last) += (shape[i] - 1) * strides[i];
    if (shape[i] == 0) last = first;
  }
  g.first.push_back(first);
  g.last.push_back(last < first ? first : last);
}

bool take_array(const Input& in, PyObject* x, Given& g) {
  const auto packed = [&](const auto& strides) {
    return in.ndim > 0 && strides[in.ndim - 1] == static_cast<std::int64_t>(itemsize(in.dtype));
  };
  if (Py_TYPE(x) == array_type) {
    if (as_array(x)->host) return false;
    const tracer::Array& a = as_array(x)->array;
    if (a.dtype != in.dtype || a.ndim() != in.ndim || packed(a.strides) != in.packed ||
        (in.written && !a.writeable) || tracer::device_of(a) != kHost)
      return false;
    g.arrays.plaits.push_back(a);
    g.arrays.at.push_back(g.arrays.pointers.size());
    g.arrays.pointers.push_back(nullptr);
    take_layout(a.shape, a.strides, in.ndim, in.dtype, g);
  } else {
    // A jitted function that runs may have recorded what is to be read from there before.
    if (!PyArray_CheckExact(x) || in_jit()) return false;
    auto* const a = reinterpret_cast<PyArrayObject*>(x);
    // long long has the memory of int64, and other scalars.
    if (PyArray_TYPE(a) != descr_of(in.dtype)->type_num || !PyArray_ISNOTSWAPPED(a) ||
        PyArray_NDIM(a) != in.ndim || !PyArray_ISALIGNED(a) ||
        packed(PyArray_STRIDES(a)) != in.packed || (in.written && !PyArray_ISWRITEABLE(a)))
      return false;
    g.arrays.pointers.push_back(PyArray_DATA(a));
    take_layout(PyArray_DIMS(a), PyArray_STRIDES(a), in.ndim, in.dtype, g);
  }
  g.held.push_back(Owned::borrow(x));
  return true;
}

bool take(const Input& in, PyObject* locals, Given& g) {
  const Found f = look_up(in.place, locals);
  switch (in.kind) {
    case Input::Kind::Object:
      // A function of the module is rebuilt where it is looked up, and nothing stands for it then.
      if (f.own) return f.value == in.object;
      return f.beneath == in.beneath && (f.value == in.object || f.value == f.beneath);
    case Input::Kind::Missing:
      return !f.value;
    case Input::Kind::Class:
      return f.value && Py_TYPE(f.value) == in.type;
    case Input::Kind::Number:
      return f.value && take_number(in, f.value, g);
    case Input::Kind::Array:
      return f.value && take_array(in, f.value, g);
  }
  return false;
}

bool overlap(const Given& g, std::size_t a, std::size_t b) {
  const auto at = [&](std::size_t n) {
    return reinterpret_cast<std::intptr_t>(g.arrays.pointers[n]);
  };
  return at(a) + g.first[a] < at(b) + g.last[b] && at(b) + g.first[b] < at(a) + g.last[a];
}

// A number as Python has it; imaginary: of a complex one, the other part.
PyObject* as_class(const Scalar& s, const Scalar* imaginary, PyTypeObject* type, DType dtype) {
  if (imaginary && is_complex(dtype)) {
    const double re = cast(s, DType::Float64).as<double>();
    const double im = cast(*imaginary, DType::Float64).as<double>();
    Owned number(check(PyComplex_FromDoubles(re, im)));
    if (type == &PyComplex_Type) return number.release();
    return check(PyObject_CallOneArg(reinterpret_cast<PyObject*>(type), number.get()));
  }
  if (s.dtype == dtype) {
    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type)
      return python_number(s);
    return wrap_scalar(s);
  }
  const Owned number(python_number(s));
  return check(PyObject_CallOneArg(reinterpret_cast<PyObject*>(type), number.get()));
}

// The names of the loop behind it, whether it returned, and what: as Code.told() has them.
PyObject* state_of(const Description& d, const std::vector<Scalar>& results, std::size_t first,
                   PyObject* locals, PyObject* unbound) {
  const auto n = static_cast<Py_ssize_t>(d.stored.size());
  Owned state(check(PyTuple_New(n + 2)));
  const auto new_parts = d.listed ? PyList_New : PyTuple_New;
  Owned parts(d.returned >= 0 ? check(new_parts(d.returned)) : nullptr);
  Owned value;
  bool returned = false;
  std::size_t at = first;
  for (const Output& o : d.outputs) {
    const Scalar& s = results[at++];
    const Scalar* const imaginary = is_complex(o.dtype) ? &results[at++] : nullptr;
    PyTypeObject* type = o.type;
    DType dtype = o.dtype;
    if (o.tagged) {
      const auto tag = results[at++].as<std::int64_t>();
      if (tag == 0) continue;  // it is what it was
      std::tie(type, dtype) = d.classes[static_cast<std::size_t>(tag - 1)];
    }
    if (o.kind == Output::Kind::Returned)
      returned = true;
    else if (o.kind == Output::Kind::Variable)
      PyTuple_SET_ITEM(state.get(), o.at, as_class(s, imaginary, type, dtype));
    else if (d.listed)
      PyList_SET_ITEM(parts.get(), o.at, as_class(s, imaginary, type, dtype));
    else if (d.returned >= 0)
      PyTuple_SET_ITEM(parts.get(), o.at, as_class(s, imaginary, type, dtype));
    else
      value = Owned(as_class(s, imaginary, type, dtype));
  }
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!PyTuple_GET_ITEM(state.get(), i)) {
      PyObject* const before = in_dict(locals, d.stored[static_cast<std::size_t>(i)]);
      PyTuple_SET_ITEM(state.get(), i, Py_NewRef(before ? before : unbound));
    }
  PyTuple_SET_ITEM(state.get(), n, PyBool_FromLong(returned));
  PyObject* const what = !returned ? nullptr : d.returned >= 0 ? parts.get() : value.get();
  PyTuple_SET_ITEM(state.get(), n + 1, Py_NewRef(what ? what : Py_None));
  return state.release();
}

constexpr std::size_t kHeard = 0, kSite = 1, kHead = 5;  // of the results, as lowering.py has them

std::pair<PyTypeObject*, DType> class_of(const pb::handle& pair) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(pair);
  return {reinterpret_cast<PyTypeObject*>(pb::object(p[0]).ptr()),
          *parse_dtype(pb::object(p[1]).ptr())};
}

PyObject* or_null(const pb::handle& o) { return o.is_none() ? nullptr : o.ptr(); }

// Places: (name, local, cell, scope, module, builtins), None for what is not asked.
Place place_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  const auto at = [&](std::size_t i) { return or_null(pb::object(p[i])); };
  return {at(0), p[1].cast<bool>(), at(2), at(3), at(4), at(5)};
}

Input input_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  const auto kind = p[0].cast<std::string>();
  Input in{};
  in.place = place_of(p[1]);
  if (kind == "object") {
    in.kind = Input::Kind::Object;
    in.object = pb::object(p[2]).ptr();
    in.beneath = pb::object(p[3]).ptr();
  } else if (kind == "class") {
    in.kind = Input::Kind::Class;
    in.type = reinterpret_cast<PyTypeObject*>(pb::object(p[2]).ptr());
  } else if (kind == "missing") {
    in.kind = Input::Kind::Missing;
  } else if (kind == "number") {
    in.kind = Input::Kind::Number;
    std::tie(in.type, in.dtype) = class_of(p[2]);
    in.counter = p[3].cast<bool>();
  } else {
    in.kind = Input::Kind::Array;
    in.dtype = *parse_dtype(pb::object(p[2]).ptr());
    in.ndim = p[3].cast<int>();
    in.packed = p[4].cast<bool>();
    in.written = p[5].cast<bool>();
  }
  return in;
}

PyObject* make_entry(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto d = std::make_unique<Description>();
    try {
      const auto given = pb::reinterpret_borrow<pb::dict>(PyTuple_GetItem(args, 0));
      d->procedure = given["procedure"].cast<const Procedure*>();
      d->code = pb::object(given["code"]).ptr();
      d->ranged = given["ranged"].cast<bool>();
      d->makes_floats = given["makes_floats"].cast<bool>();
      if (!given["step"].is_none()) d->step = given["step"].cast<std::int64_t>();
      d->shared_from = given["shared_from"].cast<double>();
      for (const pb::handle& in : given["inputs"]) {
        d->inputs.push_back(input_of(in));
        d->arrays += d->inputs.back().kind == Input::Kind::Array;
        d->numbers += d->inputs.back().kind == Input::Kind::Number;
      }
      d->apart = given["apart"].cast<std::vector<std::pair<std::size_t, std::size_t>>>();
      for (const pb::handle& name : given["stored"]) d->stored.push_back(name.ptr());
      for (const pb::handle& pair : given["classes"]) d->classes.push_back(class_of(pair));
      for (const pb::handle& from : given["outputs"]) {
        const auto p = pb::reinterpret_borrow<pb::tuple>(from);
        Output o{};
        const auto kind = p[0].cast<std::string>();
        o.kind = kind == "variable"  ? Output::Kind::Variable
                 : kind == "returns" ? Output::Kind::Returns
                                     : Output::Kind::Returned;
        o.at = p[1].cast<Py_ssize_t>();
        o.tagged = p[2].cast<bool>();
        std::tie(o.type, o.dtype) = class_of(p[3]);
        d->outputs.push_back(o);
      }
      d->returned = given["returned"].cast<Py_ssize_t>();
      d->listed = given["listed"].cast<bool>();
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
int traverse_entry(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_entry(self)->held);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
void dealloc_entry(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete as_entry(self)->d;
  Py_XDECREF(as_entry(self)->held);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* runs_of(PyObject* self, void*) { return PyLong_FromLongLong(as_entry(self)->d->runs); }
PyObject* each_of(PyObject* self, void*) { return PyFloat_FromDouble(as_entry(self)->d->each); }
int set_each(PyObject* self, PyObject* seconds, void*) {
  const double each = seconds ? PyFloat_AsDouble(seconds) : -1;
  if (PyErr_Occurred()) return -1;
  as_entry(self)->d->each = each;
  return 0;
}

PyType_Slot done_slots[] = {
    {Py_tp_dealloc, slot_of(dealloc_done)}, {Py_tp_iter, slot_of(iterate_done)}, {0, nullptr}};
PyType_Spec done_spec = {"plait._plait.LoopDone", sizeof(DoneObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, done_slots};

PyGetSetDef entry_getset[] = {{"runs", runs_of, nullptr, nullptr, nullptr},
                              {"each", each_of, set_each, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot entry_slots[] = {{Py_tp_new, slot_of(make_entry)},
                             {Py_tp_dealloc, slot_of(dealloc_entry)},
                             {Py_tp_traverse, slot_of(traverse_entry)},
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

PyObject* run_entry(PyObject* entry, PyObject* loop, PyObject* unbound,
                    const std::optional<Range>& range, PyObject* locals) {
  Description& d = *as_entry(entry)->d;
  if (d.ranged != range.has_value()) return nullptr;
  if (d.makes_floats && default_dtype_may_vary()) return nullptr;
  if (!d.procedure->optimised()) return nullptr;
  const KeptGiven kept;
  Given& g = *kept;
  const std::int64_t count = range ? range->size() : 1;
  if (range) {
    const std::int64_t step = range->bounds[2];
    const std::optional<std::int64_t> usual =
        step == 1 || step == -1 ? std::optional(step) : std::nullopt;
    if (usual != d.step) return nullptr;
    if (d.shared_from >= 0 && count > 1 && engine::num_threads() > 1 &&
        (d.each < 0 || d.each * static_cast<double>(count) >= d.shared_from))
      return nullptr;
    for (const std::int64_t b : range->bounds) g.numbers.push_back(Scalar::of(DType::Int64, b));
  }
  g.numbers.reserve(g.numbers.size() + d.numbers);
  g.arrays.pointers.reserve(d.arrays);
  g.held.reserve(d.arrays);
  for (const Input& in : d.inputs)
    if (!take(in, locals, g)) return nullptr;
  const auto may_run = [&] {
    for (const auto& [a, b] : d.apart)
      if (overlap(g, a, b)) return false;
    return true;
  };
  std::vector<Scalar>& results = g.results;
  // Loops may run each other's code while the GIL is away, and entries may go.
  const Owned held = Owned::borrow(entry);
  const auto begun = std::chrono::steady_clock::now();
  if (!d.procedure->run_once(g.arrays, g.params, g.numbers, may_run, results)) return nullptr;
  const bool told =
      results[kHeard].as<std::int64_t>() != 0 || results[kSite].as<std::int64_t>() != 0;
  if (count > 0 && !told)
    d.each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() /
             static_cast<double>(count);
  ++d.runs;
  if (told) {
    const auto n = static_cast<Py_ssize_t>(results.size());
    const Owned all(check(PyTuple_New(n)));
    for (Py_ssize_t i = 0; i < n; ++i)
      PyTuple_SET_ITEM(all.get(), i, python_number(results[static_cast<std::size_t>(i)]));
    PyObject* args[] = {loop, d.code, all.get()};
    return check(PyObject_VectorcallMethod(asked().finished, args, 3, nullptr));
  }
  Owned state(state_of(d, results, kHead, locals, unbound));
  auto* const done = reinterpret_cast<DoneObject*>(check(done_type->tp_alloc(done_type, 0)));
  done->state = state.release();
  return reinterpret_cast<PyObject*>(done);
}

bool add_loop_entries(PyObject* module) {
  const Owned empty(PyTuple_New(0));
  nothing = empty ? PyObject_GetIter(empty.get()) : nullptr;
  if (!nothing) return false;
  const Owned end(PyIter_Next(nothing));  // which lets go of the tuple
  done_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&done_spec));
  entry_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&entry_spec));
  return done_type && entry_type &&
         PyModule_AddObjectRef(module, "LoopEntry", reinterpret_cast<PyObject*>(entry_type)) == 0;
}

}  // namespace plait::py
