// Where arrays live. An operation runs where its operands are; what is created goes to the thread's
// current device.
#pragma once
#include "array.hpp"
#include "core/device.hpp"

namespace plait::tracer {

DeviceId device_of(const Array& a);
// The array itself when it is there already, else a copy: evaluated, then moved. Strides are kept
// where the array's memory is its own, else the copy is C-contiguous. The value of a 0-D array of
// the host goes as an argument of the kernels that read it.
Array to_device(const Array& a, DeviceId device);

// Whether a kernel can read elements that begin at this address and lie these strides apart: the
// processors of a device, unlike the host's, stop at others.
bool is_aligned(DType t, std::int64_t address, const Dims& shape, const Dims& strides);
// Whether it can read this view wherever its storage's contents lie, now and after writes.
bool is_aligned(const Array& a);
// An array over memory of somebody else on a device, pinned; see DeviceMemory::adopt. Throws
// ValueError, with nothing adopted, for memory that is not aligned.
Array adopt(std::byte* at, DType t, const Dims& shape, const Dims& strides, DeviceId device,
            void* stream, bool writeable, void (*release)(void*), void* owner);

// What the thread creates arrays on; the process's default is PLAIT_DEVICE or what was set here.
DeviceId current_device();
void set_default_device(DeviceId device);
// Sets the thread's own, kThreadDefault for the process's; returns what it was.
inline constexpr DeviceId kThreadDefault = -2;
DeviceId set_thread_device(DeviceId device);
// What was made on the host, where the thread creates arrays.
Array placed(const Array& made);
class OnDevice {
 public:
  explicit OnDevice(DeviceId device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;

 private:
  DeviceId outer_;
};

}  // namespace plait::tracer
