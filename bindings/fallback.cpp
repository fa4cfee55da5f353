// A function of NumPy, called with Plait's arguments. The common ones (arrays, numbers, lists of
// them) are converted here; whatever else, and everything once devices are in use, goes through
// plait/_fallback.py.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/config.hpp"
#include "core/timeline.hpp"
#include "engine/reports/report.hpp"
#include "functions.hpp"
#include "imported.hpp"
#include "pooled_memory.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

namespace plait::py {
namespace {

// A file, or what reads and writes as one.
bool is_stream(PyObject* o) {
  static constinit Imported base("_io", "_IOBase");
  return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(base.get()));
}

// Objects that NumPy takes as they are and that hold no Plait array.
bool plain(PyObject* o) {
  return o == Py_None || PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
         PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o) ||
         o == Py_Ellipsis || PyArray_CheckExact(o) || PyArray_CheckScalar(o) ||
         PyArray_DescrCheck(o) || PyObject_TypeCheck(o, &PyFunction_Type) || PyRange_Check(o) ||
         PySlice_Check(o) || (PyType_Check(o) && o != reinterpret_cast<PyObject*>(array_type)) ||
         is_stream(o);
}

// A function of NumPy's that asks __array_function__ of its arguments is what it does for those of
// its own, which the converted ones are.
PyObject* without_asking(PyObject* function) {
  static constinit Imported asking("numpy._core._multiarray_umath", "_ArrayFunctionDispatcher");
  if (reinterpret_cast<PyObject*>(Py_TYPE(function)) != asking.get()) return function;
  static auto* known = new std::unordered_map<PyObject*, PyObject*>;
  PyObject*& found = (*known)[function];
  if (!found) {
    found = check(PyObject_GetAttrString(function, "_implementation"));
    Py_INCREF(function);  // what stands at its address is this function for good
  }
  return found;
}

class NumpyCall {
 public:
  // The argument as NumPy gets it; null when it is not one of the common kinds.
  Owned outward(PyObject* o) {
    if (is_array(o)) {
      if (Py_TYPE(o) != array_type) return {};  // NumPy gets a subclass
      Owned host(to_numpy(as_array(o)));
      saw(host.get(), o);
      bytes_ += PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(host.get()));
      return host;
    }
    if (is_lazy(o)) return Owned::borrow(lazy_value(as_lazy(o)));
    if (PyArray_CheckExact(o)) saw(o, o);
    if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) return items_outward(o);
    if (PyLong_CheckExact(o)) {  // it may be a length
      int beyond = 0;
      bytes_ += std::clamp(PyLong_AsLongLongAndOverflow(o, &beyond), 0LL, 1LL << 32) * 8;
    }
    return plain(o) ? Owned::borrow(o) : Owned();
  }

  // The result of the function.
  Owned run(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* names) const {
    std::optional<PooledMemory> pooled;
    if (bytes_ >= kPooledFrom) pooled.emplace();
    return Owned(check(
        PyObject_Vectorcall(without_asking(function), args, static_cast<std::size_t>(n), names)));
  }

  // The result as the caller gets it; an argument that comes back is the caller's own object.
  Owned inward(PyObject* o) {
    if (PyArray_CheckExact(o)) {
      for (const Seen& s : seen())
        if (s.host == o) return Owned::borrow(s.ours);
      Owned made(adopted(reinterpret_cast<PyArrayObject*>(o)));
      PyObject* base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(o));
      for (const Seen& s : seen())
        if (base == s.host && base != s.ours) set_base(made.get(), s.ours);
      return made;
    }
    if (PyTuple_Check(o) || PyList_CheckExact(o)) return items_inward(o);
    if (PyDict_CheckExact(o)) {
      Owned out(check(PyDict_New()));
      PyObject *key, *value;
      for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);)
        check(PyDict_SetItem(out.get(), key, inward(value).get()));
      return out;
    }
    return Owned::borrow(o);
  }

 private:
  struct Seen {
    PyObject *host, *ours;
  };

  Owned items_outward(PyObject* o) {
    const Owned items(check(PySequence_Tuple(o)));  // other threads may change a list meanwhile
    const Py_ssize_t n = PyTuple_GET_SIZE(items.get());
    Owned out(check(PyList_CheckExact(o) ? PyList_New(n) : PyTuple_New(n)));
    bool same = true;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* item = PyTuple_GET_ITEM(items.get(), i);
      Owned made = outward(item);
      if (!made) return {};
      same = same && made.get() == item;
      if (PyList_CheckExact(o))
        PyList_SET_ITEM(out.get(), i, made.release());
      else
        PyTuple_SET_ITEM(out.get(), i, made.release());
    }
    return same ? Owned::borrow(o) : std::move(out);
  }

  Owned items_inward(PyObject* o) {
    const bool list = PyList_CheckExact(o);
    const bool named = !list && !PyTuple_CheckExact(o);
    if (named && !PyObject_HasAttrString(o, "_fields")) return Owned::borrow(o);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    Owned out(check(list ? PyList_New(n) : PyTuple_New(n)));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* item = inward(PySequence_Fast_GET_ITEM(o, i)).release();
      if (list)
        PyList_SET_ITEM(out.get(), i, item);
      else
        PyTuple_SET_ITEM(out.get(), i, item);
    }
    if (!named) return out;
    return Owned(check(PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(o)), out.get())));
  }

  void saw(PyObject* host, PyObject* ours) {
    if (count_ < std::size(few_))
      few_[count_++] = {host, ours};
    else
      many_.push_back({host, ours});
    if (count_ == std::size(few_) && many_.empty()) many_.assign(few_, few_ + count_);
  }
  std::span<const Seen> seen() const {
    return many_.empty() ? std::span(few_, count_) : std::span<const Seen>(many_);
  }

  // The arguments keep both. Most calls have few, which need no memory.
  Seen few_[8];
  std::size_t count_ = 0;
  std::vector<Seen> many_;
  std::int64_t bytes_ = 0;  // of them
};

