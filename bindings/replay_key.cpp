#include "replay_key.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tracer/context.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::py {

namespace {

constexpr std::int64_t kApart = std::numeric_limits<std::int64_t>::min();

// Where an array's first element is, and in which memory: NumPy's arrays are in one.
struct Location {
  const void* memory;
  std::int64_t at;
};
Location location_of(PyObject* o) {
  if (is_array(o)) {
    const tracer::Array& a = as_array(o)->array;
    return {a.storage.get(), a.offset};
  }
  return {nullptr,
          reinterpret_cast<std::int64_t>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(o)))};
}

std::int64_t bytes_apart(const ArrayKey& x, PyObject* a, const ArrayKey& y, PyObject* b) {
  const Location p = location_of(a), q = location_of(b);
  if (p.memory != q.memory) return kApart;
  // Views of one storage are read through one node, wherever they are.
  const bool overlap =
      p.memory || (p.at + x.first < q.at + y.last && q.at + y.first < p.at + x.last);
  return overlap ? q.at - p.at : kApart;
}

bool same_dims(const Dims& d, const npy_intp* p) {
  for (const std::int64_t v : d)
    if (v != *p++) return false;
  return true;
}

bool is_numpys_like(PyArrayObject* a, const ArrayKey& k) {
  PyArray_Descr* const d = PyArray_DESCR(a);
  return (d == descr_of(k.dtype) || native_dtype(d) == k.dtype) &&
         PyArray_NDIM(a) == k.shape.size() && same_dims(k.shape, PyArray_DIMS(a)) &&
         same_dims(k.strides, PyArray_STRIDES(a)) && PyArray_ISALIGNED(a) &&
         (PyArray_ISWRITEABLE(a) != 0) == k.writeable &&
         (k.dtype != DType::Bool || may_hold_any_bytes(a) == k.any_bytes);
}

// What stands for itself: nobody can change it.
bool is_constant(PyObject* o) {
  return o == Py_None || o == Py_Ellipsis || PyBool_Check(o) || PyType_Check(o) ||
         PyObject_TypeCheck(o, &PyFunction_Type) || PyCFunction_Check(o) || PyArray_DescrCheck(o);
}
bool is_compared(PyObject* o) {
  return PyLong_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o);
}
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::optional<Scalar> numpys_scalar(PyObject* o) {
  if (!PyArray_IsScalar(o, Generic)) return std::nullopt;
  OperandHolder h;
  if (parse_operand(o, h) == Parsed::Fallback || h.operand->array) return std::nullopt;
  return h.operand->scalar;
}

bool is_sequence(PyObject* o) {
  return is_list(o) || (PyTuple_Check(o) && PyObject_HasAttrString(o, "_fields"));
}

// Whether all of an object's state is in its __dict__: its classes are Python's, and without slots.
bool is_plain_object(PyObject* o) {
  const PyTypeObject* const type = Py_TYPE(o);
  constexpr Py_ssize_t kNoMembers = sizeof(PyObject) + 2 * sizeof(PyObject*);
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_dictoffset == 0 ||
      type->tp_itemsize != 0 || type->tp_basicsize > kNoMembers)
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    const auto* const base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i));
    if (base->tp_dict && PyDict_GetItemString(base->tp_dict, "__slots__")) return false;
  }
  return true;
}

constexpr int kDeepest = 16;  // objects in objects

}  // namespace

std::optional<ArrayKey> array_key(PyObject* o) {
  ArrayKey k{};
  if (Py_TYPE(o) == array_type) {
    if (as_array(o)->host) return std::nullopt;
    const tracer::Array& a = as_array(o)->array;
    k.plaits = engine::layout_of(a);
    if (!k.plaits || a.storage->borrowed) return std::nullopt;
    k.dtype = a.dtype;
    k.shape = a.shape;
    k.strides = a.strides;
    k.writeable = a.writeable;
    k.any_bytes = k.dtype == DType::Bool && a.storage->any_bytes;
  } else {
    auto* a = reinterpret_cast<PyArrayObject*>(o);
    const auto t = native_dtype(PyArray_DESCR(a));
    if (!t || !PyArray_ISALIGNED(a)) return std::nullopt;
    const auto item = static_cast<npy_intp>(itemsize(*t));
    k.numpys = true;
    k.dtype = *t;
    k.shape = Dims(PyArray_NDIM(a));
    k.strides = Dims(PyArray_NDIM(a));
    for (int i = 0; i < k.shape.size(); ++i) {
      k.shape[i] = PyArray_DIM(a, i);
      k.strides[i] = PyArray_STRIDE(a, i);
      if (k.shape[i] > 1 && k.strides[i] % item != 0) return std::nullopt;
    }
    k.writeable = PyArray_ISWRITEABLE(a) != 0;
    k.any_bytes = k.dtype == DType::Bool && may_hold_any_bytes(a);
  }
  const auto e = tracer::extent(k.shape, k.strides, static_cast<std::int64_t>(itemsize(k.dtype)));
  k.first = e.first;
  k.last = e.last;
  return k;
}

