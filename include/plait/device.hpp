// Where arrays live. Operations run where their operands are; what is created goes to the thread's
// current device. Nothing moves by itself, but single values, which mix with arrays of any device.
#pragma once
#include <string>

#include "plait/array.hpp"

namespace plait {

/// The host, or one accelerator.
class device {
 public:
  device() = default;  // the host
  explicit device(int id) : id_(id) {}
  /// 0 for the host.
  int id() const { return id_; }
  /// Whether it is the host.
  bool is_cpu() const { return id_ == 0; }
  /// "cpu", "cuda:0".
  std::string name() const { return detail::device_name(id_); }  // "cpu", "cuda:0"
  /// Waits for everything that was asked of the device.
  void synchronize() const { detail::synchronize(id_); }
  /// Plait's work from now on runs after what the stream (a CUstream or cudaStream_t; null: the
  /// default one) holds now. Call it before memory that the stream uses may be written to or freed.
  void wait_for(void* stream) const { detail::wait_for(id_, stream); }

  friend bool operator==(device a, device b) { return a.id_ == b.id_; }
  friend bool operator!=(device a, device b) { return a.id_ != b.id_; }

 private:
  int id_ = 0;
};

/// The host.
inline device cpu() { return device(); }
/// A CUDA device. DeviceError, with what was looked for and where, when there is no driver, no such
/// device or no NVRTC.
inline device cuda(int ordinal = 0) { return device(detail::open_cuda(ordinal)); }
/// Where the thread creates arrays: PLAIT_DEVICE, or the innermost device_scope.
inline device current_device() { return device(detail::current_device()); }

/// In the scope, the thread creates arrays on a device.
class device_scope {
 public:
  explicit device_scope(device d) : outer_(detail::set_thread_device(d.id())) {}
  ~device_scope() { detail::set_thread_device(outer_); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int outer_;
};

/// Where an array lives.
template <class T>
device device_of(const array<T>& a) {
  return device(detail::device_of(a.handle()));
}
/// The array itself when it is there already, else a copy of its elements.
template <class T>
array<T> to_device(const array<T>& a, device d) {
  return array<T>(detail::to_device(a.handle(), d.id()));
}

/// An array over C-ordered memory of the application on `d`, without a copy: writes reach that
/// memory. `stream` is the one whose work fills it; `release` is called once, from any thread, when
/// the last array of it is gone and the device has done what used it: at once, or in a later call.
template <class T>
array<T> adapt(T* device_memory, const extents& shape, device d, void* stream,
               detail::Callback<> release = {}) {
  return array<T>(detail::adopt(device_memory, detail::span_of(shape), dtype_of_v<T>, d.id(),
                                stream, std::move(release)));
}

/// The evaluated array's memory on its device, for code of the application: element (0, 0, ...)
/// first, strides() apart. What is submitted to `stream` afterwards sees the values. The memory
/// stays in place for the rest of the array's life: later writes to it happen at once. Before Plait
/// uses it again after the application wrote to it, call device::wait_for(stream). When the array
/// is gone, the memory serves again after what `stream` holds then: for another stream than the
/// default one, which all threads share, Plait waits for the device.
template <class T>
T* lend(const array<T>& a, void* stream) {
  return static_cast<T*>(detail::lend(a.handle(), stream));
}

}  // namespace plait
