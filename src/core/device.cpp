#include "device.hpp"

#include <atomic>

#include "plait/error.hpp"

namespace plait {
namespace {

class HostOnly final : public DeviceRegistry {
 public:
  DeviceId open(std::string_view name) override {
    if (name == "cpu") return kHost;
    throw DeviceError("device '" + std::string(name) + "': only 'cpu' is there");
  }
  DeviceId open_at(const void*) override {
    throw DeviceError("memory of a device: only 'cpu' is there");
  }
  std::string name(DeviceId) override { return "cpu"; }
  DeviceMemory& memory(DeviceId) override {
    throw InternalError("the host's memory is not a device's");
  }
};

HostOnly host_only;
std::atomic<DeviceRegistry*> registry{&host_only};
std::atomic<bool> in_use{false};

}  // namespace

void install(DeviceRegistry* r) { registry.store(r); }
DeviceRegistry& devices() { return *registry.load(std::memory_order_acquire); }

bool devices_in_use() { return in_use.load(std::memory_order_relaxed); }
void set_devices_in_use() { in_use.store(true); }

const std::byte* host_mirror(Buffer& b) {
  auto& buffer = static_cast<DeviceBuffer&>(b);
  if (!buffer.mirror) {
    Ref<Buffer> copy = allocate(b.bytes);
    devices().memory(b.device).download(copy->data, b.data, b.bytes, "read by the host");
    buffer.mirror = std::move(copy);
  }
  return buffer.mirror->data;
}

TransferStats& transfer_stats() {
  static TransferStats s{};
  return s;
}

}  // namespace plait
