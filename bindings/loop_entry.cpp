#include "ndarray.hpp"  // Python's headers first

#include "loop_entry.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "functions.hpp"
#include "loop_lists.hpp"
#include "loop_span.hpp"
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

// Elements of a list that take longer to give back than to ask whether they are to.
constexpr std::int64_t kToAsk = 32;
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
  PyObject* bits = PyUnicode_InternFromString("bit_generator");
  PyObject* own_bits = PyUnicode_InternFromString("_bit_generator");
  PyObject* drawing = PyUnicode_InternFromString("_drawing");
  PyObject* capsule = PyUnicode_InternFromString("capsule");
  PyObject* lock = PyUnicode_InternFromString("lock");
  PyObject* acquire = PyUnicode_InternFromString("acquire");
  PyObject* release = PyUnicode_InternFromString("release");
};
const Names& asked() {
  static const Names* const all = new Names;
  return *all;
}

// --- one version of a loop's code

constexpr std::size_t kHeard = 0, kSite = 1, kHead = 5;  // of the results, as lowering.py has them

// Where a name is looked up: in this order, where each is not null.
struct Place {
  PyObject* name;
  bool local;
  PyObject *cell, *scope, *module, *builtins;
  std::ptrdiff_t owner;     // the input whose attribute it is; negative of all else
  std::ptrdiff_t argument;  // of a function as a whole; negative of all else
};

// What a look-up knows of a call: the variables of the loop's function, or the arguments of a
// function as a whole.
struct Known {
  PyObject* locals;
  PyObject* const* arguments;
};

struct Input {
  enum class Kind { Object, Class, Method, Missing, Number, Array, List, Generator } kind;
  Place place;
  PyObject *object, *beneath;  // what it is, and what it is without what stands for NumPy's
  PyTypeObject* type;          // Class, Number, Generator
  unsigned version;            // of a class of which attributes are asked; 0 of others
  DType dtype;
  int ndim;
  bool packed, written, counter;
  bool exact;         // a generator of NumPy's own class
  Sequence sequence;  // List
};

// An argument beside the inputs: the address of a function that draws, or of a generator's bits.
struct Argument {
  std::int64_t address;
  PyObject* source;  // a RandomState, where that is asked
};

// The array or the list that a variable stands for behind a loop: of the results, whether there is
// one, its address, and then its extents and strides, or how many elements it has.
struct Left {
  Py_ssize_t at;  // of the variables, or -1
  std::ptrdiff_t owner;
  PyObject* name;  // an attribute of that input's, or null
  DType dtype;
  std::size_t ndim;
  std::optional<Rows> rows;  // of a list
  std::size_t results() const { return rows ? 3 : 2 + 2 * ndim; }
};
// A list that was given, and may be longer or shorter now.
struct Grown {
  std::size_t input;
  Rows rows;
  bool forgotten;  // nobody reads it behind the loop
};
// An attribute that becomes a number.
struct Cell {
  std::ptrdiff_t owner;
  PyObject* name;
  bool complex;
};
// What a module or a class has to have.
struct Attribute {
  PyObject *of, *name, *value;
};

struct Output {
  enum class Kind { Variable, Returns, Returned } kind;
  Py_ssize_t at;  // of the variables; of the parts of what is returned
  bool tagged;
  PyTypeObject* type;
  DType dtype;
};

constexpr double kShort = 100e-6;  // seconds; threads share no loop that is that short (sharing.py)
constexpr int kOften = 3;          // runs in a row that are not short
constexpr unsigned kSeldom = 64;   // of so many runs one is measured, whatever it was given

// Which calls of a function as a whole are short, by their work: the ints and the elements of
// arrays that they are given. What takes longer can do with what the other way costs, and gains by
// threads.
class Lengths {
 public:
  bool is_long(double work) const { return work >= limit_; }
  bool is_new(double work) const { return work > known_; }
  bool is_measured(double work) { return is_new(work) || ++runs_ % kSeldom == 0; }
  void took(double seconds, double work) {
    if (seconds <= kShort) {
      known_ = std::max(known_, work);
      late_ = 0;
    } else if (++late_ >= kOften) {
      limit_ = work;
    }
  }

