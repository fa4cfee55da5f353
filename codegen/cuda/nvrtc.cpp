// NVRTC, opened at run time.
#include "nvrtc.hpp"

#include "cuda.hpp"
#include "search.hpp"

namespace plait::cuda {

namespace {

Nvrtc open() {
  Nvrtc n;
  const Found f =
      find_library("PLAIT_NVRTC_LIBRARY", {"libnvrtc.so.13", "libnvrtc.so.12"}, [&](void* handle) {
        const std::string missing =
            missing_symbols(handle, {{"nvrtcVersion", &n.version},
                                     {"nvrtcCreateProgram", &n.create},
                                     {"nvrtcCompileProgram", &n.compile},
                                     {"nvrtcDestroyProgram", &n.destroy},
                                     {"nvrtcGetCUBINSize", &n.cubin_size},
                                     {"nvrtcGetCUBIN", &n.cubin},
                                     {"nvrtcGetPTXSize", &n.ptx_size},
                                     {"nvrtcGetPTX", &n.ptx},
                                     {"nvrtcGetProgramLogSize", &n.log_size},
                                     {"nvrtcGetProgramLog", &n.log},
                                     {"nvrtcGetErrorString", &n.error},
                                     {"nvrtcGetNumSupportedArchs", &n.arch_count},
                                     {"nvrtcGetSupportedArchs", &n.archs}});
        return missing.empty() ? missing : "it has no " + missing;
      });
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
