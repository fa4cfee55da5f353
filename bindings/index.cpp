// x[key] and x[key] = value. Integers, slices, Ellipsis and None are views of the same storage; a
// boolean mask with a scalar value is a masked store; arrays of integers and booleans are
// numpy_compat's (indexing.hpp). What is left, and wrong keys, are NumPy's.
#include <cstring>
#include <vector>

#include "advanced_key.hpp"
#include "element_now.hpp"
#include "functions.hpp"
#include "imported.hpp"
#include "tracer/elements.hpp"

namespace plait::py {
namespace {

struct Key {
  Key() {}
  union {
    tracer::Index entries[kMaxDims * 2];  // of which `count` are made
  };
  int count = 0;
  int integers = 0;
  bool copies = false;  // an array without axes is among them: no view, as in NumPy
};

bool is_slice_part(PyObject* o) { return o == Py_None || PyIndex_Check(o); }
std::optional<std::int64_t> slice_part(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  if (PyLong_CheckExact(o)) {
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow > 0 ? PY_SSIZE_T_MAX : overflow < 0 ? PY_SSIZE_T_MIN : v;
  }
  Py_ssize_t v = PyNumber_AsSsize_t(o, nullptr);
  if (v == -1 && PyErr_Occurred()) throw PythonError{};
  return v;
}

// False when the entry asks for advanced indexing.
bool parse_entry(PyObject* o, Key& key) {
  if (key.count >= kMaxDims * 2) return false;
  tracer::Index& e = *new (&key.entries[key.count]) tracer::Index;
  if (PyLong_CheckExact(o)) {
    int overflow;
    e = static_cast<std::int64_t>(PyLong_AsLongLongAndOverflow(o, &overflow));
    if (overflow) return false;
    ++key.integers;
  } else if (PySlice_Check(o)) {
    auto* s = reinterpret_cast<PySliceObject*>(o);
    // NumPy says which entry of the key is wrong first.
    if (!is_slice_part(s->start) || !is_slice_part(s->stop) || !is_slice_part(s->step))
      return false;
    if (s->start == Py_None && s->stop == Py_None && s->step == Py_None)
      e = tracer::All{};
    else
      e = tracer::Slice{slice_part(s->start), slice_part(s->stop), slice_part(s->step)};
  } else if (o == Py_None) {
    e = tracer::NewAxis{};
  } else if (o == Py_Ellipsis) {
    e = tracer::Ellipsis{};
  } else if (has_index(o)) {
    Py_ssize_t v = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (v == -1 && PyErr_Occurred()) throw PythonError{};
    e = static_cast<std::int64_t>(v);
    ++key.integers;
    key.copies |= is_array(o) || PyArray_Check(o);
  } else {
    return false;
  }
  ++key.count;
  return true;
}

bool parse_key(PyObject* o, Key& key) {
  if (!PyTuple_Check(o)) return parse_entry(o, key);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
    if (!parse_entry(PyTuple_GET_ITEM(o, i), key)) return false;
  return true;
}

}  // namespace

std::optional<tracer::Array> parse_indices(PyObject* o) {
  const bool list = PyList_CheckExact(o) || PyTuple_CheckExact(o);
  const bool array = is_array(o) || PyArray_Check(o);
  std::optional<tracer::Array> made;
  if (list || array) {
    made = parse_array(o);
  } else if (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o)) {  // a range
    const Owned read(PyRange_Check(o) ? PySequence_List(o)
                                      : PyArray_FromAny(o, nullptr, 0, 0, 0, nullptr));
    if (read)
      made = parse_array(read.get());
    else
      PyErr_Clear();  // it comes again from NumPy
  }
  if (made && !array && made->size() == 0) made = tracer::empty(made->shape, DType::Int64);
  return made;
}

std::optional<AdvancedKey> parse_advanced(PyObject* o) {
  const Owned entries = PyTuple_Check(o) ? Owned::borrow(o) : Owned(check(PyTuple_Pack(1, o)));
  AdvancedKey key;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries.get()); ++i) {
    PyObject* entry = PyTuple_GET_ITEM(entries.get(), i);
    Key basic;
    if (parse_entry(entry, basic)) {
      key.emplace_back(basic.entries[0]);
      continue;
    }
    std::optional<tracer::Array> array = parse_indices(entry);
    if (!array) return std::nullopt;
    key.emplace_back(std::move(*array));
  }
  return key;
}

