// Devices for the Python half of the package, and memory that Plait and other libraries share
// there.
#include <algorithm>
#include <memory>
#include <string>

#include "core/device.hpp"
#include "engine/devices/found.hpp"
#include "events.hpp"
#include "functions.hpp"
#include "tracer/device.hpp"
#include "tracer/layout.hpp"

namespace plait::py {
namespace {

DeviceId parse_device(PyObject* name) {
  Owned text(check(PyObject_Str(name)));  // also of plait.device
  Py_ssize_t length = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.get(), &length);
  if (!utf8) throw PythonError{};
  return devices().open({utf8, static_cast<std::size_t>(length)});
}
PyObject* name_of(DeviceId id) { return check(PyUnicode_FromString(devices().name(id).c_str())); }

// Streams as DLPack and __cuda_array_interface__ number them: 1 the legacy default one, 2 that of
// the thread, else a handle. The driver knows the same numbers.
void* stream_of(PyObject* o) {
  void* handle = PyLong_AsVoidPtr(o);
  if (PyErr_Occurred()) throw PythonError{};
  return handle;
}
bool no_order_wanted(PyObject* stream) {
  if (stream == Py_None) return false;
  const long long v = PyLong_AsLongLong(stream);
  PyErr_Clear();
  return v == -1;
}

PyObject* open_device(PyObject* name) {  // -> its full name; DeviceError
  try {
    return name_of(parse_device(name));
  } catch (const plait::ValueError&) {
    const auto found = engine::find_devices();  // which opens none
    if (std::none_of(found.begin(), found.end(), [](const auto& d) { return d.why.empty(); }))
      raise_error(PyExc_ValueError,
                  "Device not understood. Only \"cpu\" is allowed, but received: %S (\"cuda\" "
                  "and \"cuda:N\" are for NVIDIA GPUs, and none is found)",
                  name);
    throw;
  }
}
// [(name, model, bytes of memory, why it cannot be used or "")] of those beside the host.
PyObject* list_devices() {
  Owned list(check(PyList_New(0)));
  for (const engine::FoundDevice& d : engine::find_devices()) {
    const Owned row(check(Py_BuildValue("ssns", d.name.c_str(), d.model.c_str(),
                                        static_cast<Py_ssize_t>(d.memory), d.why.c_str())));
    check(PyList_Append(list.get(), row.get()));
  }
  return list.release();
}
PyObject* current_device() { return name_of(tracer::current_device()); }
// The thread's own device from now on, None for the process's; returns what it was.
PyObject* set_device(PyObject* name) {
  const DeviceId id = name == Py_None ? tracer::kThreadDefault : parse_device(name);
  const DeviceId outer = tracer::set_thread_device(id);
  return outer == tracer::kThreadDefault ? Py_NewRef(Py_None) : name_of(outer);
}
PyObject* on_device(PyObject*, PyObject* o) {
  if (is_array(o) && !as_array(o)->host)
    return PyBool_FromLong(tracer::device_of(as_array(o)->array) != kHost);
  if (is_lazy(o)) return PyBool_FromLong(tracer::device_of(as_lazy(o)->array) != kHost);
  Py_RETURN_FALSE;
}
PyObject* to_device(Exactly<2>& args) {  // (a, name)
  const DeviceId id = parse_device(args[1]);
  ArrayObject* a = as_array(args[0]);
  if (a->host) {
    if (id == kHost) return Py_NewRef(args[0]);
    raise_error(
        PyExc_TypeError, "arrays of dtype %S live on the host only",
        reinterpret_cast<PyObject*>(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(a->host))));
  }
  if (tracer::device_of(a->array) == id) return Py_NewRef(args[0]);
  tracer::Array moved;
  without_gil([&] { moved = tracer::to_device(a->array, id); });
  return wrap_view(std::move(moved), args[0]);
}
// (a, dtype, shape, byte strides, byte offset): a view of its memory; NotImplemented where the
// device could not read it.
PyObject* view_at(Exactly<5>& args) {
  const auto t = parse_dtype(args[1]);
  if (!t || as_array(args[0])->host) return not_implemented();
  const tracer::Array& a = as_array(args[0])->array;
  const Dims shape = *parse_shape(args[2]), strides = *parse_shape(args[3]);
  const long long offset = PyLong_AsLongLong(args[4]);
  tracer::Array view = tracer::as_strided(a, *t, shape, strides, offset);
  return tracer::is_aligned(view) ? wrap_view(std::move(view), args[0]) : not_implemented();
}
// How often a new value was stored into the array's memory.
PyObject* writes(PyObject*, PyObject* o) {
  return PyLong_FromUnsignedLong(as_array(o)->host ? 0 : as_array(o)->array.storage->writes);
}
PyObject* synchronize(PyObject* name) {
  const DeviceId id = parse_device(name);
  if (id != kHost) without_gil([&] { devices().memory(id).synchronise(); });
  return Py_NewRef(Py_None);
}

