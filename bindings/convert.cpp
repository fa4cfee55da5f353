// Between plait's arrays and NumPy's: exports, adoption, dtypes and scalars.
#include <cstring>
#include <string>
#include <unordered_map>

#include "events.hpp"
#include "ndarray.hpp"
#include "replay.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"

namespace plait::py {

Hooks hooks;

namespace {

constexpr int kTypeNumbers[kNumPyDTypes] = {
    NPY_BOOL,  NPY_BYTE,   NPY_UBYTE, NPY_SHORT, NPY_USHORT, NPY_INT,    NPY_UINT,
    NPY_INT64, NPY_UINT64, NPY_HALF,  NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};

// Keeps an export alive: the base object of numpy arrays that share plait's memory.
struct ExportObject {
  PyObject_HEAD tracer::Array array;
  bool for_good;
};
PyTypeObject* export_type = nullptr;

void export_dealloc(PyObject* self) {
  auto* e = reinterpret_cast<ExportObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  try {
    if (!e->for_good) tracer::unexport(e->array);
  } catch (...) {  // nothing to tell anybody from a destructor
  }
  e->array.~Array();
  PyObject_Free(self);
  Py_DECREF(type);
}
PyType_Slot export_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(export_dealloc)},
                              {0, nullptr}};
PyType_Spec export_spec = {"plait._plait._Export", sizeof(ExportObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, export_slots};

// First and one-past-last byte that an array touches.
std::pair<char*, char*> bounds(PyArrayObject* a) {
  char* lo = static_cast<char*>(PyArray_DATA(a));
  char* hi = lo + PyArray_ITEMSIZE(a);
  for (int i = 0; i < PyArray_NDIM(a); ++i) {
    npy_intp extent = PyArray_DIM(a, i), stride = PyArray_STRIDE(a, i);
    if (extent == 0) return {lo, lo};
    (stride < 0 ? lo : hi) += (extent - 1) * stride;
  }
  return {lo, hi};
}

bool layout_is_native(PyArrayObject* a, DType t) {
  if (!PyArray_ISALIGNED(a)) return false;
  for (int i = 0; i < PyArray_NDIM(a); ++i)
    if (PyArray_DIM(a, i) > 1 && PyArray_STRIDE(a, i) % static_cast<npy_intp>(itemsize(t)) != 0)
      return false;
  return true;
}

Dims dims_of(const npy_intp* p, int n) {
  Dims d(n);
  for (int i = 0; i < n; ++i) d[i] = p[i];
  return d;
}

Scalar scalar_from_numpy(PyObject* o, bool& native) {
  Scalar s;
  native = true;
  if (PyArray_IsScalar(o, Double)) return Scalar::of(DType::Float64, PyArrayScalar_VAL(o, Double));
  if (PyArray_IsScalar(o, Long)) return Scalar::of(DType::Int64, PyArrayScalar_VAL(o, Long));
  Owned descr(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(o)));
  if (!descr) throw PythonError{};
  auto t = native_dtype(reinterpret_cast<PyArray_Descr*>(descr.get()));
  if (!t) {
    native = false;
    return s;
  }
  s.dtype = *t;
  if (!is_narrow(*t)) {
    PyArray_ScalarAsCtype(o, s.bytes);
  } else if (PyArray_Pack(reinterpret_cast<PyArray_Descr*>(descr.get()), s.bytes, o) < 0) {
    throw PythonError{};  // where a scalar of a dtype that is not NumPy's holds its value, the
                          // dtype knows
  }
  return s;
}

}  // namespace

bool is_export(PyObject* o) { return Py_TYPE(o) == export_type; }

bool make_export_type() {
  export_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&export_spec));
  return export_type != nullptr;
}

PyObject* numpy_attr(const char* name) {
  static auto* cache = new std::unordered_map<std::string, PyObject*>;
  auto it = cache->find(name);
  if (it != cache->end()) return it->second;
  Owned module(check(PyImport_ImportModule("numpy")));
  PyObject* value = check(PyObject_GetAttrString(module.get(), name));
  cache->emplace(name, value);
  return value;
}