 private:
  double known_ = -1, limit_ = std::numeric_limits<double>::infinity();
  int late_ = 0;
  unsigned runs_ = 0;
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
  std::vector<Argument> arguments;
  std::vector<Attribute> attributes;
  int limit = -1;  // of recursion; negative: any
  std::vector<std::pair<std::size_t, std::int64_t>>
      largest;                       // slots, and elements of the array there
  std::vector<std::size_t> changed;  // slots of lists that no other name has
  std::vector<std::pair<std::size_t, std::size_t>>
      different;  // inputs that are not the same object
  std::vector<Left> left;
  std::vector<Grown> grown;
  std::vector<Cell> cells;
  std::size_t behind = 0;       // results behind those of `grown`
  PyObject* forgets = nullptr;  // says whether lists that are forgotten need not be given back
  PyObject* adopt = nullptr;    // what makes an array of Plait's of NumPy's
  std::int64_t runs = 0;
  // Of a function as a whole whose last statement returns variables: those, as one of `stored` or
  // an argument, and whether they are one value.
  struct Part {
    std::ptrdiff_t stored, argument;
  };
  std::vector<Part> parts;
  bool single = false;
  Lengths lengths;
  // Dicts in which its objects of globals are looked up, as they were when those were found: until
  // one changes, they are found there.
  std::vector<std::pair<PyObject*, std::uint64_t>> dicts;
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

// What lies in a slot of a run: an array, or a list that is one meanwhile.
struct Slot {
  const Input* input;
  PyObject* object;
  std::size_t numbers;  // of the lists
};

// A call's values.
struct Given {
  std::vector<Scalar> numbers;
  Procedure::Memory arrays;
  std::vector<std::int64_t> params;
  std::vector<std::int64_t> first, last;  // bytes that an array spans, from its first element
  std::vector<Owned> held;
  std::vector<PyObject*> found;  // by input
  std::vector<Slot> slots;
  std::vector<Numbers> lists;  // of which `listed` are in use
  std::size_t listed = 0;
  double work = 0;  // ints and elements of arrays
  double room = 0;  // elements of lists that it takes no longer to carry over than the loop
  std::vector<PyObject*> bits;  // of generators that draw
  std::vector<Scalar> results;

  void clear() {
    for (auto* const all : {&numbers, &results}) all->clear();
    for (auto* const all : {&params, &first, &last}) all->clear();
    for (auto* const all : {&found, &bits}) all->clear();
    arrays.pointers.clear();
    arrays.plaits.clear();
    arrays.at.clear();
    slots.clear();
    listed = 0;
    work = 0;
    held.clear();
  }
  PyObject* hold(PyObject* o) {  // takes the reference over
    held.emplace_back(o);
    return o;
  }
};

struct Found {
  PyObject *value, *beneath;  // borrowed; beneath: of the module or the builtins
  bool own;                   // of the function, a cell or an object
};
Found look_up(const Place& p, const Known& known, Given& g) {
  if (p.argument >= 0) return {known.arguments[p.argument], nullptr, true};
  if (p.owner >= 0) {
    PyObject* const x = PyObject_GetAttr(g.found[static_cast<std::size_t>(p.owner)], p.name);
    if (x) return {g.hold(x), nullptr, true};
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
    PyErr_Clear();
    return {nullptr, nullptr, true};
  }
  if (p.local)
    if (PyObject* const x = in_dict(known.locals, p.name)) return {x, nullptr, true};
  if (p.cell) return {PyCell_GET(p.cell), nullptr, true};
  PyObject* const stands = p.scope ? in_scope(p.scope, p.name) : nullptr;
  PyObject* beneath = in_dict(p.module, p.name);
  if (!beneath) beneath = in_dict(p.builtins, p.name);
  return {stands ? stands : beneath, beneath, false};
}

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
    g.work += std::abs(static_cast<double>(v));
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
  double size = 1;
  for (int i = 0; i < ndim; ++i) {
    g.params.push_back(shape[static_cast<std::size_t>(i)]);
    size *= static_cast<double>(g.params.back());
  }
  g.work += size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ndim); ++i) {
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
  g.slots.push_back({&in, g.hold(Py_NewRef(x)), 0});
  return true;
}

