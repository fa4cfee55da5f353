#include "blas_library.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>

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

BlasLibrary find_library() {
  BlasLibrary l;
  if (const std::string& named = config().blas_library; !named.empty()) {
    std::string why = "it has no cblas_dgemm";
    if (use(os::open_library(named, &why), l)) {
      l.is_named = true;
      return l;
    }
    std::fprintf(stderr, "plait: PLAIT_BLAS: '%s' is no BLAS and ignored: %s\n", named.c_str(),
                 why.c_str());
  }
  // NumPy's wheels carry an OpenBLAS of their own.
  const std::string loaded = os::library_with("openblas");
  if (!loaded.empty() && use(os::opened_library(loaded), l)) return l;
  // Debian's 0.3.21 takes newer processors for a Haswell.
  const TierInfo& tier = info(config().tier);
  if (const char* cores = config().deterministic ? tier.oldest_blas : tier.blas)
    setenv("OPENBLAS_CORETYPE", cores, 0);
  use(os::open_library("libopenblas.so.0"), l);
  return l;
}

}  // namespace

const BlasLibrary& blas_library() {
  static const BlasLibrary l = find_library();
  return l;
}

namespace {

// The setting is the process's, in most builds that of the `local` function, too: the first to come
// remembers it, and the last to go restores it.
struct BlasThreads {
  std::mutex mutex;
  int users = 0, before = 1;
};
BlasThreads& blas_threads() {
  static BlasThreads& t = *new BlasThreads;
  return t;
}

}  // namespace

OneBlasThread::OneBlasThread() {
  const BlasLibrary& l = blas_library();
  BlasThreads& t = blas_threads();
  const std::lock_guard held(t.mutex);
  const bool first = ++t.users == 1;
  int before = 1;
  if (l.set_local)
    before = l.set_local(1);
  else if (first && l.get_global && l.set_global && (before = l.get_global()) != 1)
    l.set_global(1);
  if (first) t.before = before;
}
OneBlasThread::~OneBlasThread() {
  const BlasLibrary& l = blas_library();
  BlasThreads& t = blas_threads();
  const std::lock_guard held(t.mutex);
  if (--t.users > 0) return;
  if (l.set_local)
    l.set_local(t.before);
  else if (l.set_global && t.before > 1)
    l.set_global(t.before);
}

}  // namespace plait::engine