namespace {
// ml_dtypes' own, which is imported where such an array is made without it.
PyArray_Descr* narrow_descr(DType t) {
  Owned module(check(PyImport_ImportModule("ml_dtypes")));
  Owned type(check(PyObject_GetAttrString(module.get(), std::string(name(t)).c_str())));
  PyArray_Descr* d = nullptr;
  if (PyArray_DescrConverter(type.get(), &d) != NPY_SUCCEED) throw PythonError{};
  return d;
}

// ml_dtypes registers its types with NumPy, which numbers them as they come.
std::optional<DType> registered_dtype(PyArray_Descr* d) {
  static auto* known = new std::unordered_map<int, std::optional<DType>>;
  const auto at = known->find(d->type_num);
  if (at != known->end()) return at->second;
  std::optional<DType>& found = (*known)[d->type_num];
  Owned module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(d->typeobj), "__module__"));
  Owned own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(d->typeobj), "__name__"));
  const char* from = module ? PyUnicode_AsUTF8(module.get()) : nullptr;
  const char* called = own ? PyUnicode_AsUTF8(own.get()) : nullptr;
  if (!from || !called) {
    PyErr_Clear();
    return found;
  }
  for (int i = kNumPyDTypes; i < kDTypeCount; ++i)
    if (std::string_view(from) == "ml_dtypes" && name(static_cast<DType>(i)) == called)
      found = static_cast<DType>(i);
  return found;
}
}  // namespace

PyArray_Descr* descr_of(DType t) {
  static PyArray_Descr* table[kDTypeCount] = {};
  auto& d = table[static_cast<int>(t)];
  if (!d)
    d = is_narrow(t) ? narrow_descr(t) : PyArray_DescrFromType(kTypeNumbers[static_cast<int>(t)]);
  return d;
}

std::optional<DType> native_dtype(PyArray_Descr* d) {
  if (!PyArray_ISNBO(d->byteorder)) return std::nullopt;
  // C's long long is another dtype to NumPy than its int64, and stays NumPy's.
  for (int i = 0; i < kNumPyDTypes; ++i)
    if (kTypeNumbers[i] == d->type_num) return static_cast<DType>(i);
  if (d->type_num >= NPY_USERDEF) return registered_dtype(d);
  return std::nullopt;
}

std::optional<DType> parse_dtype(PyObject* o) {
  PyArray_Descr* d = nullptr;
  if (PyArray_DescrConverter(o, &d) != NPY_SUCCEED) throw PythonError{};
  Owned hold(reinterpret_cast<PyObject*>(d));
  return native_dtype(d);
}

std::optional<tracer::Array> viewed(const tracer::Array& a, PyObject* dtype) {
  const auto t = parse_dtype(dtype);
  if (!t) return std::nullopt;
  tracer::Array v = tracer::view(a, *t);
  if (!tracer::is_aligned(v)) return std::nullopt;
  return v;
}

// Of a device's array the host sees a copy, read-only because writes would not go back.
PyObject* to_numpy(ArrayObject* a, bool for_good) {
  if (a->host) return Py_NewRef(a->host);
  if (tracer::device_of(a->array) != kHost) {
    tracer::Array here;
    without_gil([&] { here = tracer::to_device(a->array, kHost); });
    here.writeable = false;
    Owned copy(wrap(std::move(here)));
    return to_numpy(as_array(copy.get()), for_good);
  }
  auto* e = PyObject_New(ExportObject, export_type);
  if (!e) throw PythonError{};
  new (&e->array) tracer::Array(a->array);
  e->for_good = true;  // until the export below has been made
  Owned hold(reinterpret_cast<PyObject*>(e));
  void* data = nullptr;
  auto share = [&] {
    data = tracer::export_memory(a->array);
    if (for_good) tracer::pin(a->array);
  };
  // With nothing to compute it is done before another thread could use the GIL.
  if (tracer::graph_stats().pending_nodes == 0)
    share();
  else
    without_gil(share);
  e->for_good = false;
  const tracer::Array& x = a->array;
  npy_intp shape[kMaxDims], strides[kMaxDims];
  std::copy(x.shape.begin(), x.shape.end(), shape);
  std::copy(x.strides.begin(), x.strides.end(), strides);
  PyArray_Descr* d = descr_of(x.dtype);
  Py_INCREF(d);
  const bool row = x.ndim() == 1 && strides[0] == PyDataType_ELSIZE(d);  // NumPy has these itself
  PyObject* out =
      check(PyArray_NewFromDescr(&PyArray_Type, d, x.ndim(), shape, row ? nullptr : strides, data,
                                 x.writeable ? NPY_ARRAY_WRITEABLE : 0, nullptr));
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(out), hold.release()) < 0) {
    Py_DECREF(out);
    throw PythonError{};
  }
  return out;
}