// Of a list or a tuple; of lists in it, those of the first one each.
double elements_of(PyObject* x) {
  if (PyBytes_CheckExact(x)) return static_cast<double>(PyBytes_GET_SIZE(x));
  if (!PyList_CheckExact(x) && !PyTuple_CheckExact(x)) return 0;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(x);
  PyObject* const first = count > 0 ? PySequence_Fast_GET_ITEM(x, 0) : nullptr;
  const bool rows = first && (PyList_CheckExact(first) || PyTuple_CheckExact(first));
  return static_cast<double>(count) *
         static_cast<double>(rows ? 1 + PySequence_Fast_GET_SIZE(first) : 1);
}

bool take_list(const Input& in, PyObject* x, Given& g) {
  g.room -= elements_of(x);
  if (g.room < 0) return false;
  if (g.listed == g.lists.size()) g.lists.emplace_back();
  Numbers& n = g.lists[g.listed];
  if (!read_sequence(in.sequence, x, n)) return false;
  g.arrays.pointers.push_back(n.memory.data());
  take_layout(n.shape, n.strides, in.ndim, in.dtype, g);
  g.slots.push_back({&in, g.hold(Py_NewRef(x)), g.listed++});
  return true;
}

// The address of a bit generator, which is to be held while it draws.
Scalar drawn_from(PyObject* generator, PyObject* attribute, Given& g) {
  PyObject* const bits = g.hold(check(PyObject_GetAttr(generator, attribute)));
  const Owned capsule(check(PyObject_GetAttr(bits, asked().capsule)));
  void* const found = PyCapsule_GetPointer(capsule.get(), "BitGenerator");
  if (!found) throw PythonError{};
  g.bits.push_back(bits);
  return Scalar::of(DType::Int64,
                    static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(found)));
}

bool take_generator(const Input& in, PyObject* x, Given& g) {
  if (Py_TYPE(x) != in.type) return false;
  if (!in.exact) {
    const Owned theirs(check(PyObject_GetAttr(x, asked().drawing)));
    if (theirs.get() != Py_None &&
        std::strcmp(Py_TYPE(theirs.get())->tp_name, "numpy.random._generator.Generator") != 0)
      return false;
  }
  g.numbers.push_back(drawn_from(x, asked().bits, g));
  return true;
}

// A bound method, and no attribute of the object's own by that name.
bool is_method(const Input& in, PyObject* x, PyObject* owner) {
  return PyMethod_Check(x) && PyMethod_GET_FUNCTION(x) == in.object &&
         PyMethod_GET_SELF(x) == owner;
}

unsigned version_of(PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030D0000
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
  return type->tp_version_tag;
}

bool take(const Input& in, const Known& known, Given& g) {
  const Found f = look_up(in.place, known, g);
  g.found.push_back(f.value);
  switch (in.kind) {
    case Input::Kind::Object:
      // A function of the module is rebuilt where it is looked up, and nothing stands for it then.
      if (f.own) return f.value == in.object;
      return f.beneath == in.beneath && (f.value == in.object || f.value == f.beneath);
    case Input::Kind::Missing:
      return !f.value;
    case Input::Kind::Class:
      if (!f.value || Py_TYPE(f.value) != in.type) return false;
      if (in.version == 0) return true;
      g.hold(Py_NewRef(f.value));
      return version_of(in.type) == in.version;
    case Input::Kind::Method:
      return f.value && is_method(in, f.value, g.found[static_cast<std::size_t>(in.place.owner)]);
    case Input::Kind::Number:
      return f.value && take_number(in, f.value, g);
    case Input::Kind::Array:
      return f.value && take_array(in, f.value, g);
    case Input::Kind::List:
      return f.value && take_list(in, f.value, g);
    case Input::Kind::Generator:
      return f.value && take_generator(in, f.value, g);
  }
  return false;
}

bool overlap(const Given& g, std::size_t a, std::size_t b) {
  const auto at = [&](std::size_t n) {
    return reinterpret_cast<std::intptr_t>(g.arrays.pointers[n]);
  };
  return at(a) + g.first[a] < at(b) + g.last[b] && at(b) + g.first[b] < at(a) + g.last[a];
}

