#include "cublaslt.hpp"

#include <dlfcn.h>

#include "codegen/cuda/search.hpp"

namespace plait::gpu::lt {
namespace {

bool fill(void* handle, Library& l) {
  bool complete = true;
#define PLAIT_CUBLASLT_FIND(member, symbol, parameters)                     \
  l.member = reinterpret_cast<Status(*) parameters>(dlsym(handle, symbol)); \
  complete = complete && l.member;
  PLAIT_CUBLASLT(PLAIT_CUBLASLT_FIND)
#undef PLAIT_CUBLASLT_FIND
  return complete;
}

Library open() {
  Library l;
  const cuda::Found f =
      cuda::find_library("PLAIT_CUBLASLT_LIBRARY", {"libcublasLt.so.13", "libcublasLt.so.12"},
                         [&](void* handle) { return fill(handle, l); });
  l.found = f.handle != nullptr;
  l.path = f.path;
  l.why = f.why;
  return l;
}

}  // namespace

const Library& library() {
  static const Library& l = *new Library(open());
  return l;
}

}  // namespace plait::gpu::lt