Origin origin_of(PyArrayObject* a) {
  for (;;) {
    PyObject* base = PyArray_BASE(a);
    if (!base || is_export(base)) return {a, base};
    // NumPy's as_strided() puts an object of its own between; it keeps what it names alive.
    Owned named;
    if (!PyArray_Check(base)) {
      if (!PyType_HasFeature(Py_TYPE(base), Py_TPFLAGS_HEAPTYPE)) return {a, base};  // bytes
      named = Owned(PyObject_GetAttrString(base, "base"));
      if (!named) PyErr_Clear();
      if (!named || !(PyArray_Check(named.get()) || is_export(named.get()))) return {a, base};
      base = named.get();
      if (is_export(base)) return {a, base};
    }
    a = reinterpret_cast<PyArrayObject*>(base);
  }
}

// The Plait array whose buffer a memoryview is, where the address lies in its memory.
static const tracer::Array* viewed_array(PyObject* view, const void* address) {
  PyObject* owner = PyMemoryView_GET_BUFFER(view)->obj;
  if (!owner || !is_array(owner) || as_array(owner)->host) return nullptr;
  const tracer::Array& x = as_array(owner)->array;
  if (!tracer::is_materialised(x) || tracer::device_of(x) != kHost) return nullptr;
  const Buffer& memory = *x.storage->version->data;
  const auto* at = static_cast<const std::byte*>(address);
  return at >= memory.data && at < memory.data + memory.bytes ? &x : nullptr;
}

const tracer::Array* exported(PyArrayObject* a) {
  PyObject* base = origin_of(a).base;
  if (base && PyMemoryView_Check(base)) return viewed_array(base, PyArray_DATA(a));
  return base && is_export(base) ? &reinterpret_cast<ExportObject*>(base)->array : nullptr;
}

bool may_hold_any_bytes(PyArrayObject* a) {
  const Origin origin = origin_of(a);
  return origin.base || PyArray_DESCR(origin.array)->type_num != NPY_BOOL;
}

// NumPy copies: it knows every layout, and K order is what numpy.array keeps. The memory is the
// pool's, so that later writes may take it over.
tracer::Array copy_of_numpy(PyArrayObject* a, DType t) {
  PyArray_Descr* d = descr_of(t);
  Py_INCREF(d);
  const Owned like(check(PyArray_NewLikeArray(a, NPY_KEEPORDER, d, 0)));
  auto* layout = reinterpret_cast<PyArrayObject*>(like.get());
  Ref<Buffer> buffer = allocate(static_cast<std::size_t>(PyArray_NBYTES(layout)));
  const int n = PyArray_NDIM(a);
  Py_INCREF(d);
  const Owned target(
      check(PyArray_NewFromDescr(&PyArray_Type, d, n, PyArray_DIMS(layout), PyArray_STRIDES(layout),
                                 buffer->data, NPY_ARRAY_WRITEABLE, nullptr)));
  if (PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(target.get()), a) < 0) throw PythonError{};
  tracer::Array made = tracer::from_buffer(std::move(buffer), t, dims_of(PyArray_DIMS(layout), n),
                                           dims_of(PyArray_STRIDES(layout), n), 0);
  if (t == DType::Bool && may_hold_any_bytes(a)) tracer::take_any_bytes(made);
  if (tracer::capture()) [[unlikely]]
    note_numpys(a, made.storage->version.get());
  return made;
}

// A small result of NumPy's that nobody else refers to costs less to copy than to keep and release.
bool is_small_and_alone(PyArrayObject* a) {
  constexpr npy_intp kSmall = 1024;  // bytes
  return Py_REFCNT(a) == 1 && !PyArray_BASE(a) && PyArray_IS_C_CONTIGUOUS(a) &&
         PyArray_NBYTES(a) <= kSmall && PyArray_ISWRITEABLE(a);
}

