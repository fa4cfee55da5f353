// The CUDA driver, opened when a device is first asked for. Its functions are declared
// here, so that neither a toolkit nor a driver is needed to build.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace plait::gpu {

using Result = int;
using DeviceHandle = int;
using ContextHandle = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using Address = unsigned long long;

// Values of the driver's enumerations that Plait uses; they are part of its binary interface.
inline constexpr Result kSuccess = 0, kOutOfMemory = 2, kNotReady = 600;
inline constexpr int kAttributeClock = 13, kAttributeMultiprocessors = 16,
                     kAttributeMemoryClock = 36, kAttributeMemoryWidth = 37, kAttributeCache = 38,
                     kAttributeMajor = 75, kAttributeMinor = 76, kAttributeSharedPerSm = 81,
                     kAttributeSharedOptIn = 97;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr unsigned kStreamNonBlocking = 1, kEventNoTiming = 2;
inline constexpr int kPointerDeviceOrdinal = 9, kMemoryDevice = 2;
// The default stream that all threads share.
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(0x1);
inline constexpr std::size_t kMostPitch = 0x7fffffff;  // of copies in two dimensions
inline constexpr int kOldestDriver = 12000;            // CUDA 12.0

// CUDA_MEMCPY2D
struct Copy2D {
  std::size_t from_x, from_y;
  int from_kind;
  const void* from_host;
  Address from;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_kind;
  void* to_host;
  Address to;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};

// X(member, function, parameters)
#define PLAIT_CUDA_DRIVER(X)                                                                 \
  X(init, cuInit, (unsigned))                                                                \
  X(driver_version, cuDriverGetVersion, (int*))                                              \
  X(error_name, cuGetErrorName, (Result, const char**))                                      \
  X(error_string, cuGetErrorString, (Result, const char**))                                  \
  X(device_count, cuDeviceGetCount, (int*))                                                  \
  X(device_get, cuDeviceGet, (DeviceHandle*, int))                                           \
  X(device_name, cuDeviceGetName, (char*, int, DeviceHandle))                                \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, DeviceHandle))                       \
  X(device_memory, cuDeviceTotalMem_v2, (std::size_t*, DeviceHandle))                        \
  X(context_synchronise, cuCtxSynchronize, ())                                               \
  X(primary_retain, cuDevicePrimaryCtxRetain, (ContextHandle*, DeviceHandle))                \
  X(context_get, cuCtxGetCurrent, (ContextHandle*))                                          \
  X(context_set, cuCtxSetCurrent, (ContextHandle))                                           \
  X(context_push, cuCtxPushCurrent_v2, (ContextHandle))                                      \
  X(context_pop, cuCtxPopCurrent_v2, (ContextHandle*))                                       \
  X(mem_alloc, cuMemAlloc_v2, (Address*, std::size_t))                                       \
  X(mem_free, cuMemFree_v2, (Address))                                                       \
  X(host_alloc, cuMemHostAlloc, (void**, std::size_t, unsigned))                             \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (Address, const void*, std::size_t, StreamHandle)) \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void*, Address, std::size_t, StreamHandle))         \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, (Address, Address, std::size_t, StreamHandle))     \
  X(copy_2d, cuMemcpy2DAsync_v2, (const Copy2D*, StreamHandle))                              \
  X(pointer_attribute, cuPointerGetAttribute, (void*, int, Address))                         \
  X(stream_create, cuStreamCreate, (StreamHandle*, unsigned))                                \
  X(stream_synchronize, cuStreamSynchronize, (StreamHandle))                                 \
  X(stream_wait, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned))                   \
  X(event_create, cuEventCreate, (EventHandle*, unsigned))                                   \
  X(event_destroy, cuEventDestroy_v2, (EventHandle))                                         \
  X(event_record, cuEventRecord, (EventHandle, StreamHandle))                                \
  X(event_query, cuEventQuery, (EventHandle))                                                \
  X(event_synchronize, cuEventSynchronize, (EventHandle))                                    \
  X(module_load, cuModuleLoadData, (ModuleHandle*, const void*))                             \
  X(module_function, cuModuleGetFunction, (FunctionHandle*, ModuleHandle, const char*))      \
  X(function_set, cuFuncSetAttribute, (FunctionHandle, int, int))                            \
  X(launch, cuLaunchKernel,                                                                  \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     StreamHandle, void**, void**))

struct Driver {
#define PLAIT_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  PLAIT_CUDA_DRIVER(PLAIT_CUDA_MEMBER)
#undef PLAIT_CUDA_MEMBER
  int version = 0;   // 12040: CUDA 12.4
  std::string path;  // the library it came from

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  std::string text(Result r) const;
};

// The driver, opened and initialised at the first call that succeeds. Throws DeviceError with what
// was looked for and where.
const Driver& driver();

std::string version_text(int version);  // "12.4" for 12040

// An error after which the context is of no use any more.
bool is_fatal(Result r);

}  // namespace plait::gpu