// (function, args, kwargs or None, name): what plait/_fallback.py's call() does.
PyObject* call_numpy(Exactly<4>& args) {
  PyObject* const* const given = PySequence_Fast_ITEMS(args[1]);
  const Py_ssize_t positional = PyTuple_GET_SIZE(args[1]);
  if (args[2] == Py_None || PyDict_GET_SIZE(args[2]) == 0)
    return by_numpy(args[0], args[3], given, positional, nullptr);
  const Owned names(check(PySequence_Tuple(args[2])));
  std::vector<PyObject*> all(given, given + positional);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i)
    all.push_back(PyDict_GetItem(args[2], PyTuple_GET_ITEM(names.get(), i)));
  return by_numpy(args[0], args[3], all.data(), positional, names.get());
}

// The same arguments for Python.
struct Packed {
  Owned args, keywords;
  Packed(PyObject* const* all, Py_ssize_t n, PyObject* names)
      : args(check(PyTuple_New(n))), keywords(check(PyDict_New())) {
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(args.get(), i, Py_NewRef(all[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
      check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), all[n + i]));
  }
};

bool holds_arrays(PyObject* o, int depth) {
  if (!is_list(o)) return is_array(o) || is_lazy(o);
  for (Py_ssize_t i = 0; depth < NPY_MAXDIMS && i < PySequence_Fast_GET_SIZE(o); ++i)
    if (holds_arrays(PySequence_Fast_GET_ITEM(o, i), depth + 1)) return true;
  return false;
}

