#include "ndarray.hpp"  // Python's headers first

#include "loop_entry.hpp"

#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "functions.hpp"
#include "procedure.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

// Counters of loops are that far from the ends of int64, so that they need no check.
constexpr std::int64_t kFar = std::int64_t{1} << 62;
constexpr int kMostEntries = 16;

// --- what all calls ask

// Objects of Python's modules, looked up once.
struct Asked {
  PyObject *gettrace, *geterr, *warnings, *error_states;
  PyObject *start, *stop, *step, *filters, *begin, *ended, *finished;
};
const Asked* asked() {
  static const Asked* const all = []() -> const Asked* {
    const auto of = [](const char* module, const char* name) {
      const Owned m(check(PyImport_ImportModule(module)));
      return check(PyObject_GetAttrString(m.get(), name));
    };
    const auto text = [](const char* s) { return check(PyUnicode_InternFromString(s)); };
    PyObject* states = nullptr;
    try {
      states = of("numpy._core._multiarray_umath", "_extobj_contextvar");
    } catch (const PythonError&) {
      PyErr_Clear();  // a NumPy that keeps it elsewhere: geterr() is asked each time
    }
    return new Asked{of("sys", "gettrace"),
                     of("numpy", "geterr"),
                     of("warnings", "__dict__"),
                     states,
                     text("start"),
                     text("stop"),
                     text("step"),
                     text("filters"),
                     text("begin"),
                     text("ended"),
                     text("finished")};
  }();
  return all;
}

bool is_traced() { return Owned(check(PyObject_CallNoArgs(asked()->gettrace))).get() != Py_None; }

// Whether NumPy raises nothing, of what loops meet.
bool errors_are_heard() {
  static PyObject* known =
      nullptr;  // the state that was asked last and does not; states never change
  Owned state;
  if (asked()->error_states) {
    PyObject* now = nullptr;
    check(PyContextVar_Get(asked()->error_states, nullptr, &now));
    state = Owned(now);
    if (now && now == known) return true;
  }
  const Owned errors(check(PyObject_CallNoArgs(asked()->geterr)));
  for (const char* kind : {"divide", "invalid", "over"}) {
    PyObject* const how = PyDict_GetItemString(errors.get(), kind);
    if (!how || (PyUnicode_CompareWithASCIIString(how, "warn") != 0 &&
                 PyUnicode_CompareWithASCIIString(how, "ignore") != 0))
      return false;
  }
  if (state) {
    Py_XDECREF(known);
    known = state.release();
  }
  return true;
}

// Whether a RuntimeWarning may become an error.
bool warnings_may_raise() {
  PyObject* const filters = PyDict_GetItemWithError(asked()->warnings, asked()->filters);
  if (!filters || !PyList_Check(filters)) return true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(filters); ++i) {
    PyObject* const f = PyList_GET_ITEM(filters, i);
    if (!PyTuple_Check(f) || PyTuple_GET_SIZE(f) < 3 || !PyUnicode_Check(PyTuple_GET_ITEM(f, 0)))
      return true;
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(f, 0), "error") != 0) continue;
    PyObject* const category = PyTuple_GET_ITEM(f, 2);
    if (!PyType_Check(category) ||
        PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning),
                         reinterpret_cast<PyTypeObject*>(category)))
      return true;
  }
  return false;
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
  double shared_from;  // seconds from which threads share it; negative where they never do
  double each = -1;    // seconds of an iteration; negative where that is not known
  std::vector<Input> inputs;
  std::size_t arrays = 0, numbers = 0;
  std::vector<std::size_t> memories;  // arrays: as many elements
  std::vector<std::pair<std::size_t, std::size_t>> apart;
  std::vector<PyObject*> stored;
  std::vector<Output> outputs;
  std::vector<std::pair<PyTypeObject*, DType>> classes;  // by tag
  Py_ssize_t returned = 0;  // parts of a tuple; -1: the value itself; -2: None
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
  PyObject* const stands = in_dict(p.scope, p.name);
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
};

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

