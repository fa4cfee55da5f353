// NVRTC, opened at run time.
#include "nvrtc.hpp"

#include <atomic>

#include "cuda.hpp"
#include "search.hpp"

namespace plait::cuda {

namespace {

constexpr int kOldest = 12, kNewest = 13;

// The newest that is found, up to this major version.
Nvrtc open(int newest) {
  Nvrtc n;
  std::vector<std::string> names;
  for (int major = newest; major >= kOldest; --major)
    names.push_back("libnvrtc.so." + std::to_string(major));
  const Found f = find_library("PLAIT_NVRTC_LIBRARY", names, [&](void* handle) {
#define PLAIT_NVRTC_SYMBOL(member, function, result, parameters) {#function, &n.member},
    const std::string missing = missing_symbols(handle, {PLAIT_NVRTC(PLAIT_NVRTC_SYMBOL)});
#undef PLAIT_NVRTC_SYMBOL
    return missing.empty() ? missing : "it has no " + missing;
  });
  n.found = f.handle != nullptr;
  n.path = f.path;
  n.why = f.why;
  return n;
}

// One that is no newer than the driver, in the place of the newest.
std::atomic<const Nvrtc*> matching{nullptr};

}  // namespace

const Nvrtc& nvrtc() {
  if (const Nvrtc* n = matching.load()) return *n;
  static const Nvrtc n = open(kNewest);
  return n;
}

void nvrtc_for_driver(int version) {
  const int major = version / 1000;
  if (major >= kNewest || major < kOldest || matching.load()) return;
  static const Nvrtc n = open(major);
  if (n.found) matching.store(&n);
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