// Whether the lists that the loop changes have one name each.
bool lists_differ(const Description& d, const Given& g) {
  if (d.changed.empty()) return true;
  std::vector<PyObject*> all, own;
  for (const Slot& slot : g.slots)
    if (slot.input->kind == Input::Kind::List) lists_of(slot.input->sequence, slot.object, all);
  for (const std::size_t n : d.changed)
    lists_of(g.slots[n].input->sequence, g.slots[n].object, own);
  std::sort(all.begin(), all.end());
  return std::all_of(own.begin(), own.end(), [&](PyObject* x) {
    return std::upper_bound(all.begin(), all.end(), x) -
               std::lower_bound(all.begin(), all.end(), x) ==
           1;
  });
}

bool has_attributes(const Description& d) {
  for (const Attribute& a : d.attributes) {
    const Owned now(PyObject_GetAttr(a.of, a.name));
    if (!now) PyErr_Clear();
    if (now.get() != a.value) return false;
  }
  return true;
}

std::int64_t size_of(const Slot& slot) {
  if (slot.input->kind == Input::Kind::List) return 0;
  if (Py_TYPE(slot.object) == array_type) return as_array(slot.object)->array.size();
  return PyArray_SIZE(reinterpret_cast<PyArrayObject*>(slot.object));
}

// What the values of a call have to be to each other.
bool fit(const Description& d, const Given& g) {
  for (const auto& [a, b] : d.different)
    if (g.found[a] == g.found[b]) return false;
  for (const auto& [slot, size] : d.largest)
    if (size_of(g.slots[slot]) > size) return false;
  return lists_differ(d, g) && has_attributes(d);
}

// While one of these lives, a Python error that was raised before stands aside.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorAside() { PyErr_Restore(type_, value_, traceback_); }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  PyObject *type_, *value_, *traceback_;
};

// Others who draw from these generators wait, as in NumPy.
class Drawing {
 public:
  explicit Drawing(const std::vector<PyObject*>& bits) {
    std::vector<PyObject*> all(bits);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (PyObject* const b : all) {
      Owned lock(check(PyObject_GetAttr(b, asked().lock)));
      const Owned done(check(PyObject_CallMethodNoArgs(lock.get(), asked().acquire)));
      locks_.push_back(std::move(lock));
    }
  }
  ~Drawing() {
    const ErrorAside aside;
    for (const Owned& lock : locks_) {
      const Owned done(PyObject_CallMethodNoArgs(lock.get(), asked().release));
      if (!done) PyErr_Clear();
    }
  }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

 private:
  std::vector<Owned> locks_;
};

// Lists get what was written to the arrays that they were.
void give_back(const Given& g) {
  for (const Slot& slot : g.slots)
    if (slot.input->kind == Input::Kind::List && slot.input->written)
      write_back(slot.input->sequence, slot.object, g.lists[slot.numbers]);
}

// Where the parameters of each array begin.
std::vector<std::size_t> layouts(const Given& g) {
  std::vector<std::size_t> all;
  std::size_t at = 0;
  for (const Slot& slot : g.slots) {
    all.push_back(at);
    at += 2 * static_cast<std::size_t>(slot.input->ndim);
  }
  return all;
}

// The array that the results say: one that the loop was given, or a copy of what its heap has.
PyObject* array_left(const Description& d, const Left& left, const std::int64_t* told, Given& g) {
  const auto* const address = reinterpret_cast<const std::byte*>(told[1]);
  const std::int64_t* const layout = told + 2;
  const std::vector<std::size_t> at = layouts(g);
  bool plaits = false;
  for (std::size_t n = g.slots.size(); n-- > 0;) {
    const Slot& slot = g.slots[n];
    if (slot.input->kind == Input::Kind::List) continue;
    plaits |= Py_TYPE(slot.object) == array_type;
    if (g.arrays.pointers[n] == address && slot.input->dtype == left.dtype &&
        static_cast<std::size_t>(slot.input->ndim) == left.ndim &&
        std::equal(layout, layout + 2 * left.ndim,
                   g.params.begin() + static_cast<std::ptrdiff_t>(at[n])))
      return Py_NewRef(slot.object);
  }
  npy_intp shape[kMaxDims];
  std::copy(layout, layout + left.ndim, shape);
  PyArray_Descr* const descr = descr_of(left.dtype);
  Py_INCREF(descr);
  Owned made(check(PyArray_NewFromDescr(&PyArray_Type, descr, static_cast<int>(left.ndim), shape,
                                        nullptr, nullptr, 0, nullptr)));
  auto* const to = reinterpret_cast<PyArrayObject*>(made.get());
  if (PyArray_SIZE(to) > 0)
    std::memcpy(PyArray_DATA(to), address, static_cast<std::size_t>(PyArray_NBYTES(to)));
  return plaits ? check(PyObject_CallOneArg(d.adopt, made.get())) : made.release();
}

