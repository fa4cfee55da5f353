// Places that arrays live in beside the host, as far as arrays have to know them: an identity, and
// memory that can be had and copied. What a device is made of is its backend's own business.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "buffer.hpp"
#include "dtype.hpp"

namespace plait {

inline constexpr DeviceId kHost = 0;
inline constexpr DeviceId kAnyDevice = -1;  // scalars: kernels of every device take them

// Memory of a device; `data` is an address there. Made by the device's DeviceMemory and given back
// to it through `release`.
struct DeviceBuffer : Buffer {
  // The contents as the host has read them; whoever writes to the buffer resets it.
  Ref<Buffer> mirror;
};

// The memory of one device. Copies are ordered with the device's other work; each is counted, and
// named in PLAIT_LOG=transfer together with `why`.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Throws std::bad_alloc with nothing changed.
  virtual Ref<Buffer> allocate(std::size_t bytes) = 0;
  // Memory with these contents. Returns when `from` may be changed again; other work of the device
  // may go on meanwhile.
  virtual Ref<Buffer> upload(const void* from, std::size_t bytes, std::string_view why) = 0;
  // Waits for the device.
  virtual void download(void* to, const std::byte* from, std::size_t bytes,
                        std::string_view why) = 0;
  // Within the device, `count` times, each `pitch` bytes behind the last; waits for nothing.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t count = 1,
                    std::size_t pitch = 0) = 0;
  virtual void synchronise() = 0;
  // Whether a library of the device computes matrix products of this dtype.
  virtual bool multiplies(DType t) = 0;

  // --- beside other programs on the device; streams are handles of its driver, null the default
  // one

  // Memory of somebody else. What is submitted here afterwards runs after what `stream` holds now.
  // `release` is called once, from any thread, when the buffer is gone and the device has done what
  // it was asked for before: at once, or in a later call.
  virtual Ref<Buffer> adopt(std::byte* at, std::size_t bytes, void* stream, void (*release)(void*),
                            void* owner) = 0;
  // Work submitted here from now on runs after what `stream` holds now.
  virtual void wait_for(void* stream) = 0;
  // What is submitted to `stream` from now on runs after what was asked of the device, and sees the
  // buffer's contents. When the buffer is gone, its memory serves again after what streams of
  // others hold then.
  virtual void lend(Buffer& b, void* stream) = 0;
  // The same for somebody who waits by himself.
  virtual void lend(Buffer& b) = 0;
  // The stream in whose order all of Plait's work on the device runs.
  virtual void* stream() = 0;
};

// What knows the devices; installed by the engine.
class DeviceRegistry {
 public:
  virtual ~DeviceRegistry() = default;
  // "cpu", or a device by its name. Throws ValueError for a name that is none, DeviceError when
  // there is no such device or it cannot be used.
  virtual DeviceId open(std::string_view name) = 0;
  // The device that memory lies on; DeviceError for memory of none.
  virtual DeviceId open_at(const void* memory) = 0;
  virtual std::string name(DeviceId id) = 0;
  virtual DeviceMemory& memory(DeviceId id) = 0;
};
void install(DeviceRegistry* r);
DeviceRegistry& devices();

// Whether any device was ever opened: programs that stay on the host pay one load for the question.
bool devices_in_use();
void set_devices_in_use();

// The host's copy of a device's buffer, made when it is first asked for.
const std::byte* host_mirror(Buffer& b);

struct TransferStats {
  std::uint64_t to_device, to_host, bytes_to_device, bytes_to_host, waits;
};
TransferStats& transfer_stats();

}  // namespace plait