std::optional<tracer::Array> native_from_numpy(PyArrayObject* a, Take take) {
  auto t = native_dtype(PyArray_DESCR(a));
  if (!t) return std::nullopt;
  if (take == Take::Adopt && is_small_and_alone(a)) {
    const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(a));
    Ref<Buffer> memory = allocate(bytes);
    std::memcpy(memory->data, PyArray_DATA(a), bytes);
    const int n = PyArray_NDIM(a);
    return tracer::from_buffer(std::move(memory), *t, dims_of(PyArray_DIMS(a), n),
                               dims_of(PyArray_STRIDES(a), n), 0);
  }
  if (take == Take::Copy || !layout_is_native(a, *t)) {
    // A copy would be no view any more.
    const Origin origin = origin_of(a);
    if (take == Take::Share || (take == Take::Adopt && (origin.base || origin.array != a)))
      return std::nullopt;
    return copy_of_numpy(a, *t);
  }
  int n = PyArray_NDIM(a);
  Dims shape = dims_of(PyArray_DIMS(a), n), strides = dims_of(PyArray_STRIDES(a), n);
  bool writeable = PyArray_ISWRITEABLE(a);
  if (const tracer::Array* whole = exported(a)) {
    auto* origin = static_cast<char*>(tracer::data(*whole));
    tracer::Array view = tracer::as_strided(*whole, *t, shape, strides,
                                            static_cast<char*>(PyArray_DATA(a)) - origin);
    view.writeable = writeable;
    return view;
  }
  auto [lo, hi] = bounds(a);
  Py_INCREF(a);
  Ref<Buffer> buffer = adopt(lo, static_cast<std::size_t>(hi - lo), writeable, release_later, a);
  tracer::Array out = tracer::from_buffer(std::move(buffer), *t, shape, strides,
                                          static_cast<char*>(PyArray_DATA(a)) - lo);
  out.writeable = writeable;
  // An array of its own that nobody else uses may be overwritten as our own memory is.
  if (take == Take::Adopt && PyArray_CHKFLAGS(a, NPY_ARRAY_OWNDATA) && !PyArray_BASE(a))
    out.storage->version->data->watched = false;
  if (*t == DType::Bool && may_hold_any_bytes(a)) tracer::take_any_bytes(out);
  if (take == Take::Share) tracer::pin(out);
  return out;
}

PyObject* from_numpy(PyObject* o, Take take) {
  auto* a = reinterpret_cast<PyArrayObject*>(o);
  auto native = native_from_numpy(a, take);
  if (native && take == Take::Copy) return wrap(tracer::placed(*native));
  if (take != Take::Copy) {
    Owned out(native ? wrap(std::move(*native)) : wrap_host(o));
    PyObject* base = PyArray_BASE(a);  // bytes, a memoryview: somebody's memory that is no array
    if (base && !PyArray_Check(base) && !is_export(base)) set_base(out.get(), base);
    return out.release();
  }
  Owned copy(check(PyArray_NewCopy(a, NPY_KEEPORDER)));
  return wrap_host(copy.get());
}

PyObject* wrap_element(DType t, const void* at) {
  switch (t) {
    case DType::Float64: {
      PyObject* o = check(PyArrayScalar_New(Double));
      std::memcpy(&PyArrayScalar_VAL(o, Double), at, sizeof(double));
      return o;
    }
    case DType::Int64: {
      PyObject* o = check(PyArrayScalar_New(Long));
      std::memcpy(&PyArrayScalar_VAL(o, Long), at, sizeof(std::int64_t));
      return o;
    }
    case DType::Bool:
      return Py_NewRef(*static_cast<const char*>(at) ? PyArrayScalar_True : PyArrayScalar_False);
    default:
      return check(PyArray_Scalar(const_cast<void*>(at), descr_of(t), nullptr));
  }
}

bool has_index_method(PyObject* o) {
  if (!PyIndex_Check(o) || PyBool_Check(o)) return false;
  if (is_array(o)) {
    const ArrayObject* a = as_array(o);
    return !a->host && a->array.ndim() == 0 && is_integer(a->array.dtype);
  }
  if (is_lazy(o)) return is_integer(as_lazy(o)->array.dtype);
  if (PyArray_Check(o)) {
    auto* a = reinterpret_cast<PyArrayObject*>(o);
    return PyArray_NDIM(a) == 0 && PyArray_ISINTEGER(a);
  }
  return !PyArray_IsScalar(o, Bool);
}