// A list of the same values; its arrays stay as they are where they are to be elements.
Owned copied(PyObject* o, bool elements, int depth) {
  if (is_list(o) && depth < NPY_MAXDIMS) {
    Owned items(check(PySequence_List(o)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i)
      check(PyList_SetItem(items.get(), i,
                           copied(PyList_GET_ITEM(items.get(), i), elements, depth + 1).release()));
    return PyTuple_CheckExact(o) ? Owned(check(PyList_AsTuple(items.get()))) : std::move(items);
  }
  if (elements || !(is_lazy(o) || Py_TYPE(o) == array_type)) return Owned::borrow(o);
  return is_lazy(o) ? Owned::borrow(lazy_value(as_lazy(o))) : Owned(to_numpy(as_array(o)));
}

// Whether an array of this dtype (whatever NumPy takes for one) holds objects.
bool holds_objects(PyObject* dtype) {
  PyArray_Descr* d = nullptr;
  if (dtype == Py_None || !PyArray_DescrConverter2(dtype, &d)) PyErr_Clear();
  const Owned owned(reinterpret_cast<PyObject*>(d));
  return d && PyDataType_REFCHK(d);
}

// Whether a list still has the items of its copy; an array in the copy stands for one.
bool unchanged(PyObject* o, PyObject* copy) {
  if (!is_list(copy) || o == copy) return o == copy || is_array(o) || is_lazy(o);
  if (!is_list(o) || PySequence_Fast_GET_SIZE(o) != PySequence_Fast_GET_SIZE(copy)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (!unchanged(PySequence_Fast_GET_ITEM(o, i), PySequence_Fast_GET_ITEM(copy, i))) return false;
  return true;
}

// (o, listed(o)): what NumPy says when it meets a list that another thread, or what the items do
// when they are read, has changed.
PyObject* check_unchanged(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (!exact_count(n, 2)) return nullptr;
  if (unchanged(args[0], args[1])) Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError,
                  "Inconsistent object during array creation? Content of sequences changed while "
                  "it was read.");
  return nullptr;
}

// (o, dtype): with_numpys_arrays() for an array of that dtype.
PyObject* listed(Exactly<2>& args) {
  if (!is_list(args[0]) || !holds_arrays(args[0], 0)) return Py_NewRef(args[0]);
  return copied(args[0], holds_objects(args[1]), 0).release();
}

// Elements of the arrays among the items of a tuple and in lists of them; a large negative number
// where NumPy has to look at an argument. An array of few is few whatever its dtype.
constexpr std::int64_t kSure = 1024;
constexpr std::int64_t kNumpys = -(std::int64_t{1} << 60);
std::int64_t elements_in(PyObject* list, std::int64_t few, int depth);
std::int64_t elements(PyObject* o, std::int64_t few, int depth) {
  if (is_array(o)) {
    if (Py_TYPE(o) != array_type) return kNumpys;
    if (!as_array(o)->host) return as_array(o)->array.size();
    const npy_intp n = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(as_array(o)->host));
    return n < few ? n : kNumpys;
  }
  if (PyArray_Check(o)) return PyArray_CheckExact(o) ? 0 : kNumpys;
  if (depth == NPY_MAXDIMS || !is_list(o) || PySequence_Fast_GET_SIZE(o) > 64) return 0;
  return elements_in(o, 0, depth + 1);
}
std::int64_t elements_in(PyObject* list, std::int64_t few, int depth) {
  std::int64_t sum = 0;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list) && sum >= 0; ++i)
    sum += elements(PySequence_Fast_GET_ITEM(list, i), few, depth);
  return std::max(sum, kNumpys);
}

// (tuple, few)
PyObject* elements_of(Exactly<2>& args) {
  return PyLong_FromLongLong(elements_in(args[0], integer(args[1]), 0));
}

// "NumPy computes ...": why a call cannot be kept. There are no more such texts than functions, and
// they stay.
const char* computed_by_numpy(PyObject* function, PyObject* name) {
  static auto* const texts = new std::set<std::string>;
  const Owned own(PyUnicode_Check(name) ? Py_NewRef(name)
                                        : PyObject_GetAttrString(function, "__name__"));
  const char* const text = own ? PyUnicode_AsUTF8(own.get()) : nullptr;
  if (!text) PyErr_Clear();
  return texts->insert("NumPy computes " + std::string(text ? text : "a part of it"))
      .first->c_str();
}

PyObject* adopt_result(PyObject* o) { return adopted(reinterpret_cast<PyArrayObject*>(o)); }

}  // namespace

