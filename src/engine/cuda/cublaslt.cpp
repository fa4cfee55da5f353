#include "cublaslt.hpp"

#include "codegen/cuda/search.hpp"

namespace plait::gpu::lt {

Library open(const std::function<std::string(const Library&)>& start) {
  Library l;
  const cuda::Found f = cuda::find_library(
      "PLAIT_CUBLASLT_LIBRARY", {"libcublasLt.so.13", "libcublasLt.so.12"}, [&](void* handle) {
#define PLAIT_CUBLASLT_SYMBOL(member, symbol, parameters) {#symbol, &l.member},
        const std::string missing =
            cuda::missing_symbols(handle, {PLAIT_CUBLASLT(PLAIT_CUBLASLT_SYMBOL)});
#undef PLAIT_CUBLASLT_SYMBOL
        return missing.empty() ? start(l) : "it has no " + missing;
      });
  l.found = f.handle != nullptr;
  l.path = f.path;
  l.why = f.why;
  l.tried = f.tried;
  return l;
}

}  // namespace plait::gpu::lt