Parsed parse_operand(PyObject* o, OperandHolder& h) {
  PyTypeObject* type = Py_TYPE(o);
  if (type == array_type || PyType_IsSubtype(type, array_type)) {
    if (as_array(o)->host || overrides_ufuncs(o)) return Parsed::Fallback;
    h.operand.emplace(as_array(o)->array);
    h.is_object = true;
  } else if (type == &PyFloat_Type) {
    h.operand.emplace(scalar_float(PyFloat_AS_DOUBLE(o)), Weak::Float);
  } else if (type == &PyLong_Type) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return Parsed::Fallback;
    h.operand.emplace(scalar_int(v), Weak::Int);
  } else if (type == &PyBool_Type) {
    h.operand.emplace(scalar_bool(o == Py_True), Weak::None);
  } else if (type == lazy_type) {
    h.operand.emplace(as_lazy(o)->array);
    h.is_object = true;
  } else if (type == &PyComplex_Type) {
    Py_complex c = PyComplex_AsCComplex(o);
    h.operand.emplace(scalar_complex({c.real, c.imag}), Weak::Complex);
  } else if (PyArray_IsScalar(o, Generic)) {
    bool native;
    Scalar s = scalar_from_numpy(o, native);
    if (!native) return Parsed::Fallback;
    h.operand.emplace(s, Weak::None);
  } else if (PyArray_CheckExact(o)) {
    auto a = parse_array(o);
    if (!a) return Parsed::Fallback;
    h.temporary = std::move(*a);
    h.operand.emplace(h.temporary);
    h.is_object = true;
  } else if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) {
    auto a = parse_array(o);
    if (!a) return Parsed::Fallback;
    h.temporary = std::move(*a);
    h.operand.emplace(h.temporary);
    h.is_object = true;
  } else {
    return Parsed::Fallback;
  }
  return Parsed::Operand;
}

std::optional<Scalar> pack(PyObject* number, DType to) {
  Scalar s;
  s.dtype = to;
  if (PyArray_Pack(descr_of(to), s.bytes, number) == 0) return s;
  PyErr_Clear();
  return std::nullopt;
}

// What comes from NumPy goes where the thread creates arrays.
static std::optional<tracer::Array> here(std::optional<tracer::Array> a) {
  if (a) a = tracer::placed(*a);
  return a;
}
std::optional<tracer::Array> parse_array(PyObject* o) {
  if (is_array(o)) {
    if (as_array(o)->host) return std::nullopt;
    return as_array(o)->array;
  }
  if (is_lazy(o)) return as_lazy(o)->array;
  if (PyArray_CheckExact(o))
    return here(native_from_numpy(reinterpret_cast<PyArrayObject*>(o), Take::Copy));
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o))
    if (auto made = from_list(o)) return here(std::move(made));
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyLong_Check(o) || PyFloat_Check(o) ||
      PyComplex_Check(o) || PyArray_IsScalar(o, Generic)) {
    const Owned values = with_numpys_arrays(o);
    Owned a(PyArray_FromAny(values.get(), nullptr, 0, 0, 0, nullptr));
    if (!a) {
      // What an item's __array__ gives may be Plait's: plait/_array_protocol.py reads that. All
      // other errors come again from NumPy.
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
      PyErr_Clear();
      return std::nullopt;
    }
    return here(native_from_numpy(reinterpret_cast<PyArrayObject*>(a.get()), Take::Adopt));
  }
  return std::nullopt;
}

std::optional<tracer::Array> parse_viewed(PyObject* o) {
  if (PyArray_CheckExact(o) && tracer::current_device() == kHost &&
      (in_jit() || exported(reinterpret_cast<PyArrayObject*>(o))))
    return native_from_numpy(reinterpret_cast<PyArrayObject*>(o), Take::Share);
  return parse_array(o);
}

void force(const tracer::Array& a) {
  if (tracer::is_materialised(a)) return;
  tracer::Array hold = a;
  without_gil([&] { tracer::evaluate(hold); });
}

Scalar item(const tracer::Array& a) {
  Dims zeros(a.ndim());
  std::span<const std::int64_t> index(zeros.data(), zeros.size());
  if (tracer::is_materialised(a)) return tracer::item(a, index);
  tracer::Array hold = a;
  Scalar s;
  without_gil([&] { s = tracer::item(hold, index); });
  return s;
}

}  // namespace plait::py