PyObject* left_behind(const Description& d, const Left& left, const std::int64_t* told, Given& g) {
  if (told[0] == 0) return nullptr;  // it is what it was
  if (!left.rows) return array_left(d, left, told, g);
  return list_of_rows(*left.rows, reinterpret_cast<const std::int64_t*>(told[1]), told[2]);
}

// Whether nobody has the lists any more that are forgotten: what makes them is Python's.
bool forgets(const Description& d) {
  const Owned yes(check(PyObject_CallNoArgs(d.forgets)));
  return yes.get() == Py_True;
}

// Gives lists, variables and attributes what the run has left of them; state: the variables.
void settle(const Description& d, Given& g, PyObject* state) {
  const std::vector<Scalar>& results = g.results;
  const auto word = [&](std::size_t n) { return results[n].as<std::int64_t>(); };
  const auto owner = [&](std::ptrdiff_t n) { return g.found[static_cast<std::size_t>(n)]; };
  std::size_t at = results.size() - d.behind - 2 * d.grown.size();
  std::size_t left_at = at;
  for (const Grown& grown : d.grown) {
    const auto* const words = reinterpret_cast<const std::int64_t*>(word(at));
    const std::int64_t count = word(at + 1);
    at += 2;
    if (grown.forgotten && count > kToAsk && forgets(d)) continue;
    const Owned elements(list_of_rows(grown.rows, words, count));
    replace_elements(g.found[grown.input], elements.get());
  }
  for (const Left& left : d.left) left_at -= left.results();
  for (const Left& left : d.left) {
    std::vector<std::int64_t> told;
    for (std::size_t n = 0; n < left.results(); ++n) told.push_back(word(left_at++));
    Owned x(left_behind(d, left, told.data(), g));
    if (x && left.name) check(PyObject_SetAttr(owner(left.owner), left.name, x.get()));
    if (x && left.at >= 0) PyTuple_SET_ITEM(state, left.at, x.release());
  }
  std::size_t width = 0;
  for (const Cell& cell : d.cells) width += cell.complex ? 3 : 2;
  at = results.size() - width;
  for (const Cell& cell : d.cells) {
    const Scalar& s = results[at++];
    const Scalar* const imaginary = cell.complex ? &results[at++] : nullptr;
    const std::int64_t tag = word(at++);
    if (tag == 0) continue;
    const Owned x(number_as(s, imaginary, d.classes[static_cast<std::size_t>(tag - 1)]));
    check(PyObject_SetAttr(owner(cell.owner), cell.name, x.get()));
  }
}

// Whether a run has returned, and what: null for None.
struct Outcome {
  bool returned = false;
  Owned value;
};
// The same of a run's results. The numbers that are variables go to `state`, where there is one.
Outcome outcome_of(const Description& d, const Given& g, PyObject* state) {
  const std::vector<Scalar>& results = g.results;
  const auto new_parts = d.listed ? PyList_New : PyTuple_New;
  Owned parts(d.returned >= 0 ? check(new_parts(d.returned)) : nullptr);
  Outcome found;
  std::size_t at = kHead;
  for (const Output& o : d.outputs) {
    const Scalar& s = results[at++];
    const Scalar* const imaginary = is_complex(o.dtype) ? &results[at++] : nullptr;
    NumberType type{o.type, o.dtype};
    if (o.tagged) {
      const auto tag = results[at++].as<std::int64_t>();
      if (tag == 0) continue;  // it is what it was
      type = d.classes[static_cast<std::size_t>(tag - 1)];
    }
    if (o.kind == Output::Kind::Returned) {
      found.returned = true;
    } else if (o.kind == Output::Kind::Variable) {
      if (state) PyTuple_SET_ITEM(state, o.at, number_as(s, imaginary, type));
    } else if (d.listed) {
      PyList_SET_ITEM(parts.get(), o.at, number_as(s, imaginary, type));
    } else if (d.returned >= 0) {
      PyTuple_SET_ITEM(parts.get(), o.at, number_as(s, imaginary, type));
    } else {
      found.value = Owned(number_as(s, imaginary, type));
    }
  }
  if (!found.returned)
    found.value = Owned();
  else if (d.returned >= 0)
    found.value = std::move(parts);
  return found;
}