ArgumentKey::ArgumentKey(PyObject* o, std::vector<PyObject*>* arrays, int depth) {
  PyTypeObject* const type = Py_TYPE(o);
  value_ = Owned::borrow(o);
  if (type == array_type || PyArray_CheckExact(o)) {
    kind_ = arrays ? Kind::Array : Kind::Same;
    if (!arrays) return;
    array_ = arrays->size();
    value_ = Owned::borrow(reinterpret_cast<PyObject*>(type));
    arrays->push_back(o);
  } else if (is_constant(o)) {
    kind_ = Kind::Same;
  } else if (is_compared(o)) {
    kind_ = Kind::Equal;
  } else if (PyFloat_CheckExact(o)) {
    kind_ = Kind::Float;
  } else if (PyComplex_CheckExact(o)) {
    kind_ = Kind::Complex;
  } else if (numpys_scalar(o)) {
    kind_ = Kind::Scalar;
  } else if (depth == kDeepest) {
    throw Unknown{"objects in objects"};
  } else if (is_sequence(o)) {
    kind_ = Kind::Sequence;
    // A list may change; its items are in items_.
    value_ = Owned::borrow(reinterpret_cast<PyObject*>(type));
    const Owned items(check(PySequence_Tuple(o)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i)
      items_.push_back(ArgumentKey(PyTuple_GET_ITEM(items.get(), i), arrays, depth + 1));
  } else if (PyDict_CheckExact(o)) {
    kind_ = Kind::Dict;
    take_items(o, arrays, depth);
  } else if (is_plain_object(o)) {
    kind_ = Kind::Object;
    const Owned attributes(check(PyObject_GenericGetDict(o, nullptr)));
    take_items(attributes.get(), nullptr, depth);
  } else {
    throw Unknown{type->tp_name};
  }
}

void ArgumentKey::take_items(PyObject* dict, std::vector<PyObject*>* arrays, int depth) {
  const Owned names(check(PyDict_Keys(dict)));
  names_ = Owned(check(PySequence_Tuple(names.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names_.get()); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names_.get(), i);
    if (!PyUnicode_CheckExact(name) && !PyLong_CheckExact(name))
      throw Unknown{"a dict whose keys are neither strings nor integers"};
    PyObject* const item = PyDict_GetItem(dict, name);
    if (!item) throw Unknown{"a dict that changes"};
    items_.push_back(ArgumentKey(item, arrays, depth + 1));
  }
}

bool ArgumentKey::matches(PyObject* o, PyObject** arrays) const {
  switch (kind_) {
    case Kind::Array:
      arrays[array_] = o;
      return reinterpret_cast<PyObject*>(Py_TYPE(o)) == value_.get();
    case Kind::Same:
      return o == value_.get();
    case Kind::Equal: {
      if (o == value_.get()) return true;
      if (Py_TYPE(o) != Py_TYPE(value_.get())) return false;
      const int equal = PyObject_RichCompareBool(o, value_.get(), Py_EQ);
      check(equal);
      return equal != 0;
    }
    case Kind::Float:
      return PyFloat_CheckExact(o) &&
             same_bits(PyFloat_AS_DOUBLE(o), PyFloat_AS_DOUBLE(value_.get()));
    case Kind::Complex: {
      if (!PyComplex_CheckExact(o)) return false;
      const Py_complex a = PyComplex_AsCComplex(o), b = PyComplex_AsCComplex(value_.get());
      return same_bits(a.real, b.real) && same_bits(a.imag, b.imag);
    }
    case Kind::Scalar: {
      if (Py_TYPE(o) != Py_TYPE(value_.get())) return false;
      const auto a = numpys_scalar(o), b = numpys_scalar(value_.get());
      return a->dtype == b->dtype && std::memcmp(a->bytes, b->bytes, itemsize(a->dtype)) == 0;
    }
    case Kind::Sequence: {
      if (reinterpret_cast<PyObject*>(Py_TYPE(o)) != value_.get()) return false;
      const auto n = static_cast<Py_ssize_t>(items_.size());
      for (Py_ssize_t i = 0; i < n; ++i)
        if (PySequence_Fast_GET_SIZE(o) != n ||
            !items_[static_cast<std::size_t>(i)].matches(PySequence_Fast_GET_ITEM(o, i), arrays))
          return false;
      return PySequence_Fast_GET_SIZE(o) == n;
    }
    case Kind::Dict:
      return PyDict_CheckExact(o) && items_match(o, arrays);
    case Kind::Object: {
      if (o != value_.get()) return false;
      const Owned attributes(check(PyObject_GenericGetDict(o, nullptr)));
      return items_match(attributes.get(), arrays);
    }
  }
  return false;
}

// In the order of the dict: what is made of it may be in that order.
bool ArgumentKey::items_match(PyObject* dict, PyObject** arrays) const {
  if (PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(names_.get())) return false;
  Py_ssize_t at = 0;
  PyObject *name, *item;
  for (std::size_t i = 0; PyDict_Next(dict, &at, &name, &item); ++i) {
    PyObject* const known = PyTuple_GET_ITEM(names_.get(), static_cast<Py_ssize_t>(i));
    if (name != known) {
      if (Py_TYPE(name) != Py_TYPE(known)) return false;
      const int equal = PyObject_RichCompareBool(name, known, Py_EQ);
      check(equal);
      if (!equal) return false;
    }
    if (!items_[i].matches(item, arrays)) return false;
  }
  return true;
}

CallKey::CallKey(PyObject* const* args, Py_ssize_t n, PyObject* names)
    : positional_(n), error_state_(tracer::current_error_state()) {
  for (Py_ssize_t i = 0; i < n; ++i) arguments_.emplace_back(args[i], found_);
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    named_.emplace_back(Owned::borrow(PyTuple_GET_ITEM(names, i)),
                        ArgumentKey(args[n + i], found_));
  for (PyObject* o : found_) {
    auto k = array_key(o);
    if (!k) throw ArgumentKey::Unknown{nullptr};
    if (k->numpys != PyArray_CheckExact(found_[0]))
      throw ArgumentKey::Unknown{"NumPy's arrays beside Plait's"};
    arrays_.push_back(*std::move(k));
  }
  for (std::size_t i = 0; i < found_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      apart_.push_back(bytes_apart(arrays_[i], found_[i], arrays_[j], found_[j]));
      overlap_ |= apart_.back() != kApart;
    }
}

bool CallKey::arguments_match(const std::vector<Owned>& args) const {
  std::vector<PyObject*> arrays(arrays_.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ArgumentKey& key =
        i < arguments_.size() ? arguments_[i] : named_[i - arguments_.size()].second;
    if (!key.matches(args[i].get(), arrays.data())) return false;
  }
  return true;
}

bool CallKey::overlap_alike(PyObject* const* arrays) const {
  std::size_t pair = 0;
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (bytes_apart(arrays_[i], arrays[i], arrays_[j], arrays[j]) != apart_[pair++]) return false;
  return true;
}

bool CallKey::matches(PyObject* const* args, Py_ssize_t n, PyObject* names,
                      PyObject** arrays) const {
  const Py_ssize_t by_name = names ? PyTuple_GET_SIZE(names) : 0;
  if (n != positional_ || by_name != static_cast<Py_ssize_t>(named_.size()) ||
      error_state_ != tracer::current_error_state())
    return false;
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!arguments_[static_cast<std::size_t>(i)].matches(args[i], arrays)) return false;
  for (Py_ssize_t i = 0; i < by_name; ++i) {
    const auto& [name, key] = named_[static_cast<std::size_t>(i)];
    PyObject* const given = PyTuple_GET_ITEM(names, i);
    if (name.get() != given && PyUnicode_Compare(name.get(), given) != 0) return false;
    if (!key.matches(args[n + i], arrays)) return false;
  }
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const ArrayKey& k = arrays_[i];
    if (k.numpys) {
      if (!is_numpys_like(reinterpret_cast<PyArrayObject*>(arrays[i]), k)) return false;
    } else {
      force(as_array(arrays[i])->array);
      const auto now = array_key(arrays[i]);
      if (!now || !(*now == k)) return false;
    }
  }
  return overlap_alike(arrays);
}

}  // namespace plait::py
