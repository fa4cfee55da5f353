// NVRTC, opened at run time.
#include "nvrtc.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "cuda.hpp"

namespace plait::cuda {

namespace {

// The folders that may hold NVRTC, most particular first; "" is the loader's own path.
std::vector<std::string> folders() {
  std::vector<std::string> f;
  std::error_code ignored;
  auto wheels = [&](const std::filesystem::path& site_packages) {
    for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
      f.push_back((site_packages / wheel).string());
  };
  // This library may lie in a package's folder in site-packages.
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&nvrtc), &self) && self.dli_fname)
    wheels(std::filesystem::path(self.dli_fname).parent_path().parent_path());
  if (const char* venv = std::getenv("VIRTUAL_ENV"))
    for (std::filesystem::directory_iterator d(std::filesystem::path(venv) / "lib", ignored), end;
         !ignored && d != end; d.increment(ignored))
      wheels(d->path() / "site-packages");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* toolkit = std::getenv(variable)) f.push_back(std::string(toolkit) + "/lib64");
  f.push_back("/usr/local/cuda/lib64");
  f.push_back("");
  return f;
}

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
  auto attempt = [&](const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      n.tried += (n.tried.empty() ? "" : ", ") + path;
      return false;
    }
    n.found = fill(handle, n);
    if (!n.found) n.tried += (n.tried.empty() ? "" : ", ") + path + " (too old)";
    return n.found;
  };
  if (const char* named = std::getenv("PLAIT_NVRTC_LIBRARY")) {
    attempt(named);
    return n;
  }
  for (const std::string& folder : folders())
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"})
      if (attempt(folder.empty() ? name : folder + "/" + name)) return n;
  return n;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc n = open();
  return n;
}

bool nvrtc_available(std::string* why) {
  if (!nvrtc().found && why) *why = "none of these can be opened: " + nvrtc().tried;
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