// --- memory in common with other libraries

void lend_to(const tracer::Array& a, DeviceId id, PyObject* stream) {
  Buffer& memory = *a.storage->version->data;
  if (no_order_wanted(stream))
    devices().memory(id).lend(memory);
  else
    devices().memory(id).lend(memory, stream == Py_None ? nullptr : stream_of(stream));
}

// (a, stream): the address of element 0, for good; what is submitted to `stream` afterwards sees
// the values. Stream -1: nobody waits.
PyObject* lend(Exactly<2>& args) {
  const tracer::Array& a = as_array(args[0])->array;
  const DeviceId id = tracer::device_of(a);
  void* memory = nullptr;
  without_gil([&] { memory = tracer::pin(a, id); });
  lend_to(a, id, args[1]);
  return PyLong_FromVoidPtr(memory);
}
PyObject* stream(PyObject* a) {
  return check(
      PyLong_FromVoidPtr(devices().memory(tracer::device_of(as_array(a)->array)).stream()));
}

// (address, shape, byte strides or None, dtype, stream or None, read-only, owner)
PyObject* adopt_device(Exactly<7>& args) {
  const auto t = parse_dtype(args[3]);
  if (!t) return not_implemented();
  auto* at = static_cast<std::byte*>(stream_of(args[0]));
  const Dims shape = *parse_shape(args[1]);
  const Dims strides = args[2] != Py_None
                           ? *parse_shape(args[2])
                           : contiguous_strides(shape, static_cast<std::int64_t>(itemsize(*t)));
  // No address is that of an empty array.
  const DeviceId id = at ? devices().open_at(at) : devices().open("cuda");
  void* stream = args[4] == Py_None ? devices().memory(id).stream() : stream_of(args[4]);
  Owned owner = Owned::borrow(args[6]);
  tracer::Array a = tracer::adopt(at, *t, shape, strides, id, stream, args[5] != Py_True,
                                  release_later, owner.get());
  owner.release();
  return wrap(std::move(a));
}

// --- DLPack 1.0: its structures, which are its binary interface