struct Range {
  std::int64_t bounds[3];
  std::int64_t size() const {
    const auto [start, stop, step] = bounds;
    if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
    return start > stop ? (start - stop - 1) / -step + 1 : 0;
  }
};
std::optional<Range> range_of(PyObject* o) {
  if (Py_TYPE(o) != &PyRange_Type) return std::nullopt;
  Range r;
  PyObject* const names[] = {asked()->start, asked()->stop, asked()->step};
  for (int i = 0; i < 3; ++i) {
    const Owned n(check(PyObject_GetAttr(o, names[i])));
    int over = 0;
    r.bounds[i] = PyLong_AsLongLongAndOverflow(n.get(), &over);
    if (over != 0 || r.bounds[i] < -kFar || r.bounds[i] >= kFar) return std::nullopt;
  }
  return r;
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
  Owned parts(d.returned >= 0 ? check(PyTuple_New(d.returned)) : nullptr);
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

// The loop by this code: what its iterable is then. Null without an error: the values are others.
PyObject* run_entry(PyObject* loop, PyObject* unbound, EntryObject* entry,
                    const std::optional<Range>& range, PyObject* locals) {
  Description& d = *entry->d;
  if (d.ranged != range.has_value()) return nullptr;
  if (!d.procedure->optimised()) return nullptr;
  Given g;
  const std::int64_t count = range ? range->size() : 1;
  if (range) {
    const std::int64_t step = range->bounds[2];
    const std::optional<std::int64_t> usual =
        step == 1 || step == -1 ? std::optional(step) : std::nullopt;
    if (usual != d.step) return nullptr;
    if (d.shared_from >= 0 && count > 1 &&
        (d.each < 0 || d.each * static_cast<double>(count) >= d.shared_from))
      return nullptr;
    for (const std::int64_t b : range->bounds) g.numbers.push_back(Scalar::of(DType::Int64, b));
  }
  g.numbers.reserve(g.numbers.size() + d.numbers);
  g.arrays.pointers.reserve(d.arrays);
  g.held.reserve(d.arrays);
  for (const Input& in : d.inputs)
    if (!take(in, locals, g)) return nullptr;
  for (const std::size_t slot : d.memories) {
    const Input* array = nullptr;
    std::size_t param = 0, n = 0;
    for (const Input& in : d.inputs) {
      if (in.kind != Input::Kind::Array) continue;
      array = &in;
      if (n++ == slot) break;
      param += 2 * static_cast<std::size_t>(in.ndim);
    }
    std::int64_t size = 1;
    for (int i = 0; i < array->ndim; ++i) size *= g.params[param + static_cast<std::size_t>(i)];
    g.params.push_back(size);
  }
  const auto may_run = [&] {
    for (const auto& [a, b] : d.apart)
      if (overlap(g, a, b)) return false;
    return true;
  };
  std::vector<Scalar> results;
  // Loops may run each other's code while the GIL is away, and entries may go.
  const Owned held = Owned::borrow(reinterpret_cast<PyObject*>(entry));
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
    return check(PyObject_VectorcallMethod(asked()->finished, args, 3, nullptr));
  }
  Owned state(state_of(d, results, kHead, locals, unbound));
  auto* const done = reinterpret_cast<DoneObject*>(check(done_type->tp_alloc(done_type, 0)));
  done->state = state.release();
  return reinterpret_cast<PyObject*>(done);
}

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
      if (!given["step"].is_none()) d->step = given["step"].cast<std::int64_t>();
      d->shared_from = given["shared_from"].cast<double>();
      for (const pb::handle& in : given["inputs"]) {
        d->inputs.push_back(input_of(in));
        d->arrays += d->inputs.back().kind == Input::Kind::Array;
        d->numbers += d->inputs.back().kind == Input::Kind::Number;
      }
      d->memories = given["memories"].cast<std::vector<std::size_t>>();
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

