// NVRTC's functions, as far as they are used. Its results are 0 for success.
#pragma once
#include <cstddef>
#include <string>

namespace plait::cuda {

struct Nvrtc {
  using Handle = void*;
  bool found = false;
  std::string why;  // it was not found
  int (*version)(int*, int*) = nullptr;
  int (*create)(Handle*, const char* source, const char* name, int headers, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Handle, int options, const char* const*) = nullptr;
  int (*destroy)(Handle*) = nullptr;
  int (*cubin_size)(Handle, std::size_t*) = nullptr;
  int (*cubin)(Handle, char*) = nullptr;
  int (*ptx_size)(Handle, std::size_t*) = nullptr;
  int (*ptx)(Handle, char*) = nullptr;
  int (*log_size)(Handle, std::size_t*) = nullptr;
  int (*log)(Handle, char*) = nullptr;
  const char* (*error)(int) = nullptr;
  int (*arch_count)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
};
// Opened at the first call.
const Nvrtc& nvrtc();

}  // namespace plait::cuda