// The names of the loop behind it, whether it returned, and what: as Code.told() has them.
PyObject* state_of(const Description& d, Given& g, PyObject* locals, PyObject* unbound) {
  const auto n = static_cast<Py_ssize_t>(d.stored.size());
  Owned state(check(PyTuple_New(n + 2)));
  const Outcome found = outcome_of(d, g, state.get());
  settle(d, g, state.get());
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!PyTuple_GET_ITEM(state.get(), i)) {
      PyObject* const before = in_dict(locals, d.stored[static_cast<std::size_t>(i)]);
      PyTuple_SET_ITEM(state.get(), i, Py_NewRef(before ? before : unbound));
    }
  PyTuple_SET_ITEM(state.get(), n, PyBool_FromLong(found.returned));
  PyObject* const what = found.value.get();
  PyTuple_SET_ITEM(state.get(), n + 1, Py_NewRef(what ? what : Py_None));
  return state.release();
}

// What a function as a whole returns.
PyObject* value_of(const Description& d, Given& g, PyObject* const* arguments) {
  const auto none_for_null = [](Owned x) { return x ? x.release() : Py_NewRef(Py_None); };
  if (d.parts.empty()) return none_for_null(outcome_of(d, g, nullptr).value);
  const Owned state(check(PyTuple_New(static_cast<Py_ssize_t>(d.stored.size()))));
  Outcome found = outcome_of(d, g, state.get());
  settle(d, g, state.get());
  if (found.returned) return none_for_null(std::move(found.value));
  const auto part = [&](const Description::Part& p) {
    PyObject* const x = p.stored >= 0 ? PyTuple_GET_ITEM(state.get(), p.stored) : nullptr;
    return Py_NewRef(x ? x : arguments[p.argument]);
  };
  if (d.single) return part(d.parts[0]);
  Owned all(check(PyTuple_New(static_cast<Py_ssize_t>(d.parts.size()))));
  for (std::size_t n = 0; n < d.parts.size(); ++n)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(n), part(d.parts[n]));
  return all.release();
}

std::pair<PyTypeObject*, DType> class_of(const pb::handle& pair) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(pair);
  return {reinterpret_cast<PyTypeObject*>(pb::object(p[0]).ptr()),
          *parse_dtype(pb::object(p[1]).ptr())};
}

PyObject* or_null(const pb::handle& o) { return o.is_none() ? nullptr : o.ptr(); }

// Places: (name, local, cell, scope, module, builtins, owner, argument), None for what is not
// asked.
Place place_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  const auto at = [&](std::size_t i) { return or_null(pb::object(p[i])); };
  return {at(0),
          p[1].cast<bool>(),
          at(2),
          at(3),
          at(4),
          at(5),
          p[6].cast<std::ptrdiff_t>(),
          p[7].cast<std::ptrdiff_t>()};
}

// (of tuples, [(dtype of the word, [((class, dtype), tag)])])
Rows rows_of(const pb::handle& from) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(from);
  Rows rows{p[0].cast<std::vector<int>>(), {}};
  for (const pb::handle& of : pb::object(p[1])) {
    const auto c = pb::reinterpret_borrow<pb::tuple>(of);
    Column column{*parse_dtype(pb::object(c[0]).ptr()), {}};
    for (const pb::handle& kind : pb::object(c[1])) {
      const auto k = pb::reinterpret_borrow<pb::tuple>(kind);
      column.kinds.emplace_back(class_of(k[0]), k[1].cast<std::int64_t>());
    }
    rows.columns.push_back(std::move(column));
  }
  return rows;
}
std::optional<Rows> optional_rows(const pb::object& o) {
  return o.is_none() ? std::nullopt : std::optional(rows_of(o));
}