struct DLDevice {
  std::int32_t type, id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Managed {
  DLTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct Versioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  DLTensor tensor;
};
constexpr std::int32_t kCuda = 2;
constexpr std::uint64_t kReadOnly = 1;
constexpr const char *kName = "dltensor", *kUsed = "used_dltensor", *kNameV1 = "dltensor_versioned",
                     *kUsedV1 = "used_dltensor_versioned", *kOwned = "plait.dltensor";

// Nothing: formats of less than a byte are packed there, and lie in a byte each here.
std::optional<std::uint8_t> narrow_code(DType t) {
  switch (t) {
    case DType::BFloat16:
      return 4;
    case DType::Float8E3M4:
      return 7;
    case DType::Float8E4M3:
      return 8;
    case DType::Float8E4M3B11FNUZ:
      return 9;
    case DType::Float8E4M3FN:
      return 10;
    case DType::Float8E4M3FNUZ:
      return 11;
    case DType::Float8E5M2:
      return 12;
    case DType::Float8E5M2FNUZ:
      return 13;
    default:
      return std::nullopt;
  }
}
DLDataType dl_type(DType t) {
  if (is_narrow(t)) {
    const auto code = narrow_code(t);
    if (!code)
      raise_error(PyExc_BufferError, "DLPack has no dtype for %s in a byte each", name(t).data());
    return {*code, static_cast<std::uint8_t>(itemsize(t) * 8), 1};
  }
  constexpr std::uint8_t integer = 0, unsigned_integer = 1, real = 2, complex = 5, boolean = 6;
  const std::uint8_t code = t == DType::Bool            ? boolean
                            : is_complex(t)             ? complex
                            : is_float(t)               ? real
                            : kind(t) == Kind::Unsigned ? unsigned_integer
                                                        : integer;
  return {code, static_cast<std::uint8_t>(itemsize(t) * 8), 1};
}
std::optional<DType> core_type(const DLDataType& t) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (is_narrow(static_cast<DType>(i)) && !narrow_code(static_cast<DType>(i))) continue;
    const DLDataType ours = dl_type(static_cast<DType>(i));
    if (ours.code == t.code && ours.bits == t.bits && t.lanes == 1) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DLTensor& tensor_of(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kNameV1))
    return static_cast<Versioned*>(PyCapsule_GetPointer(capsule, kNameV1))->tensor;
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName));
  if (!m) throw PythonError{};
  return m->tensor;
}
// (capsule, dtype or None): NumPy takes and hands over memory of narrow dtypes as that of unsigned
// integers. With a dtype the tensor becomes one of it; else one of a narrow dtype becomes one of
// integers, and its dtype is the result.
PyObject* narrow_dlpack(Exactly<2>& args) {
  DLTensor& tensor = tensor_of(args[0]);
  if (args[1] != Py_None) {
    const auto t = native_dtype(reinterpret_cast<PyArray_Descr*>(args[1]));
    if (!t) return not_implemented();
    tensor.dtype = dl_type(*t);
    return Py_NewRef(Py_None);
  }
  const auto t = core_type(tensor.dtype);
  if (!t || !is_narrow(*t)) return Py_NewRef(Py_None);
  tensor.dtype = dl_type(itemsize(*t) == 1 ? DType::UInt8 : DType::UInt16);
  return Py_NewRef(reinterpret_cast<PyObject*>(descr_of(*t)));
}

template <class T>
struct Capsule {
  T managed{};
  tracer::Array array;
  Dims shape, strides;
};
template <class T>
PyObject* capsule_of(const tracer::Array& a, void* memory, const char* name) {
  auto c = std::make_unique<Capsule<T>>();
  c->array = a;
  c->shape = a.shape;
  c->strides = a.strides;
  for (std::int64_t& s : c->strides) s /= static_cast<std::int64_t>(itemsize(a.dtype));
  const DeviceId id = tracer::device_of(a);
  c->managed.tensor = {memory,          {kCuda, id - 1},   a.ndim(), dl_type(a.dtype),
                       c->shape.data(), c->strides.data(), 0};
  c->managed.context = c.get();
  c->managed.deleter = [](T* m) {
    auto* own = static_cast<Capsule<T>*>(m->context);
    try {
      tracer::unexport(own->array);
    } catch (...) {  // nothing to tell anybody from a deleter
    }
    delete own;
  };
  if constexpr (std::is_same_v<T, Versioned>) {
    c->managed.major = 1;
    c->managed.flags = a.writeable ? 0 : kReadOnly;
  }
  PyObject* capsule = check(PyCapsule_New(&c->managed, name, [](PyObject* self) {
    const char* now = PyCapsule_GetName(self);  // renamed by who took it over
    if (!now || std::string_view(now).starts_with("used")) return;
    auto* m = static_cast<T*>(PyCapsule_GetPointer(self, now));
    m->deleter(m);
  }));
  c.release();
  return capsule;
}

