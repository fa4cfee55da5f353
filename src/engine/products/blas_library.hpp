// The library of linear algebra that is found at run time: the OpenBLAS that NumPy has loaded in
// this process, PLAIT_BLAS, or the system's. It brings CBLAS and, mostly, LAPACK.
#pragma once
#include <string>

#include "core/os/library.hpp"

namespace plait::engine {

struct BlasLibrary {
  void* handle = nullptr;  // null: there is none
  std::string prefix, suffix;
  bool is_wide = false;             // integers of 64 bits
  bool is_named = false;            // by PLAIT_BLAS
  int (*set_local)(int) = nullptr;  // threads for the calling thread; gives the number before
  void (*set_global)(int) = nullptr;
  int (*get_global)() = nullptr;

  // False where it has no function of this name.
  template <class F>
  bool find(const std::string& name, F& f) const {
    f = handle ? reinterpret_cast<F>(os::symbol(handle, prefix + name + suffix)) : nullptr;
    return f != nullptr;
  }
};
const BlasLibrary& blas_library();

// While it lives, the library computes on the calling thread alone: with threads of its own, bits
// would depend on their number.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

}  // namespace plait::engine
