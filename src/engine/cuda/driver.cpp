#include "driver.hpp"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "codegen/cuda/search.hpp"
#include "core/os/library.hpp"
#include "plait/error.hpp"

namespace plait::gpu {
namespace {

// Where a driver may be: the loader's own search, then where WSL, distributions and containers have
// it.
std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("PLAIT_CUDA_LIBRARY"); chosen && *chosen) return {chosen};
  const std::string name = "libcuda.so.1";
  return {name,
          "/usr/lib/wsl/lib/" + name,
          "/usr/lib/x86_64-linux-gnu/" + name,
          "/usr/lib/x86_64-linux-gnu/nvidia/current/" + name,
          "/usr/lib/aarch64-linux-gnu/" + name,
          "/usr/lib64/" + name,
          "/usr/local/nvidia/lib64/" + name};
}

void* open_library(std::string& path) {
  std::string tried;
  for (const std::string& name : candidates()) {
    std::string why;
    if (void* library = os::open_library(name, &why)) {
      path = name;
      return library;
    }
    tried += "\n  " + name + ": " + why;
  }
  throw DeviceError(
      "no CUDA driver: an NVIDIA driver installs libcuda.so.1 (PLAIT_CUDA_LIBRARY names another "
      "file). Plait looked for" +
      tried);
}

void find_functions(void* library, Driver& d) {
#define PLAIT_CUDA_SYMBOL(member, symbol, parameters) {#symbol, &d.member},
  const std::string missing =
      cuda::missing_symbols(library, {PLAIT_CUDA_DRIVER(PLAIT_CUDA_SYMBOL)});
#undef PLAIT_CUDA_SYMBOL
  if (!missing.empty())
    throw DeviceError("the CUDA driver " + d.path + " has no " + missing +
                      ": Plait needs one for CUDA " + version_text(kOldestDriver) + " or newer");
}

Driver load() {
  Driver d;
  void* library = open_library(d.path);
  try {
    find_functions(library, d);
    // The version can be asked for before cuInit, which an old driver may refuse.
    if (d.driver_version(&d.version) == kSuccess && d.version < kOldestDriver)
      throw DeviceError("the CUDA driver " + d.path + " is for CUDA " + version_text(d.version) +
                        ": Plait needs " + version_text(kOldestDriver) + " or newer");
    if (const Result r = d.init(0); r != kSuccess) {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      throw DeviceError("the CUDA driver " + d.path + " does not start: " + d.text(r) +
                        (visible ? std::string(" (CUDA_VISIBLE_DEVICES=") + visible + ")" : ""));
    }
  } catch (...) {
    os::close_library(library);
    throw;
  }
  return d;
}

}  // namespace

std::string version_text(int v) {
  return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

std::string Driver::text(Result r) const {
  const char *name = nullptr, *meaning = nullptr;
  error_name(r, &name);
  error_string(r, &meaning);
  if (!name) return "CUDA error " + std::to_string(r);
  return meaning ? std::string(name) + ": " + meaning : name;
}

const Driver& driver() {
  static std::mutex mutex;
  static const Driver* loaded = nullptr;
  const std::lock_guard held(mutex);
  if (!loaded) loaded = new Driver(load());
  return *loaded;
}

bool is_fatal(Result r) {
  switch (r) {
    case 46:   // device unavailable
    case 201:  // invalid context
    case 214:  // uncorrectable memory error
    case 220:  // NVLink
    case 226:  // contained memory error
    case 700:  // illegal address
    case 702:  // launch timed out
    case 709:  // context destroyed
    case 710:  // assertion
    case 714:  // hardware stack
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // address space
    case 718:  // program counter
    case 719:  // launch failed
    case 999:  // unknown
      return true;
    default:
      return false;
  }
}

}  // namespace plait::gpu
