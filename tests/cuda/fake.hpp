// The doubles of the driver, of NVRTC and of cuBLASLt in the place of the real ones, and what tests
// ask of them. With PLAIT_TEST_GPU=1 the real ones stay, and the tests run on the GPU: all but
// those that need the doubles, which are tagged [double]. With PLAIT_FAKE_ARCHITECTURE the NVRTC
// that is there stays, whose PTX the driver's double runs.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

namespace plait::test {

class Fake {
 public:
  // The n-th next call of a driver function fails.
  void fail(const char* name, int nth, int result) const {
    function<void(const char*, int, int)>("fake_cuda_fail")(name, nth, result);
  }
  // The call after the one that fails, fails too.
  void fail_again(const char* name) const {
    function<void(const char*)>("fake_cuda_fail_again")(name);
  }
  // Of one function, or of "any" that matters.
  int calls(const char* name) const { return function<int(const char*)>("fake_cuda_calls")(name); }
  std::size_t copied_within() const { return function<std::size_t()>("fake_cuda_copied")(); }
  void set_memory(std::size_t bytes) const {
    function<void(std::size_t)>("fake_cuda_set_memory")(bytes);
  }
  // Of a device that was not opened yet: 90 is compute capability 9.0.
  void set_architecture(int a) const { function<void(int)>("fake_cuda_set_architecture")(a); }
  // Of device memory, past Plait.
  void read(void* to, unsigned long long from, std::size_t n) const {
    function<void(void*, unsigned long long, std::size_t)>("fake_cuda_read")(to, from, n);
  }
  void write(unsigned long long to, const void* from, std::size_t n) const {
    function<void(unsigned long long, const void*, std::size_t)>("fake_cuda_write")(to, from, n);
  }
  // What lies there, as the host sees it; null when it is not all allocated.
  void* memory(unsigned long long at, std::size_t n) const {
    return function<void*(unsigned long long, std::size_t)>("fake_cuda_memory")(at, n);
  }
  // Work of another program, in the order of its stream.
  void submit(void (*run)(void*), void* with, void* stream) const {
    function<void(void (*)(void*), void*, void*)>("fake_cuda_submit")(run, with, stream);
  }
  // Copies from the host happen as soon as their stream lets them, else when they are waited for.
  void hurry_copies(bool hurry) const { function<void(bool)>("fake_cuda_hurry_copies")(hurry); }
  int waits() const { return calls("cuStreamSynchronize") + calls("cuEventSynchronize"); }

 private:
  void* library_ = dlopen(PLAIT_FAKE_CUDA, RTLD_NOW);
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
};

inline bool on_gpu() {
  const char* gpu = std::getenv("PLAIT_TEST_GPU");
  return gpu && *gpu == '1';
}

inline const Fake& fake() {
  static const Fake f = [] {
    if (on_gpu()) return Fake{};
    setenv("PLAIT_CUDA_LIBRARY", PLAIT_FAKE_CUDA, 1);
    if (!std::getenv("PLAIT_FAKE_ARCHITECTURE")) setenv("PLAIT_NVRTC_LIBRARY", PLAIT_FAKE_NVRTC, 1);
    setenv("PLAIT_CUBLASLT_LIBRARY", PLAIT_FAKE_CUBLASLT, 0);
    return Fake{};
  }();
  return f;
}

}  // namespace plait::test
