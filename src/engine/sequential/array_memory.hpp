// The arrays that a sequential program is run on.
#pragma once
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "ir/ir.hpp"
#include "tracer/array.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::engine {

// The memory of a run's arrays, on the device that all of them lie on, while this lives. What is
// written stays in place, whoever had to read the old contents has, and nothing is shared with it.
// Throws Interrupted, and can be made again then.
class ArrayMemory {
 public:
  ArrayMemory(std::vector<tracer::Array> given, const std::vector<ir::BufferParam>& buffers,
              DeviceId device = kHost)
      : arrays_(std::move(given)), pointers_(arrays_.size()) {
    tracer::evaluate(arrays_);
    for (std::size_t n = 0; n < arrays_.size(); ++n)
      if (buffers[n].written) pointers_[n] = exports_.emplace_back(arrays_[n], device).memory();
    // Then: what is only read may be a view of what is written.
    for (std::size_t n = 0; n < arrays_.size(); ++n)
      if (!buffers[n].written) pointers_[n] = read(arrays_[n]);
  }

  const std::vector<tracer::Array>& arrays() const { return arrays_; }
  const std::vector<void*>& pointers() const { return pointers_; }

 private:
  class Export {
   public:
    Export(const tracer::Array& a, DeviceId device)
        : array_(a), memory_(tracer::export_memory(a, device)) {}
    ~Export() { tracer::unexport(array_); }
    Export(const Export&) = delete;
    Export& operator=(const Export&) = delete;
    void* memory() const { return memory_; }

   private:
    const tracer::Array& array_;
    void* memory_;
  };

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

}  // namespace plait::engine
