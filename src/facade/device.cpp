// Devices.
#include "core/device.hpp"

#include <memory>

#include "box.hpp"

namespace plait::detail {

int open_cuda(int ordinal) {
  start();
  return devices().open("cuda:" + std::to_string(ordinal));
}
std::string device_name(int device) { return devices().name(static_cast<DeviceId>(device)); }
int current_device() {
  start();
  return tracer::current_device();
}
int set_thread_device(int device) {
  return tracer::set_thread_device(static_cast<DeviceId>(device));
}

int device_of(const Handle& a) { return tracer::device_of(unwrap(a)); }
Handle to_device(const Handle& a, int device) {
  return wrap(tracer::to_device(unwrap(a), static_cast<DeviceId>(device)));
}

void synchronize(int device) {
  if (device != kHost) devices().memory(static_cast<DeviceId>(device)).synchronise();
}
void wait_for(int device, void* stream) {
  if (device != kHost) devices().memory(static_cast<DeviceId>(device)).wait_for(stream);
}

Handle adopt(void* memory, Span shape, dtype t, int device, void* stream, Callback<> release) {
  start();
  if (device == kHost) throw ValueError("adapt: memory of the host takes no device and no stream");
  const Dims d = dims(shape);
  auto owner = std::make_unique<Callback<>>(std::move(release));
  const tracer::Array a = tracer::adopt(
      static_cast<std::byte*>(memory), core(t), d,
      contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t)))),
      static_cast<DeviceId>(device), stream, true,
      [](void* owned) {
        const std::unique_ptr<Callback<>> f(static_cast<Callback<>*>(owned));
        if (*f) (*f)();
      },
      owner.get());
  owner.release();
  return wrap(a);
}

void* lend(const Handle& a, void* stream) {
  const DeviceId device = tracer::device_of(unwrap(a));
  void* memory = tracer::pin(unwrap(a), device);
  if (device != kHost) devices().memory(device).lend(*unwrap(a).storage->version->data, stream);
  return memory;
}

}  // namespace plait::detail