namespace {

// x[i], x[i, j] ... where each is a Python int: the quick way through most loops over elements.
bool names_element(PyObject* key, int ndim, std::int64_t* index) {
  const bool tuple = PyTuple_CheckExact(key);
  if (ndim == 0 || (tuple ? PyTuple_GET_SIZE(key) != ndim : ndim != 1)) return false;
  for (int i = 0; i < ndim; ++i) {
    PyObject* const o = tuple ? PyTuple_GET_ITEM(key, i) : key;
    int overflow;
    if (!PyLong_CheckExact(o)) return false;
    index[i] = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return false;
  }
  return true;
}

bool selects_element(const Key& key, const tracer::Array& a) {
  return key.integers == key.count && key.count == a.ndim();
}

void integer_index(const Key& key, std::int64_t* out) {
  for (int i = 0; i < key.count; ++i) out[i] = std::get<std::int64_t>(key.entries[i]);
}

}  // namespace

PyObject* read_element(const tracer::Array& a, std::span<const std::int64_t> index) {
  if (const std::byte* const in_memory = tracer::peek(a, index))
    return wrap_element(a.dtype, in_memory);
  if (tracer::is_materialised(a)) return wrap_scalar(tracer::item(a, index));
  tracer::Array hold = a;
  Scalar s;
  without_gil([&] { s = tracer::item(hold, index); });
  return wrap_scalar(s);
}

PyObject* element_now(const tracer::Array& a, std::span<const std::int64_t> index) noexcept {
  if (events_pending.load(std::memory_order_relaxed)) return nullptr;
  const std::byte* const in_memory = tracer::peek(a, index);
  if (!in_memory) return nullptr;
  try {
    return wrap_element(a.dtype, in_memory);
  } catch (const PythonError&) {
    PyErr_Clear();  // it comes again
    return nullptr;
  }
}

namespace {

// array[key] = value for one element in memory and a number that its dtype holds: nothing is
// recorded or computed, no guarded() is needed. False where there is more to do.
bool stored_now(const ArrayObject* a, PyObject* key, PyObject* value) noexcept {
  std::int64_t index[kMaxDims];
  if (a->host || events_pending.load(std::memory_order_relaxed) ||
      !names_element(key, a->array.ndim(), index))
    return false;
  const std::optional<Scalar> number = held_number(value, a->array.dtype);
  const auto ndim = static_cast<std::size_t>(a->array.ndim());
  return number && tracer::set_item_now(a->array, std::span(index, ndim), *number);
}

PyObject* view_of(PyObject* self, tracer::Array view) {
  PyTypeObject* type = Py_TYPE(self);
  Owned out(wrap(std::move(view), self, type));
  if (type != array_type) finalize(out.get(), self);
  return out.release();
}

// Whether a value converts to the array's dtype without a question of range.
bool plain_value(const tracer::Operand& v, DType to) {
  if (v.array) return !is_complex(v.array->dtype) || is_complex(to);
  if (v.weak == Weak::Int) return true;  // the recorder asks
  if (is_float(v.scalar.dtype) && (is_float(to) || is_complex(to))) return true;
  return can_cast(v.scalar.dtype, to, Casting::Safe);
}

// The same for one that goes into memory at once: the recorder is not asked.
bool converts(const tracer::Operand& v, DType to) {
  return v.weak != Weak::Int || to == DType::Int64 || is_float(to) || is_complex(to);
}

// A list's numbers are checked against the dtype that they are stored in, as NumPy reads a list;
// rows that are arrays are cast without a check.
bool reads_by_dtype(PyObject* list, const tracer::Operand& v, DType to) {
  if (!is_list(list) || !v.array || can_cast(v.array->dtype, to, Casting::Safe)) return false;
  if (is_float(v.array->dtype) && (is_float(to) || is_complex(to))) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i)
    if (!is_array(PySequence_Fast_GET_ITEM(list, i))) return true;
  return false;
}
std::optional<tracer::Array> read_as(PyObject* list, DType t) {
  const Owned values = with_numpys_arrays(list);
  PyArray_Descr* d = descr_of(t);
  Py_INCREF(d);
  const Owned made(check(PyArray_FromAny(values.get(), d, 0, 0, NPY_ARRAY_FORCECAST, nullptr)));
  return native_from_numpy(reinterpret_cast<PyArrayObject*>(made.get()), Take::Adopt);
}

