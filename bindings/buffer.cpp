// The buffer protocol: the export lives as long as the view.
#include <memory>

#include "functions.hpp"
#include "ndarray.hpp"
#include "swallowed.hpp"
#include "tracer/device.hpp"

namespace plait::py {
namespace {

struct BufferInfo {
  tracer::Array array;
  Py_ssize_t shape[kMaxDims], strides[kMaxDims];
  Py_buffer host{};  // of an array that NumPy holds
};

// nullptr: it has none.
const char* format_of(DType t) {
  constexpr const char* formats[kNumPyDTypes] = {"?", "b", "B", "h", "H", "i",  "I",
                                                 "l", "L", "e", "f", "d", "Zf", "Zd"};
  return is_narrow(t) ? nullptr : formats[static_cast<int>(t)];
}

// Whether NumPy reads its own format of a structured dtype as that dtype: plain void comes back as
// padding, padding at the end not at all. It asks for the buffer before anything else.
bool reads_back(const char* format, PyArray_Descr* d) {
  Owned module(check(PyImport_ImportModule("numpy._core._internal")));
  Owned read(PyObject_CallMethod(module.get(), "_dtype_from_pep3118", "s", format));
  if (!read) PyErr_Clear();
  return read && PyArray_EquivTypes(reinterpret_cast<PyArray_Descr*>(read.get()), d);
}

// The buffer of an array that NumPy holds; it names Plait's.
int host_buffer(PyObject* self, Py_buffer* view, int flags) {
  PyObject* const host = as_array(self)->host;
  auto info = std::make_unique<BufferInfo>();
  check(PyObject_GetBuffer(host, &info->host, flags));
  PyArray_Descr* d = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(host));
  if (d->type_num == NPY_VOID && info->host.format && !reads_back(info->host.format, d)) {
    PyBuffer_Release(&info->host);
    raise_error(PyExc_BufferError, "the buffer protocol cannot name this array's dtype");
  }
  *view = info->host;
  view->internal = info.release();
  view->obj = Py_NewRef(self);
  return 0;
}

PyObject *error_of = nullptr, *error = nullptr;  // error_of: compared alone

}  // namespace

void keep_error(PyObject* self) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  error_of = self;
  Py_XSETREF(error, Py_XNewRef(value));
  PyErr_Restore(type, value, trace);
}
void forget_error() {
  error_of = nullptr;
  Py_CLEAR(error);
}
void raise_kept_error(PyObject* self) {
  if (!error || error_of != self) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  forget_error();
  throw PythonError{};
}

namespace {

// Code that goes by the array API standard keeps to its functions: who asks for the memory of such
// an array goes on with NumPy's.
void note_export(PyObject* self) {
  static PyObject* const name = PyUnicode_InternFromString("asarray");
  if (is_standard(self) && noting_fallbacks()) Owned(call_hook(hooks.note, Py_None, name));
}

}  // namespace

int array_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  forget_error();
  return guarded_int([&]() -> int {
    ArrayObject* a = as_array(self);
    if (a->host) return host_buffer(self, view, flags);
    const tracer::Array& x = a->array;
    auto refuse = [](const char* text) {
      PyErr_SetString(PyExc_ValueError, text);
      throw PythonError{};
    };
    if ((flags & PyBUF_FORMAT) && !format_of(x.dtype))
      refuse("the buffer protocol cannot name a dtype of ml_dtypes");
    bool c = tracer::is_c_contiguous(x), f = tracer::is_f_contiguous(x);
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c)
      refuse("ndarray is not C-contiguous");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f)
      refuse("ndarray is not Fortran contiguous");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f)
      refuse("ndarray is not contiguous");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c) refuse("ndarray is not C-contiguous");
    if ((flags & PyBUF_WRITEABLE) && !x.writeable) refuse("buffer source array is read-only");
    note_export(self);
    auto info = std::make_unique<BufferInfo>();
    info->array = x;
    std::copy(x.shape.begin(), x.shape.end(), info->shape);
    std::copy(x.strides.begin(), x.strides.end(), info->strides);
    if (tracer::device_of(x) != kHost) {
      // The host sees a copy of a device's array; writes to it would not go back.
      if (flags & PyBUF_WRITEABLE) refuse("buffer source array is on a device: it is read-only");
      without_gil([&] { info->array = tracer::to_device(x, kHost); });
      info->array.writeable = false;
      std::copy(info->array.strides.begin(), info->array.strides.end(), info->strides);
    }
    const auto share = [&] { view->buf = tracer::export_memory(info->array); };
    // NumPy reads lists of arrays by their buffers: with nothing to compute no other thread gets
    // the GIL meanwhile, which could change the list.
    if (tracer::graph_stats().pending_nodes == 0)
      share();
    else
      keeping_error(self, [&] { without_gil(share); });
    view->itemsize = static_cast<Py_ssize_t>(itemsize(x.dtype));
    view->len = x.size() * view->itemsize;
    view->readonly = !info->array.writeable;
    view->ndim = (flags & PyBUF_ND) ? x.ndim() : 1;  // bytes, to who asks for no shape
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format_of(x.dtype)) : nullptr;
    view->shape = (flags & PyBUF_ND) ? info->shape : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? info->strides : nullptr;
    view->suboffsets = nullptr;
    view->internal = info.release();
    view->obj = Py_NewRef(self);
    return 0;
  });
}

void array_releasebuffer(PyObject*, Py_buffer* view) {
  auto* info = static_cast<BufferInfo*>(view->internal);
  if (!info) return;
  if (info->host.obj) {
    PyBuffer_Release(&info->host);
  } else {
    try {
      tracer::unexport(info->array);
    } catch (...) {  // nothing to tell anybody from a release
    }
  }
  delete info;
}

}  // namespace plait::py