PyObject* by_numpy(PyObject* function, PyObject* name, PyObject* const* args, Py_ssize_t n,
                   PyObject* names, Py_ssize_t plain) {
  if (tracer::capture()) tracer::obstruct_capture(computed_by_numpy(function, name));
  const bool noted = noting_fallbacks();
  if (noted) Owned(call_hook(hooks.note, function, name));
  auto by_python = [&] {
    const Packed p(args, n, names);
    return call_hook(hooks.call, function, p.args.get(), p.keywords.get());
  };
  // Results without arguments go where the thread creates arrays; no device is in use before the
  // first is.
  if (noted || tracer::current_device() != kHost || devices_in_use()) return by_python();
  NumpyCall call;
  const Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
  constexpr Py_ssize_t kMost = 16;  // no function of NumPy's has more that are given together
  if (all > kMost) return by_python();
  struct {
    PyObject* at[kMost];
    Py_ssize_t count = 0;
  } given;
  const auto drop = [](auto* g) {
    while (g->count > 0) Py_DECREF(g->at[--g->count]);
  };
  const std::unique_ptr<decltype(given), decltype(drop)> held(&given, drop);
  for (; given.count < all; ++given.count) {
    PyObject* const o = args[given.count];
    Owned out = given.count < plain ? Owned::borrow(o) : call.outward(o);
    if (!out) return by_python();
    given.at[given.count] = out.release();
  }
  return call.inward(call.run(function, given.at, n, names).get()).release();
}

bool few_elements(PyObject* const* args, Py_ssize_t n, PyObject* names, std::int64_t few) {
  std::int64_t sum = 0;
  for (Py_ssize_t i = 0; i < n && sum >= 0; ++i)
    sum += elements(args[i], few > kSure ? kSure : 0, 0);
  if (sum >= few) return false;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (elements(args[n + i], 0, 0) < 0) return false;
  return true;
}

bool noting_fallbacks() {
  return logging(Log::Fallback) || engine::Watch::current() || timeline::on();
}

// Memory of somebody else (a buffer, a mapped file, the array that the result is a view of) is
// shared: both sides see writes.
PyObject* adopted(PyArrayObject* result) {
  const Origin from = origin_of(result);
  const bool only_its_view = Py_REFCNT(from.array) == 1;
  const bool ours = from.base ? is_export(from.base) || PyBytes_Check(from.base)
                              : from.array == result || only_its_view;
  PyObject* made =
      from_numpy(reinterpret_cast<PyObject*>(result), ours ? Take::Adopt : Take::Share);
  if (from.base && !is_export(from.base)) set_base(made, from.base);
  return made;
}

PyObject* getitem_by_numpy(PyObject* self, PyObject* key) {
  auto by_python = [&] { return call_hook(hooks.getitem, self, key); };
  if (noting_fallbacks() || devices_in_use() || Py_TYPE(self) != array_type) return by_python();
  NumpyCall call;
  const Owned host_key = call.outward(key);
  if (!host_key) return by_python();
  const Owned host(to_numpy(as_array(self)));
  Owned result(check(PyObject_GetItem(host.get(), host_key.get())));
  if (!PyArray_CheckExact(result.get())) return result.release();  // an object's element is itself
  PyObject* const base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(result.get()));
  Owned made = call.inward(result.get());
  if (base &&
      (base == host.get() || base == PyArray_BASE(reinterpret_cast<PyArrayObject*>(host.get()))))
    set_base(made.get(), self);
  return made.release();
}

Owned with_numpys_arrays(PyObject* o) {
  return is_list(o) && holds_arrays(o, 0) ? copied(o, false, 0) : Owned::borrow(o);
}

PyMethodDef fallback_functions[] = {row<call_numpy>("call_numpy"),
                                    row<adopt_result>("adopt_result"),
                                    row<elements_of>("elements"),
                                    row<listed>("listed"),
                                    {"check_unchanged", c(check_unchanged), METH_FASTCALL, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