// (a, stream, version 1 wanted)
PyObject* to_dlpack(Exactly<3>& args) {
  const tracer::Array& a = as_array(args[0])->array;
  const bool v1 = args[2] == Py_True;
  if (!a.writeable && !v1)
    raise_error(PyExc_BufferError,
                "Cannot export readonly array since signalling readonly is unsupported by "
                "DLPack (supported by newer DLPack version).");
  const DeviceId id = tracer::device_of(a);
  void* memory = nullptr;
  without_gil([&] { memory = tracer::export_memory(a, id); });
  lend_to(a, id, args[1]);
  return v1 ? capsule_of<Versioned>(a, memory, kNameV1) : capsule_of<Managed>(a, memory, kName);
}

template <class T>
tracer::Array from_capsule(PyObject* capsule, const char* name, const char* used) {
  auto* m = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (!m) throw PythonError{};
  const DLTensor& t = m->tensor;
  const auto type = core_type(t.dtype);
  if (!type || t.device.type != kCuda)
    raise_error(PyExc_BufferError,
                type ? "only CPU and CUDA memory is taken over" : "Plait has no such dtype");
  bool read_only = false;
  if constexpr (std::is_same_v<T, Versioned>) {
    if (m->major != 1)
      raise_error(PyExc_BufferError, "DLPack of version %u is not known", m->major);
    read_only = m->flags & kReadOnly;
  }
  Dims shape(t.ndim), strides(t.ndim);
  const auto item = static_cast<std::int64_t>(itemsize(*type));
  std::int64_t step = item;
  for (int d = t.ndim; d-- > 0; step *= shape[d]) {
    shape[d] = t.shape[d];
    strides[d] = t.strides ? t.strides[d] * item : step;
  }
  const DeviceId id = devices().open("cuda:" + std::to_string(t.device.id));
  // Its deleter may want the GIL, so it is called with it, as owners are released.
  Owned owner(check(PyCapsule_New(m, kOwned, [](PyObject* self) {
    auto* owned = static_cast<T*>(PyCapsule_GetPointer(self, kOwned));
    if (owned->deleter) owned->deleter(owned);
  })));
  check(PyCapsule_SetName(capsule, used));  // the tensor is the owner's from here on
  // The producer has ordered our stream after its own.
  tracer::Array a =
      tracer::adopt(static_cast<std::byte*>(t.data) + t.byte_offset, *type, shape, strides, id,
                    devices().memory(id).stream(), !read_only, release_later, owner.get());
  owner.release();
  return a;
}
PyObject* from_dlpack(PyObject* capsule) {
  return wrap(PyCapsule_IsValid(capsule, kNameV1)
                  ? from_capsule<Versioned>(capsule, kNameV1, kUsedV1)
                  : from_capsule<Managed>(capsule, kName, kUsed));
}
PyObject* stream_number(PyObject* name) {  // of a device, for producers
  return check(PyLong_FromVoidPtr(devices().memory(parse_device(name)).stream()));
}

}  // namespace

PyMethodDef device_functions[] = {row<open_device>("open_device"),
                                  row<list_devices>("list_devices"),
                                  row<current_device>("current_device"),
                                  row<set_device>("set_device"),
                                  {"on_device", on_device, METH_O, nullptr},
                                  row<to_device>("to_device"),
                                  row<view_at>("view_at"),
                                  {"writes", writes, METH_O, nullptr},
                                  row<synchronize>("synchronize"),
                                  row<lend>("lend"),
                                  row<stream>("stream"),
                                  row<stream_number>("stream_number"),
                                  row<adopt_device>("adopt_device"),
                                  row<to_dlpack>("to_dlpack"),
                                  row<from_dlpack>("from_dlpack"),
                                  row<narrow_dlpack>("narrow_dlpack"),
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