Sequence::Of sequence_named(const std::string& of) {
  using Of = Sequence::Of;
  if (of == "tuple") return Of::Tuple;
  if (of == "bytes") return Of::Bytes;
  if (of == "empty list") return Of::EmptyList;
  return of == "list" ? Of::List : Of::Grid;
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
    if (p[3].cast<bool>()) {
      (void)_PyType_Lookup(in.type, asked().start);  // which gives it a version
      in.version = version_of(in.type);
      if (in.version == 0) in.version = ~0u;  // it has none: nothing fits
    }
  } else if (kind == "method") {
    in.kind = Input::Kind::Method;
    in.object = pb::object(p[2]).ptr();
  } else if (kind == "generator") {
    in.kind = Input::Kind::Generator;
    in.type = reinterpret_cast<PyTypeObject*>(pb::object(p[2]).ptr());
    in.exact = p[3].cast<bool>();
  } else if (kind == "list") {
    in.kind = Input::Kind::List;
    in.dtype = *parse_dtype(pb::object(p[2]).ptr());
    in.ndim = p[3].cast<int>();
    in.written = p[4].cast<bool>();
    in.sequence = {sequence_named(p[5].cast<std::string>()), in.dtype, optional_rows(p[6])};
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

// What there is of a loop beside numbers and arrays.
void take_rest(Description& d, const pb::dict& given) {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  for (const pb::handle& from : given["arguments"]) {
    const bool address = PyLong_Check(from.ptr());
    d.arguments.push_back(
        {address ? from.cast<std::int64_t>() : 0, address ? nullptr : from.ptr()});
  }
  for (const pb::handle& from : given["attributes"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.attributes.push_back(
        {pb::object(p[0]).ptr(), pb::object(p[1]).ptr(), pb::object(p[2]).ptr()});
  }
  d.limit = given["limit"].is_none() ? -1 : given["limit"].cast<int>();
  d.largest = given["largest"].cast<std::vector<std::pair<std::size_t, std::int64_t>>>();
  d.changed = given["changed"].cast<std::vector<std::size_t>>();
  d.different = given["different"].cast<Pairs>();
  for (const pb::handle& from : given["left"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    Left left{p[0].cast<Py_ssize_t>(),   p[1].cast<std::ptrdiff_t>(),
              or_null(pb::object(p[2])), DType::Int64,
              p[4].cast<std::size_t>(),  optional_rows(p[5])};
    if (!left.rows) left.dtype = *parse_dtype(pb::object(p[3]).ptr());
    d.left.push_back(std::move(left));
  }
  for (const pb::handle& from : given["grown"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.grown.push_back({p[0].cast<std::size_t>(), rows_of(p[1]), p[2].cast<bool>()});
  }
  for (const pb::handle& from : given["cells"]) {
    const auto p = pb::reinterpret_borrow<pb::tuple>(from);
    d.cells.push_back({p[0].cast<std::ptrdiff_t>(), pb::object(p[1]).ptr(), p[2].cast<bool>()});
  }
  d.behind = given["behind"].cast<std::size_t>();
  d.adopt = pb::object(given["adopt"]).ptr();
  d.forgets = pb::object(given["forgets"]).ptr();
  d.single = given["single"].cast<bool>();
  for (const auto& [stored, argument] :
       given["parts"].cast<std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>>())
    d.parts.push_back({stored, argument});
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
        const Input::Kind kind = d->inputs.back().kind;
        d->arrays += kind == Input::Kind::Array || kind == Input::Kind::List;
        d->numbers += kind == Input::Kind::Number;
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
      take_rest(*d, given);
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

// list_of_rows(rows, address, count): a list of the elements whose words begin there, as
// listed.py's _rows() describes them
PyObject* new_list_of_rows(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3)
    return PyErr_Format(PyExc_TypeError, "list_of_rows() takes rows, an address and a count");
  return guarded([&]() -> PyObject* {
    const auto address = reinterpret_cast<const std::int64_t*>(PyLong_AsVoidPtr(args[1]));
    const Py_ssize_t count = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred()) throw PythonError{};
    return list_of_rows(rows_of(args[0]), address, count);
  });
}
PyMethodDef list_methods[] = {
    {"list_of_rows", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(new_list_of_rows)),
     METH_FASTCALL, nullptr},
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

namespace {
// 0: Python does not say.
std::uint64_t version_of_dict([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030C0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  return 0;
#endif
}
// An object of the globals, of a function as a whole.
bool is_of_globals(const Input& in) {
  const Place& p = in.place;
  return in.kind == Input::Kind::Object && p.argument < 0 && p.owner < 0 && !p.cell;
}
bool dicts_are_as_before(const Description& d) {
  return !d.dicts.empty() && std::all_of(d.dicts.begin(), d.dicts.end(), [](const auto& seen) {
    return seen.second != 0 && seen.second == version_of_dict(seen.first);
  });
}
void look_at_dicts(Description& d) {
  d.dicts.clear();
  for (const Input& in : d.inputs)
    if (is_of_globals(in))
      for (PyObject* const dict : {in.place.scope, in.place.module, in.place.builtins})
        if (dict) d.dicts.emplace_back(dict, version_of_dict(dict));
  std::sort(d.dicts.begin(), d.dicts.end());
  d.dicts.erase(std::unique(d.dicts.begin(), d.dicts.end()), d.dicts.end());
}

// Takes the values of a call: whether they fit.
bool take_all(const Description& d, const Range* range, const Known& known, Given& g,
              bool objects_known = false) {
  if (d.makes_floats && default_dtype_differs()) return false;
  if (d.limit >= 0 && d.limit != Py_GetRecursionLimit()) return false;
  if (!d.procedure->optimised()) return false;
  if (range)
    for (const std::int64_t b : range->bounds) g.numbers.push_back(Scalar::of(DType::Int64, b));
  g.numbers.reserve(g.numbers.size() + d.numbers);
  g.arrays.pointers.reserve(d.arrays);
  g.held.reserve(d.arrays);
  for (const Argument& a : d.arguments)
    g.numbers.push_back(a.source ? drawn_from(a.source, asked().own_bits, g)
                                 : Scalar::of(DType::Int64, a.address));
  for (const Input& in : d.inputs) {
    if (objects_known && is_of_globals(in))
      g.found.push_back(in.object);
    else if (!take(in, known, g))
      return false;
  }
  return fit(d, g);
}

// Runs the code on them; false: arrays overlap. Throws.
bool run_code(const Description& d, Given& g, std::unique_ptr<Heap>& heap, bool parked) {
  const auto may_run = [&] {
    for (const auto& [a, b] : d.apart)
      if (overlap(g, a, b)) return false;
    return true;
  };
  try {
    const Drawing drawing(g.bits);
    const LoopSpan span;
    if (!d.procedure->run_once(g.arrays, g.params, g.numbers, may_run, g.results, heap, parked))
      return false;
  } catch (const engine::Interrupted&) {
    const ErrorAside aside;
    give_back(g);
    throw;
  }
  give_back(g);
  return true;
}

// Whether it has heard of something, or failed, which Python tells.
bool has_to_tell(const Given& g) {
  return g.results[kHeard].as<std::int64_t>() != 0 || g.results[kSite].as<std::int64_t>() != 0;
}
Owned all_results(const Given& g, std::unique_ptr<Heap> heap) {
  const auto n = static_cast<Py_ssize_t>(g.results.size());
  Owned all(check(PyTuple_New(n + (heap ? 1 : 0))));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(all.get(), i, python_number(g.results[static_cast<std::size_t>(i)]));
  if (heap) PyTuple_SET_ITEM(all.get(), n, pb::cast(std::move(heap)).release().ptr());
  return all;
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
  const bool told = has_to_tell(g);
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
  if (!has_to_tell(g)) return value_of(d, g, given);
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
  entry_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&entry_spec));
  return done_type && entry_type && PyModule_AddFunctions(module, list_methods) == 0 &&
         PyModule_AddObjectRef(module, "LoopEntry", reinterpret_cast<PyObject*>(entry_type)) == 0;
}

}  // namespace plait::py