// NumPy drops leading ones of the value's shape when it has too many dimensions.
tracer::Array fit(const tracer::Array& value, int ndim) {
  if (value.ndim() <= ndim) return value;
  Dims shape = value.shape;
  while (shape.size() > ndim && shape[0] == 1) shape.erase(0);
  return shape == value.shape ? value : tracer::reshape(value, shape);
}

void store(const tracer::Array& target, const OperandHolder& value, const tracer::Array* mask) {
  if (value.operand->array)
    tracer::assign(target, fit(*value.operand->array, target.ndim()), mask);
  else
    tracer::assign(target, *value.operand, mask);
}

bool set_by_arrays(const tracer::Array& target, PyObject* o, const tracer::Operand& value) {
  const std::optional<AdvancedKey> key = parse_advanced(o);
  if (!key) return false;
  const tracer::Array to = target;
  bool done = false;
  without_gil_if_long({to.size(), longest(*key)}, [&] { done = numpy::setitem(to, *key, value); });
  return done;
}

// A boolean array as the only index, with the leading dimensions of the target.
std::optional<tracer::Array> mask_key(PyObject* key, const tracer::Array& target) {
  if (!is_array(key) && !PyArray_Check(key)) return std::nullopt;
  std::optional<tracer::Array> mask = parse_array(key);
  if (!mask || mask->dtype != DType::Bool || mask->ndim() == 0 || mask->ndim() > target.ndim())
    return std::nullopt;
  for (int i = 0; i < mask->ndim(); ++i)
    if (mask->shape[i] != target.shape[i]) return std::nullopt;
  if (mask->ndim() < target.ndim()) {
    Dims axes;
    for (int i = mask->ndim(); i < target.ndim(); ++i) axes.push_back(i);
    mask = tracer::expand_dims(*mask, axes);
  }
  return mask;
}

// self[key] = value, for an array of a dtype that only NumPy has; false where others are to be
// asked.
bool store_by_numpy(PyObject* self, PyObject* key, PyObject* value) {
  // An element of an array of objects is the object that is stored.
  const auto holds_objects = [](PyObject* o) {
    PyObject* const host = is_array(o) ? as_array(o)->host : nullptr;
    return host && PyDataType_REFCHK(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(host)));
  };
  if (Py_TYPE(self) != array_type || holds_objects(self) || holds_objects(value) ||
      noting_fallbacks())
    return false;
  static constinit Imported store("operator", "setitem");
  PyObject* const given[] = {self, key, value};
  const Owned done(by_numpy(store.get(), Py_None, given, 3, nullptr));
  return true;
}

}  // namespace

namespace {

PyObject* numpys_getitem(PyObject* self, PyObject* key) {
  ArrayObject* const a = as_array(self);
  std::int64_t index[kMaxDims];
  const auto ndim = static_cast<std::size_t>(a->array.ndim());
  const bool element = !a->host && names_element(key, a->array.ndim(), index);
  if (element)
    if (PyObject* const found = element_now(a->array, std::span(index, ndim))) return found;
  return guarded([&]() -> PyObject* {
    if (a->host) return getitem_by_numpy(self, key);
    if (element) return read_element(a->array, std::span(index, ndim));
    if (Py_TYPE(self) == array_type && may_name_rows(key))
      if (auto made = gather(a->array, key)) return wrap(std::move(*made));
    Key k;
    if (!parse_key(key, k)) {
      if (Py_TYPE(self) == array_type) {
        if (const auto advanced = parse_advanced(key)) {
          const tracer::Array from = a->array;
          std::optional<tracer::Array> made;
          without_gil_if_long({from.size(), longest(*advanced)},
                              [&] { made = numpy::getitem(from, *advanced); });
          if (made) return wrap(std::move(*made));
        }
      }
      return getitem_by_numpy(self, key);
    }
    if (selects_element(k, a->array)) {
      integer_index(k, index);
      return read_element(a->array, std::span(index, ndim));
    }
    tracer::Array view = tracer::slice(a->array, std::span(k.entries, k.count));
    if (k.copies) return wrap_view(tracer::copy(view, 'K'), self);
    return view_of(self, std::move(view));
  });
}

}  // namespace

