// The arrays that a procedure is run on.
#pragma once
#include "ndarray.hpp"  // Python's headers first

#include <deque>
#include <utility>
#include <vector>

#include "functions.hpp"
#include "interrupt.hpp"
#include "ir/ir.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::py {

// An array that is written: its memory stays in place meanwhile, whoever had to read the old
// contents has, and nothing is shared with it.
class Export {
 public:
  Export(const tracer::Array& a, DeviceId device) : array_(a) {
    without_gil([&] { memory_ = tracer::export_memory(array_, device); });
  }
  ~Export() { tracer::unexport(array_); }
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  void* memory() const { return memory_; }

 private:
  const tracer::Array& array_;
  void* memory_ = nullptr;
};

// The memory of a run's arrays, on the device that all of them lie on.
class ArrayMemory {
 public:
  ArrayMemory(std::vector<tracer::Array> given, const std::vector<ir::BufferParam>& buffers,
              DeviceId device = kHost)
      : arrays_(std::move(given)), pointers_(arrays_.size()) {
    without_gil([&] { tracer::evaluate(arrays_); });
    for (std::size_t n = 0; n < arrays_.size(); ++n)
      if (buffers[n].written) pointers_[n] = exports_.emplace_back(arrays_[n], device).memory();
    // Then: what is only read may be a view of what is written.
    for (std::size_t n = 0; n < arrays_.size(); ++n)
      if (!buffers[n].written) without_gil([&] { pointers_[n] = read(arrays_[n]); });
  }

  const std::vector<void*>& pointers() const { return pointers_; }

 private:
  void* read(const tracer::Array& a) {
    const std::lock_guard held(tracer::lock());
    const bool here = tracer::device_of(a) == kHost;
    void* const memory = here ? tracer::data(a) : address_on_device(a);
    held_.push_back(a.storage->version->data);
    return memory;
  }

  static void* address_on_device(const tracer::Array& a) {
    const tracer::Node& v = *a.storage->version;
    return v.data->data + v.data_offset + a.storage->base + a.offset;
  }

  std::vector<tracer::Array> arrays_;
  std::deque<Export> exports_;
  std::vector<Ref<Buffer>> held_;
  std::vector<void*> pointers_;
};

inline std::vector<tracer::Array> arrays_of(const pybind11::sequence& given,
                                            const std::vector<ir::BufferParam>& buffers) {
  std::vector<tracer::Array> arrays;
  for (const pybind11::handle& o : given) {
    const ir::BufferParam& b = buffers[arrays.size()];
    if (!is_array(o.ptr()) || as_array(o.ptr())->host)
      throw DTypeError("a procedure takes arrays of plait");
    const tracer::Array& a = as_array(o.ptr())->array;
    if (a.dtype != b.dtype)
      throw DTypeError("array of " + std::string(name(a.dtype)) + " for a buffer of " +
                       std::string(name(b.dtype)));
    if (b.written && !a.writeable) throw ValueError("assignment destination is read-only");
    arrays.push_back(a);
  }
  return arrays;
}

// NumPy's memory of an array of theirs, whose elements are not aligned; nullptr of any other.
inline void* unaligned_memory(PyObject* o, const ir::BufferParam& b) {
  if (!is_array(o) || !as_array(o)->host) return nullptr;
  auto* const a = reinterpret_cast<PyArrayObject*>(as_array(o)->host);
  if (native_dtype(PyArray_DESCR(a)) != b.dtype || (b.written && !PyArray_ISWRITEABLE(a)))
    return nullptr;
  return PyArray_DATA(a);
}

inline void check_count(const pybind11::sequence& given, std::size_t wanted, const char* what) {
  if (given.size() != wanted)
    throw ValueError(std::to_string(given.size()) + " " + what + " for " + std::to_string(wanted));
}

}  // namespace plait::py