// --- a loop

struct LoopObject {
  PyObject_HEAD PyObject* entries;  // list, the one that was used last first
  PyObject* unbound;
  bool fast, slow;  // the last time: by code that has an entry, or not
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
  if (is_traced() || !errors_are_heard() || warnings_may_raise()) return nullptr;
  const Owned locals = locals_of_caller(), entries = Owned::borrow(loop->entries);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(entries.get()); ++i) {
    const Owned entry = Owned::borrow(PyList_GET_ITEM(entries.get(), i));
    PyObject* const done =
        run_entry(self, loop->unbound, as_entry(entry.get()), range, locals.get());
    if (done) return done;
  }
  return nullptr;
}

PyObject* call_loop(PyObject* self, PyObject* args, PyObject* named) {
  LoopObject* const loop = as_loop(self);
  if (loop->entries && PyList_GET_SIZE(loop->entries) > 0 && !named &&
      PyTuple_GET_SIZE(args) <= 1) {
    PyObject* const numbers = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : nullptr;
    PyObject* const done = guarded([&] { return by_entry(self, numbers); });
    if (done || PyErr_Occurred()) {
      loop->fast = done && Py_TYPE(done) == done_type;
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
  if (Py_TYPE(rest) == done_type) return Py_NewRef(reinterpret_cast<DoneObject*>(rest)->state);
  return PyObject_CallMethodOneArg(self, asked()->ended, rest);
}

// add_entry(entry)
PyObject* add_entry(PyObject* self, PyObject* entry) {
  LoopObject* const loop = as_loop(self);
  if (Py_TYPE(entry) != entry_type) return PyErr_Format(PyExc_TypeError, "not a LoopEntry");
  if (!loop->entries) loop->entries = PyList_New(0);
  if (!loop->entries ||
      (PyList_GET_SIZE(loop->entries) < kMostEntries && PyList_Insert(loop->entries, 0, entry) < 0))
    return nullptr;
  Py_RETURN_NONE;
}

// Code that has an entry was run by way of Python.
PyObject* ran_code(PyObject* self, PyObject*) {
  as_loop(self)->fast = true;
  as_loop(self)->slow = false;
  Py_RETURN_NONE;
}

PyObject* make_loop(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  as_loop(o)->unbound = PyObject_GetAttrString(o, "unbound");
  if (as_loop(o)->unbound) return o;
  Py_DECREF(o);
  return nullptr;
}
int traverse_loop(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_loop(self)->entries);
  Py_VISIT(as_loop(self)->unbound);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear_loop(PyObject* self) {
  Py_CLEAR(as_loop(self)->entries);
  Py_CLEAR(as_loop(self)->unbound);
  return 0;
}
void dealloc_loop(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_loop(self);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// --- a function

struct DirectObject {
  PyObject_HEAD PyObject* function;
  PyObject* loops;        // tuple, the outermost
  std::uint64_t numbers;  // bits: arguments that are no arrays
};
DirectObject* as_direct(PyObject* o) { return reinterpret_cast<DirectObject*>(o); }

// Whether an argument is what NumPy and Plait take alike, and holds nothing else.
bool crosses(PyObject* x, bool number) {
  if (PyArray_CheckExact(x)) return !number;
  return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || x == Py_None ||
         PyComplex_CheckExact(x) ||
         (PyArray_IsScalar(x, Generic) && !PyArray_IsScalar(x, Object) &&
          !PyArray_IsScalar(x, Void));
}

// takes(args): whether the function may run on them.
PyObject* takes(PyObject* self, PyObject* args) {
  const DirectObject& direct = *as_direct(self);
  bool fast = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(direct.loops); ++i) {
    const LoopObject& loop = *as_loop(PyTuple_GET_ITEM(direct.loops, i));
    if (loop.slow) Py_RETURN_FALSE;
    fast |= loop.fast;
  }
  if (!fast || in_jit() || default_dtype_may_vary() || tracer::current_device() != kHost)
    Py_RETURN_FALSE;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (i >= 64 || !crosses(PyTuple_GET_ITEM(args, i), direct.numbers >> i & 1)) Py_RETURN_FALSE;
  Py_RETURN_TRUE;
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
int traverse_direct(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_direct(self)->function);
  Py_VISIT(as_direct(self)->loops);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear_direct(PyObject* self) {
  Py_CLEAR(as_direct(self)->function);
  Py_CLEAR(as_direct(self)->loops);
  return 0;
}
void dealloc_direct(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_direct(self);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* function_of(PyObject* self, void*) { return Py_NewRef(as_direct(self)->function); }

// --- the types

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

PyType_Slot done_slots[] = {
    {Py_tp_dealloc, slot(dealloc_done)}, {Py_tp_iter, slot(iterate_done)}, {0, nullptr}};
PyType_Spec done_spec = {"plait._plait.LoopDone", sizeof(DoneObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, done_slots};

PyGetSetDef entry_getset[] = {{"runs", runs_of, nullptr, nullptr, nullptr},
                              {"each", each_of, set_each, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot entry_slots[] = {{Py_tp_new, slot(make_entry)},
                             {Py_tp_dealloc, slot(dealloc_entry)},
                             {Py_tp_traverse, slot(traverse_entry)},
                             {Py_tp_getset, entry_getset},
                             {0, nullptr}};
PyType_Spec entry_spec = {"plait._plait.LoopEntry", sizeof(EntryObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, entry_slots};

PyMethodDef loop_methods[] = {{"end", c(end_loop), METH_O, nullptr},
                              {"add_entry", c(add_entry), METH_O, nullptr},
                              {"ran_code", c(ran_code), METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot loop_slots[] = {{Py_tp_new, slot(make_loop)},
                            {Py_tp_call, slot(call_loop)},
                            {Py_tp_dealloc, slot(dealloc_loop)},
                            {Py_tp_traverse, slot(traverse_loop)},
                            {Py_tp_clear, slot(clear_loop)},
                            {Py_tp_methods, loop_methods},
                            {0, nullptr}};
PyType_Spec loop_spec = {"plait._plait.LoopCall", sizeof(LoopObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, loop_slots};

PyMethodDef direct_methods[] = {{"takes", c(takes), METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef direct_getset[] = {{"function", function_of, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot direct_slots[] = {{Py_tp_new, slot(make_direct)},
                              {Py_tp_dealloc, slot(dealloc_direct)},
                              {Py_tp_traverse, slot(traverse_direct)},
                              {Py_tp_clear, slot(clear_direct)},
                              {Py_tp_methods, direct_methods},
                              {Py_tp_getset, direct_getset},
                              {0, nullptr}};
PyType_Spec direct_spec = {"plait._plait.DirectCall", sizeof(DirectObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, direct_slots};

}  // namespace

bool add_loop_entries(PyObject* module) {
  const auto add = [&](PyType_Spec* spec, const char* name) -> PyTypeObject* {
    PyObject* const type = PyType_FromSpec(spec);
    if (!type || PyModule_AddObjectRef(module, name, type) < 0) return nullptr;
    return reinterpret_cast<PyTypeObject*>(type);
  };
  const Owned empty(PyTuple_New(0));
  nothing = empty ? PyObject_GetIter(empty.get()) : nullptr;
  if (!nothing) return false;
  const Owned end(PyIter_Next(nothing));  // which lets go of the tuple
  done_type = add(&done_spec, "LoopDone");
  entry_type = add(&entry_spec, "LoopEntry");
  loop_type = add(&loop_spec, "LoopCall");
  return done_type && entry_type && loop_type && add(&direct_spec, "DirectCall");
}

}  // namespace plait::py
