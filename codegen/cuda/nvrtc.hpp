// NVRTC's functions, as far as they are used. Its results are 0 for success.
#pragma once
#include <cstddef>
#include <string>

namespace plait::cuda {

using ProgramHandle = struct _nvrtcProgram*;

// X(member, function, result, parameters)
#define PLAIT_NVRTC(X)                                                                      \
  X(version, nvrtcVersion, int, (int*, int*))                                               \
  X(create, nvrtcCreateProgram, int,                                                        \
    (ProgramHandle*, const char* source, const char* name, int headers, const char* const*, \
     const char* const*))                                                                   \
  X(compile, nvrtcCompileProgram, int, (ProgramHandle, int options, const char* const*))    \
  X(destroy, nvrtcDestroyProgram, int, (ProgramHandle*))                                    \
  X(cubin_size, nvrtcGetCUBINSize, int, (ProgramHandle, std::size_t*))                      \
  X(cubin, nvrtcGetCUBIN, int, (ProgramHandle, char*))                                      \
  X(ptx_size, nvrtcGetPTXSize, int, (ProgramHandle, std::size_t*))                          \
  X(ptx, nvrtcGetPTX, int, (ProgramHandle, char*))                                          \
  X(log_size, nvrtcGetProgramLogSize, int, (ProgramHandle, std::size_t*))                   \
  X(log, nvrtcGetProgramLog, int, (ProgramHandle, char*))                                   \
  X(error, nvrtcGetErrorString, const char*, (int))                                         \
  X(arch_count, nvrtcGetNumSupportedArchs, int, (int*))                                     \
  X(archs, nvrtcGetSupportedArchs, int, (int*))

struct Nvrtc {
#define PLAIT_NVRTC_MEMBER(member, function, result, parameters) \
  result(*member) parameters = nullptr;
  PLAIT_NVRTC(PLAIT_NVRTC_MEMBER)
#undef PLAIT_NVRTC_MEMBER
  bool found = false;
  std::string path;
  std::string why;  // it was not found
};
// Opened at the first call; see nvrtc_for_driver().
const Nvrtc& nvrtc();

}  // namespace plait::cuda
