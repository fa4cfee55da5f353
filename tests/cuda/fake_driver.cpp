// A stand-in for libcuda.so: one device whose memory is the host's and whose stream is always done.
// fake_cuda_fail makes the n-th next call of a function give an error.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {
using Result = int;
using Address = unsigned long long;

struct Failure {
  int in;
  Result result;
  int times = 1;
};
std::map<std::string, Failure> failures;
std::map<std::string, int> calls;
std::size_t allocated = 0;
std::map<Address, std::size_t> blocks;
void* current = nullptr;
int handle;  // whose address serves for contexts, streams and events

Result enter(const char* name) {
  ++calls[name];
  const auto f = failures.find(name);
  if (f == failures.end() || f->second.in-- > 0) return 0;
  const Result r = f->second.result;
  if (--f->second.times == 0) failures.erase(f);
  return r;
}
template <class T>
Result give(const char* name, T** out) {
  *out = &handle;
  return enter(name);
}
}  // namespace

extern "C" {
void fake_cuda_fail(const char* name, int nth, int result) { failures[name] = {nth, result}; }
void fake_cuda_fail_again(const char* name) { ++failures[name].times; }
int fake_cuda_calls(const char* name) { return calls[name]; }
std::size_t fake_cuda_allocated() { return allocated; }

Result cuInit(unsigned) { return enter("cuInit"); }
Result cuDriverGetVersion(int* v) { return *v = 12040, 0; }
Result cuGetErrorName(Result r, const char** s) {
  return *s = r == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
              : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : "CUDA_ERROR",
         0;
}
Result cuGetErrorString(Result, const char** s) { return *s = "a failure made for a test", 0; }
Result cuDeviceGetCount(int* n) { return *n = 1, enter("cuDeviceGetCount"); }
Result cuDeviceGet(int* d, int i) { return *d = i, 0; }
Result cuDeviceGetName(char* s, int n, int) {
  return std::strncpy(s, "Fake", static_cast<std::size_t>(n)), 0;
}
Result cuDeviceGetAttribute(int* v, int which, int) {
  return *v = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 4 : 49152, 0;
}
Result cuDeviceTotalMem_v2(std::size_t* n, int) { return *n = std::size_t{1} << 30, 0; }
Result cuDevicePrimaryCtxRetain(int** c, int) { return give("cuDevicePrimaryCtxRetain", c); }
Result cuCtxGetCurrent(void** c) { return *c = current, 0; }
Result cuCtxPushCurrent_v2(void* c) { return current = c, 0; }
Result cuCtxPopCurrent_v2(void** c) { return *c = current, current = nullptr, 0; }
Result cuMemAlloc_v2(Address* at, std::size_t n) {
  if (const Result r = enter("cuMemAlloc")) return r;
  *at = reinterpret_cast<Address>(std::aligned_alloc(512, (n + 511) / 512 * 512));
  blocks[*at] = n;
  allocated += n;
  return 0;
}
Result cuMemFree_v2(Address at) {
  allocated -= blocks[at];
  blocks.erase(at);
  std::free(reinterpret_cast<void*>(at));
  return enter("cuMemFree");
}
Result cuMemHostAlloc(void** p, std::size_t n, unsigned) {
  return *p = std::malloc(n), enter("cuMemHostAlloc");
}
Result cuMemFreeHost(void* p) { return std::free(p), 0; }
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t n, void*) {
  return std::memcpy(reinterpret_cast<void*>(to), from, n), enter("cuMemcpyHtoDAsync");
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t n, void*) {
  return std::memcpy(to, reinterpret_cast<void*>(from), n), enter("cuMemcpyDtoHAsync");
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t n, void*) {
  return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n),
         enter("cuMemcpyDtoDAsync");
}
Result cuPointerGetAttribute(void*, int, Address) { return 0; }
Result cuStreamCreate(int** s, unsigned) { return give("cuStreamCreate", s); }
Result cuStreamSynchronize(void*) { return enter("cuStreamSynchronize"); }
Result cuStreamWaitEvent(void*, void*, unsigned) { return enter("cuStreamWaitEvent"); }
Result cuEventCreate(int** e, unsigned) { return give("cuEventCreate", e); }
Result cuEventDestroy_v2(void*) { return 0; }
Result cuEventRecord(void*, void*) { return enter("cuEventRecord"); }
Result cuEventSynchronize(void*) { return enter("cuEventSynchronize"); }
Result cuModuleLoadData(int** m, const void*) { return give("cuModuleLoadData", m); }
Result cuModuleUnload(void*) { return 0; }
Result cuModuleGetFunction(int** f, void*, const char*) { return give("cuModuleGetFunction", f); }
Result cuFuncSetAttribute(void*, int, int) { return 0; }
Result cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void*, void**, void**) {
  return enter("cuLaunchKernel");
}
}
