// The table of devices: names, numbers, and what has been opened.
#include <array>
#include <charconv>
#include <mutex>
#include <optional>

#include "device.hpp"
#include "found.hpp"
#include "plait/error.hpp"
#ifdef PLAIT_CUDA
#include "engine/cuda/gpu.hpp"
#endif

namespace plait::engine {
namespace {

constexpr int kMostDevices = 64;
constexpr std::string_view kCuda = "cuda";

class Registry final : public DeviceRegistry {
 public:
  DeviceId open(std::string_view text) override {
    if (text == "cpu") return kHost;
    const int ordinal = cuda_ordinal(text);
    const auto id = static_cast<DeviceId>(ordinal + 1);
    const std::lock_guard held(mutex_);
    std::unique_ptr<Device>& slot = opened_[static_cast<std::size_t>(ordinal)];
    if (!slot) {
      slot = open_cuda(ordinal, id);
      set_devices_in_use();
    }
    return id;
  }
  DeviceId open_at(const void* memory) override {
#ifdef PLAIT_CUDA
    return open("cuda:" + std::to_string(gpu::ordinal_of(memory)));
#else
    static_cast<void>(memory);
    return open("cuda");  // says what is missing
#endif
  }
  std::string name(DeviceId id) override { return id <= kHost ? "cpu" : device(id).name(); }
  DeviceMemory& memory(DeviceId id) override { return device(id); }

  Device& device(DeviceId id) {
    // Whoever has an id has opened the device, and an opened one stays.
    const std::lock_guard held(mutex_);
    const auto i = static_cast<std::size_t>(id - 1);
    if (id <= kHost || !opened_[i]) throw InternalError("a device that was never opened");
    return *opened_[i];
  }

  std::optional<Machine> machine(std::string_view target) {
    const std::lock_guard held(mutex_);
    for (const auto& d : opened_)
      if (d && d->target() == target) return d->machine();
    return std::nullopt;
  }

  std::size_t trim() {
    const std::lock_guard held(mutex_);
    std::size_t bytes = 0;
    for (const auto& d : opened_)
      if (d) bytes += d->trim();
    return bytes;
  }

 private:
  static std::unique_ptr<Device> open_cuda(int ordinal, DeviceId id) {
#ifdef PLAIT_CUDA
    return std::make_unique<gpu::Gpu>(ordinal, id);
#else
    throw DeviceError("device 'cuda:" + std::to_string(ordinal) + "' (number " +
                      std::to_string(id) + "): this Plait was built without CUDA");
#endif
  }
  static int cuda_ordinal(std::string_view text) {
    std::string_view number =
        text.substr(0, kCuda.size()) == kCuda ? text.substr(kCuda.size()) : "?";
    if (number.empty()) return 0;
    int value = -1;
    if (number[0] == ':') {
      const char* end = number.data() + number.size();
      const auto [at, error] = std::from_chars(number.data() + 1, end, value);
      if (error != std::errc() || at != end) value = -1;
    }
    if (value < 0 || value >= kMostDevices)
      throw ValueError(
          "Device not understood. \"cpu\", \"cuda\" and \"cuda:N\" are allowed, but "
          "received: " +
          std::string(text));
    return value;
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMostDevices> opened_;
};

// Never destroyed: arrays may outlive any static.
Registry& registry() {
  static auto& r = *new Registry;
  return r;
}

}  // namespace

#ifndef PLAIT_CUDA
namespace {
[[noreturn]] void refuse(std::string_view target) {
  throw DeviceError("explain: target '" + std::string(target) +
                    "': this Plait was built without CUDA");
}
}  // namespace
std::string explain_kernel(const ir::Kernel&, const KernelExtents&, std::string_view target, bool) {
  refuse(target);
}
std::string explain_product(const DeviceProduct&, std::string_view target, bool) { refuse(target); }
Machine machine_of_architecture(std::string_view target) { refuse(target); }
std::vector<FoundDevice> find_devices() {
  return {{.name = "cuda", .why = "this Plait was built without CUDA"}};
}
#endif

Machine machine_of(std::string_view target) {
  const std::optional<Machine> opened = registry().machine(target);
  return opened ? *opened : machine_of_architecture(target);
}
Device& device_of(DeviceId id) { return registry().device(id); }
void install_devices() { install(&registry()); }
std::size_t trim_devices() { return registry().trim(); }

}  // namespace plait::engine
