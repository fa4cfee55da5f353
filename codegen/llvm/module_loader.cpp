// Finds and opens the module with LLVM inside: PLAIT_JIT_LIBRARY, else beside the library or the
// program that this code is in, and nowhere else.
#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "backend.hpp"
#include "build_id.hpp"
#include "core/at_fork.hpp"
#include "core/config.hpp"
#include "core/os/library.hpp"
#include "core/os/memory.hpp"
#include "core/replaceable.hpp"

namespace plait::jit {
#ifdef PLAIT_LLVM_VERSION
namespace {

constexpr const char* kFile = "libplait_jit.so";

std::vector<std::string> places() {
  if (const std::string& named = config().jit_library; !named.empty()) return {named};
  std::vector<std::string> p;
  const std::string self = os::file_of(reinterpret_cast<const void*>(&module_entry));
  if (!self.empty()) {
    auto slash = self.rfind('/');
    p.push_back((slash == std::string::npos ? std::string() : self.substr(0, slash + 1)) + kFile);
  }
  return p;
}

// Whether a program whose memory is limited could still run with the module in it: its pages, what
// a kernel takes, and as much again as small programs use.
bool has_room(const struct stat& module) {
  return os::memory_left_for(static_cast<std::size_t>(module.st_size) + (std::size_t{64} << 20));
}

// nullptr with *later set: not now.
ModuleEntry open_module(bool* later) {
  std::string tried;
  for (const std::string& place : places()) {
    struct stat s;
    if (stat(place.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) {
      tried += "; no file " + place;
      continue;
    }
    if (!has_room(s)) {
      *later = true;
      return nullptr;
    }
    // Local and deep: LLVM of other libraries in the process is neither seen nor disturbed.
    std::string why = "no entry point in " + place;
    void* const handle = os::open_library(place, &why);
    void* const entry = handle ? os::symbol(handle, kModuleEntryName) : nullptr;
    if (entry) return reinterpret_cast<ModuleEntry>(entry);
    tried += "; " + why;
  }
  log(Log::Compile, "no JIT: the interpreter runs everything" + tried);
  return nullptr;
}

std::atomic<bool> missing{false};

// Held over a fork: a child must not inherit a loader that is at work in another thread.
std::mutex& module_mutex() {
  static std::mutex& mutex = *[] {
    auto* m = new std::mutex;
    hold_over_fork(*m);
    return m;
  }();
  return mutex;
}

}  // namespace
#endif

ModuleEntry module_entry() {
#ifdef PLAIT_LLVM_VERSION
  static ModuleEntry entry = nullptr;
  static bool looked = false;
  const std::lock_guard lock(module_mutex());
  if (looked) return entry;
  bool later = false;
  entry = open_module(&later);
  looked = !later;
  missing = looked && !entry;
  if (later) throw std::bad_alloc();
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

PLAIT_REPLACEABLE bool expected() {
#ifdef PLAIT_LLVM_VERSION
  module_mutex();  // there before the compile thread takes it
  return !missing.load(std::memory_order_relaxed);
#else
  return available();
#endif
}

std::string module_identity() {
  static const std::string identity = [] {
    std::string id = PLAIT_VERSION;
#ifdef PLAIT_LLVM_VERSION
    for (const std::string& place : places()) {
      struct stat s;
      if (stat(place.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
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
