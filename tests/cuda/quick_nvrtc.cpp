// libnvrtc.so for tests that run PTX on the CPU: PLAIT_NVRTC_BEHIND, asked for less. What most of
// its time goes into makes code fast that no GPU runs here. Binaries, whose registers and spills
// tests read, are compiled as ever.
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

void* symbol(const char* name) {
  static void* const behind = dlopen(std::getenv("PLAIT_NVRTC_BEHIND"), RTLD_NOW | RTLD_LOCAL);
  return behind ? dlsym(behind, name) : nullptr;
}

}  // namespace

#define BEHIND(function) reinterpret_cast<decltype(&function)>(symbol(#function))

extern "C" {
// Of a name of its own, so that caches keep what either compiles apart.
int nvrtcVersion(int* major, int* minor) {
  const int r = BEHIND(nvrtcVersion)(major, minor);
  return *minor += 500, r;
}
int nvrtcCreateProgram(void** p, const char* source, const char* name, int headers,
                       const char* const* texts, const char* const* names) {
  return BEHIND(nvrtcCreateProgram)(p, source, name, headers, texts, names);
}
int nvrtcDestroyProgram(void** p) { return BEHIND(nvrtcDestroyProgram)(p); }
int nvrtcCompileProgram(void* p, int count, const char* const* options) {
  std::vector<const char*> all(options, options + count);
  if (std::string_view(all[0]).find("compute_") != std::string_view::npos) {
    all.push_back("--minimal");  // without declarations that no generated program uses
    // What is optimised less than that takes longer to run than it took to compile.
    all.push_back("--Ofast-compile=min");
  }
  return BEHIND(nvrtcCompileProgram)(p, static_cast<int>(all.size()), all.data());
}
int nvrtcGetCUBINSize(void* p, std::size_t* n) { return BEHIND(nvrtcGetCUBINSize)(p, n); }
int nvrtcGetCUBIN(void* p, char* out) { return BEHIND(nvrtcGetCUBIN)(p, out); }
int nvrtcGetPTXSize(void* p, std::size_t* n) { return BEHIND(nvrtcGetPTXSize)(p, n); }
int nvrtcGetPTX(void* p, char* out) { return BEHIND(nvrtcGetPTX)(p, out); }
int nvrtcGetProgramLogSize(void* p, std::size_t* n) { return BEHIND(nvrtcGetProgramLogSize)(p, n); }
int nvrtcGetProgramLog(void* p, char* out) { return BEHIND(nvrtcGetProgramLog)(p, out); }
const char* nvrtcGetErrorString(int r) { return BEHIND(nvrtcGetErrorString)(r); }
int nvrtcGetNumSupportedArchs(int* n) { return BEHIND(nvrtcGetNumSupportedArchs)(n); }
int nvrtcGetSupportedArchs(int* a) { return BEHIND(nvrtcGetSupportedArchs)(a); }
}
