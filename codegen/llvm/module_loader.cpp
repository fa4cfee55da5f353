// Finds and opens the module with LLVM inside: PLAIT_JIT_LIBRARY, else beside the library that this
// code is in, else where the build put it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "backend.hpp"
#include "build_id.hpp"

namespace plait::jit {
#ifdef PLAIT_LLVM_MODULE
namespace {

constexpr const char* kFile = "libplait_jit.so";

std::vector<std::string> places() {
  if (const char* named = std::getenv("PLAIT_JIT_LIBRARY")) return {named};
  std::vector<std::string> p;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&module_entry), &info) && info.dli_fname) {
    std::string self = info.dli_fname;
    auto slash = self.rfind('/');
    p.push_back((slash == std::string::npos ? std::string() : self.substr(0, slash + 1)) + kFile);
  }
  p.push_back(PLAIT_LLVM_MODULE);
  return p;
}

ModuleEntry open_module() {
  std::string tried;
  for (const std::string& place : places()) {
    // Local and deep: LLVM of other libraries in the process is neither seen nor disturbed.
    void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = handle ? dlsym(handle, kModuleEntryName) : nullptr;
    if (entry) return reinterpret_cast<ModuleEntry>(entry);
    const char* why = dlerror();
    tried += "; " + std::string(why ? why : "no entry point in " + place);
  }
  log(Log::Compile, "no JIT: the interpreter runs everything" + tried);
  return nullptr;
}

}  // namespace
#endif

ModuleEntry module_entry() {
#ifdef PLAIT_LLVM_MODULE
  static const ModuleEntry entry = open_module();
  return entry;
#else
  static const bool said = [] {
    log(Log::Compile, "no JIT: built without LLVM");
    return true;
  }();
  (void)said;
  return nullptr;
#endif
}

std::string module_identity() {
  static const std::string identity = [] {
    std::string id = PLAIT_VERSION;
#ifdef PLAIT_LLVM_MODULE
    for (const std::string& place : places()) {
      if (access(place.c_str(), R_OK) != 0) continue;
      const std::string build = build_id(place);
      if (build.empty()) {
        log(Log::Cache, "no disk cache: " + place + " does not say which build it is");
        return build;
      }
      return id + " llvm " PLAIT_LLVM_VERSION " " + build;
    }
#endif
    return id;
  }();
  return identity;
}

}  // namespace plait::jit
