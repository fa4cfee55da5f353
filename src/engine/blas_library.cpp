#include "blas_library.hpp"

#include <link.h>

#include <cstdlib>
#include <cstring>

#include "core/config.hpp"

namespace plait::engine {

namespace {

bool use(void* handle, BlasLibrary& l) {
  if (!handle) return false;
  struct Spelling {
    const char *prefix, *suffix;
    bool wide;
  };
  for (const Spelling s : {Spelling{"scipy_", "64_", true},
                           {"", "64_", true},
                           {"scipy_", "", false},
                           {"", "", false}}) {
    BlasLibrary found{handle, s.prefix, s.suffix, s.wide};
    void (*product)() = nullptr;
    if (!found.find("cblas_dgemm", product)) continue;
    found.find("openblas_set_num_threads_local", found.set_local);
    found.find("openblas_set_num_threads", found.set_global);
    found.find("openblas_get_num_threads", found.get_global);
    l = found;
    return true;
  }
  return false;
}

// NumPy's wheels carry an OpenBLAS of their own.
int find_openblas(dl_phdr_info* info, std::size_t, void* out) {
  if (!info->dlpi_name || !std::strstr(info->dlpi_name, "openblas")) return 0;
  *static_cast<std::string*>(out) = info->dlpi_name;
  return 1;
}

BlasLibrary find_library() {
  BlasLibrary l;
  if (const char* named = std::getenv("PLAIT_BLAS")) {
    use(dlopen(named, RTLD_NOW | RTLD_LOCAL), l);
    return l;
  }
  std::string loaded;
  dl_iterate_phdr(find_openblas, &loaded);
  if (!loaded.empty() && use(dlopen(loaded.c_str(), RTLD_NOW | RTLD_NOLOAD), l)) return l;
  // Debian's 0.3.21 takes newer processors for a Haswell.
  if (config().tier == CpuTier::Avx512) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  use(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), l);
  return l;
}

}  // namespace

const BlasLibrary& blas_library() {
  static const BlasLibrary l = find_library();
  return l;
}

OneBlasThread::OneBlasThread() {
  const BlasLibrary& l = blas_library();
  if (l.set_local)
    before_ = l.set_local(1);
  else if (l.get_global && l.set_global && (before_ = l.get_global()) != 1)
    l.set_global(1);
}
OneBlasThread::~OneBlasThread() {
  const BlasLibrary& l = blas_library();
  if (l.set_local)
    l.set_local(before_);
  else if (l.set_global && before_ > 1)
    l.set_global(before_);
}

}  // namespace plait::engine
