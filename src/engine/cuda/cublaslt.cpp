#include "cublaslt.hpp"

#include <dlfcn.h>

#include "codegen/cuda/search.hpp"

namespace plait::gpu::lt {
namespace {

// What is missing, or nothing.
std::string fill(void* handle, Library& l) {
  std::string missing;
#define PLAIT_CUBLASLT_FIND(member, symbol, parameters)                     \
  l.member = reinterpret_cast<Status(*) parameters>(dlsym(handle, symbol)); \
  if (!l.member) missing += missing.empty() ? "it has no " symbol : ", no " symbol;
  PLAIT_CUBLASLT(PLAIT_CUBLASLT_FIND)
#undef PLAIT_CUBLASLT_FIND
  return missing;
}

}  // namespace

Library open(const std::function<std::string(const Library&)>& start) {
  Library l;
  const cuda::Found f = cuda::find_library(
      "PLAIT_CUBLASLT_LIBRARY", {"libcublasLt.so.13", "libcublasLt.so.12"}, [&](void* handle) {
        const std::string missing = fill(handle, l);
        return missing.empty() ? start(l) : missing;
      });
  l.found = f.handle != nullptr;
  l.path = f.path;
  l.why = f.why;
  l.tried = f.tried;
  return l;
}

}  // namespace plait::gpu::lt