PyObject* array_getitem(PyObject* self, PyObject* key) {
  PyObject* const found = numpys_getitem(self, key);
  if (!found || !is_standard(self) || as_array(self)->host) return found;
  return guarded([&] { return as_standard(found, self); });
}

PyObject* array_sequence_item(PyObject* self, Py_ssize_t i) {
  // Where iteration ends: no C++ exception, which costs more than a short loop.
  const ArrayObject* a = as_array(self);
  if (!a->host && a->array.ndim() > 0 && i >= a->array.shape[0]) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %zd", i,
                 static_cast<Py_ssize_t>(a->array.shape[0]));
    return nullptr;
  }
  Owned key(PyLong_FromSsize_t(i));
  return key ? array_getitem(self, key.get()) : nullptr;
}

int array_setitem(PyObject* self, PyObject* key, PyObject* value) {
  if (value && stored_now(as_array(self), key, value)) return 0;
  return guarded_int([&]() -> int {
    ArrayObject* a = as_array(self);
    if (!value) raise_error(PyExc_ValueError, "cannot delete array elements");
    auto fallback = [&] {
      Owned done(call_hook(hooks.setitem, self, key, value));
      return 0;
    };
    if (a->host) return store_by_numpy(self, key, value) ? 0 : fallback();
    if (!a->array.writeable) throw ValueError("assignment destination is read-only");
    std::int64_t index[kMaxDims];
    const auto ndim = static_cast<std::size_t>(a->array.ndim());
    if (names_element(key, a->array.ndim(), index))
      if (const auto element = held_number(value, a->array.dtype)) {
        tracer::set_item(a->array, std::span(index, ndim), *element);
        return 0;
      }
    // Whether an integer type holds a scalar, its value decides.
    if (is_lazy(value) && is_integer(a->array.dtype) &&
        !can_cast(as_lazy(value)->array.dtype, a->array.dtype, Casting::Safe))
      value = lazy_value(as_lazy(value));
    OperandHolder v;
    const Parsed parsed = parse_operand(value, v);
    if (parsed == Parsed::Operand && reads_by_dtype(value, *v.operand, a->array.dtype)) {
      if (names_element(key, a->array.ndim(), index)) return fallback();  // NumPy words the error
      auto made = read_as(value, a->array.dtype);
      if (!made) return fallback();
      v.temporary = std::move(*made);
      v.operand.emplace(v.temporary);
    }
    if (parsed == Parsed::Fallback || !plain_value(*v.operand, a->array.dtype)) {
      auto packed = is_number(value) ? pack(value, a->array.dtype) : std::nullopt;
      if (!packed) return fallback();
      v.operand.emplace(*packed, Weak::None);
    }
    if (auto mask = mask_key(key, a->array)) {
      if (!v.operand->array && converts(*v.operand, a->array.dtype) &&
          scatter(a->array, key, *v.operand))
        return 0;
      if (!v.operand->array || v.operand->array->ndim() == 0) {
        store(a->array, v, &*mask);
        return 0;
      }
      return scatter(a->array, key, *v.operand) || set_by_arrays(a->array, key, *v.operand)
                 ? 0
                 : fallback();
    }
    Key k;
    if (!parse_key(key, k)) {
      const bool fits = v.operand->array || converts(*v.operand, a->array.dtype);
      return fits && (scatter(a->array, key, *v.operand) ||
                      set_by_arrays(a->array, key, *v.operand))
                 ? 0
                 : fallback();
    }
    // An array in place of one element is an error whose type and text depend on the dtype and the
    // version: NumPy raises it.
    if (selects_element(k, a->array) && v.operand->array && v.operand->array->ndim() > 0)
      return fallback();
    if (selects_element(k, a->array) && k.count > 0 && !v.operand->array &&
        converts(*v.operand, a->array.dtype)) {
      integer_index(k, index);
      tracer::set_item(a->array, std::span(index, ndim),
                       tracer::reported_cast(*v.operand, a->array.dtype));
      return 0;
    }
    const tracer::Array target = tracer::slice(a->array, std::span(k.entries, k.count));
    // NumPy reads a list no deeper than that.
    if (is_list(value) && v.operand->array && v.operand->array->ndim() > target.ndim())
      return fallback();
    store(target, v, nullptr);
    return 0;
  });
}

}  // namespace plait::py
