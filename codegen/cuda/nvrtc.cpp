// NVRTC, opened at run time.
#include "nvrtc.hpp"

#include <dlfcn.h>

#include "cuda.hpp"
#include "search.hpp"

namespace plait::cuda {

namespace {

bool fill(void* handle, Nvrtc& n) {
  auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  return find(n.version, "nvrtcVersion") && find(n.create, "nvrtcCreateProgram") &&
         find(n.compile, "nvrtcCompileProgram") && find(n.destroy, "nvrtcDestroyProgram") &&
         find(n.cubin_size, "nvrtcGetCUBINSize") && find(n.cubin, "nvrtcGetCUBIN") &&
         find(n.ptx_size, "nvrtcGetPTXSize") && find(n.ptx, "nvrtcGetPTX") &&
         find(n.log_size, "nvrtcGetProgramLogSize") && find(n.log, "nvrtcGetProgramLog") &&
         find(n.error, "nvrtcGetErrorString") && find(n.arch_count, "nvrtcGetNumSupportedArchs") &&
         find(n.archs, "nvrtcGetSupportedArchs");
}

Nvrtc open() {
  Nvrtc n;
  const Found f = find_library(
      "PLAIT_NVRTC_LIBRARY", {"libnvrtc.so.13", "libnvrtc.so.12"},
      [&](void* handle) { return fill(handle, n) ? "" : "it lacks functions of NVRTC"; });
  n.found = f.handle != nullptr;
  n.why = f.why;
  return n;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc n = open();
  return n;
}

bool nvrtc_available(std::string* why) {
  if (!nvrtc().found && why) *why = nvrtc().why;
  return nvrtc().found;
}
int nvrtc_version() {
  int major = 0, minor = 0;
  if (nvrtc().found) nvrtc().version(&major, &minor);
  return major * 1000 + minor;
}
std::vector<int> nvrtc_architectures() {
  int count = 0;
  if (nvrtc().found) nvrtc().arch_count(&count);
  std::vector<int> a(static_cast<std::size_t>(count));
  if (count > 0) nvrtc().archs(a.data());
  return a;
}

}  // namespace plait::cuda
