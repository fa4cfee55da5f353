// A stand-in for libcuda.so with one device. Its addresses are none of the host's (a tag makes them
// non-canonical: whoever reads them without a copy is stopped by the processor), its work happens
// when somebody waits for it, each stream by itself. Its kernels are the shared objects that
// fake_nvrtc.cpp makes, or PTX of the real NVRTC, which makes that for an architecture it does not
// know: PLAIT_FAKE_ARCHITECTURE=99. fake_cuda_fail makes the n-th next call of a function give an
// error; "kernel" is a launched kernel, whose failure shows at the next wait.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "emulated_launch.hpp"
#include "ptx.hpp"

namespace {
using Result = int;
using Address = unsigned long long;

constexpr Address kTag = Address{0x5ab1} << 48;  // as a double: rarer than any in a test
constexpr Result kIllegalAddress = 700;

struct Failure {
  int in;
  Result result;
  int times = 1;
};
// A queue of work. Nothing of it happens before somebody waits for it, or for what waits for it.
struct Stream {
  std::deque<std::function<void()>> work;
  std::size_t submitted = 0, finished = 0;
};
struct Event {
  Stream* stream = nullptr;
  std::size_t after = 0;  // work of the stream that was submitted before it
};
struct Module {
  void* library = nullptr;
  emulated::Launcher launch = nullptr;
  std::shared_ptr<const ptx::Module> ptx = nullptr;
  const ptx::Function* kernel = nullptr;
  std::size_t argument_bytes = 0;
  std::size_t shared_limit = 48 * 1024;  // without cuFuncSetAttribute
};

std::recursive_mutex mutex;  // guards all below
std::map<std::string, Failure> failures;
std::map<std::string, int> calls;
std::size_t allocated = 0, capacity = std::size_t{1} << 30;
struct Block {
  std::size_t bytes;
  void* memory;  // untagged: leak checkers look for it
};
// Never destroyed: pools of the process hold their blocks to its end.
auto& blocks = *new std::map<Address, Block>;
// By handle; those that nobody created are other programs'.
auto& streams = *new std::map<void*, Stream>;
std::size_t launches = 0, copied = 0;
Result sticky = 0;
int architecture = [] {
  const char* named = std::getenv("PLAIT_FAKE_ARCHITECTURE");
  return named ? std::atoi(named) : 90;
}();
bool hurried = false;
thread_local void* current = nullptr;
int handle;  // whose address serves for contexts

Result enter(const char* name) {
  ++calls[name];
  ++calls["any"];
  const auto f = failures.find(name);
  if (f == failures.end() || f->second.in-- > 0) return 0;
  const Result r = f->second.result;
  if (--f->second.times == 0) failures.erase(f);
  return r;
}

bool tagged(Address a) { return (a >> 48) == (kTag >> 48); }
void* memory(Address a) { return reinterpret_cast<void*>(a & ~kTag); }
// Whether [a, a + n) lies in one block that was allocated and not freed.
bool owned(Address a, std::size_t n) {
  auto b = blocks.upper_bound(a);
  if (b == blocks.begin()) return false;
  --b;
  return a + n <= b->first + b->second.bytes;
}

// The same when work comes to it.
bool still_owned(Address a, std::size_t n) {
  if (owned(a, n)) return true;
  sticky = kIllegalAddress;
  return false;
}

// The legacy stream has two names.
Stream& stream_of(void* handle) {
  return streams[handle == reinterpret_cast<void*>(0x1) ? nullptr : handle];
}
void submit(void* stream, std::function<void()> f) {
  Stream& s = stream_of(stream);
  s.work.push_back(std::move(f));
  ++s.submitted;
}
Result run_to(Stream& s, std::size_t end) {
  while (s.finished < end) {
    const std::function<void()> f = std::move(s.work.front());
    s.work.pop_front();
    ++s.finished;
    if (!sticky) f();
  }
  return sticky;
}
Result run_all(Stream& s) { return run_to(s, s.submitted); }
void run_everything() {
  for (auto& [handle, stream] : streams) run_all(stream);
}

// An argument that is an address of the host is a forgotten copy.
bool host_address(Address a) {
  if (a < (Address{1} << 40) || a >> 47) return false;
  unsigned char resident;
  const Address page = static_cast<Address>(getpagesize());
  return mincore(reinterpret_cast<void*>(a / page * page), 1, &resident) == 0;
}
}  // namespace

extern "C" {
void fake_cuda_fail(const char* name, int nth, int result) {
  const std::lock_guard held(mutex);
  failures[name] = {nth, result};
}
void fake_cuda_fail_again(const char* name) {
  const std::lock_guard held(mutex);
  ++failures[name].times;
}
int fake_cuda_calls(const char* name) {
  const std::lock_guard held(mutex);
  return calls[name];
}
std::size_t fake_cuda_allocated() { return allocated; }
std::size_t fake_cuda_copied() { return copied; }  // bytes, within the device
void fake_cuda_set_architecture(int a) { architecture = a; }
void fake_cuda_set_memory(std::size_t bytes) { capacity = bytes; }
// What a program that uses CUDA by itself would do.
void fake_cuda_read(void* to, Address from, std::size_t n) {
  const std::lock_guard held(mutex);
  run_everything();
  std::memcpy(to, memory(from), n);
}
void fake_cuda_write(Address to, const void* from, std::size_t n) {
  const std::lock_guard held(mutex);
  run_everything();
  std::memcpy(memory(to), from, n);
}
// For doubles of libraries: what lies there, if all of it is allocated, and work in the stream's
// order.
void* fake_cuda_memory(Address at, std::size_t n) {
  const std::lock_guard held(mutex);
  return owned(at, n) ? memory(at) : nullptr;
}
void fake_cuda_submit(void (*run)(void*), void* with, void* stream) {
  const std::lock_guard held(mutex);
  submit(stream, [=] { run(with); });
}
// Copies from the host happen as soon as they may, else as late as they may.
void fake_cuda_hurry_copies(bool hurry) { hurried = hurry; }

Result cuInit(unsigned) { return enter("cuInit"); }
Result cuDriverGetVersion(int* v) { return *v = 12040, 0; }
Result cuGetErrorName(Result r, const char** s) {
  return *s = r == 2                 ? "CUDA_ERROR_OUT_OF_MEMORY"
              : r == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                     : "CUDA_ERROR",
         0;
}
Result cuGetErrorString(Result, const char** s) { return *s = "a failure made for a test", 0; }
Result cuDeviceGetCount(int* n) { return *n = 1, enter("cuDeviceGetCount"); }
Result cuDeviceGet(int* d, int i) { return *d = i, 0; }
Result cuDeviceGetName(char* s, int n, int) {
  return std::strncpy(s, "Fake", static_cast<std::size_t>(n)), 0;
}
// Few multiprocessors, with a clock (kHz) that makes up for those that an H100 has more: plans are
// made by what multiplications and launches cost.
Result cuDeviceGetAttribute(int* v, int which, int) {
  return *v = which == 75                  ? architecture / 10
              : which == 76                ? architecture % 10
              : which == 16                ? 4
              : which == 97                ? 227 * 1024
              : which == 13                ? 1755000 * 132 / 4
              : which >= 36 && which <= 38 ? 0
                                           : 49152,
         0;
}
Result cuDeviceTotalMem_v2(std::size_t* n, int) { return *n = capacity, 0; }
Result cuDevicePrimaryCtxRetain(int** c, int) {
  return *c = &handle, enter("cuDevicePrimaryCtxRetain");
}
Result cuCtxGetCurrent(void** c) { return *c = current, enter("cuCtxGetCurrent"); }
Result cuCtxSetCurrent(void* c) { return current = c, enter("cuCtxSetCurrent"); }
Result cuCtxSynchronize() {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuCtxSynchronize")) return r;
  run_everything();
  return sticky;
}
Result cuCtxPushCurrent_v2(void* c) { return current = c, 0; }
Result cuCtxPopCurrent_v2(void** c) { return *c = current, current = nullptr, 0; }

Result cuMemAlloc_v2(Address* at, std::size_t n) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuMemAlloc")) return r;
  if (allocated + n > capacity) return 2;
  void* p = std::aligned_alloc(512, (n + 511) / 512 * 512);
  std::memset(p, 0xa5, n);
  *at = reinterpret_cast<Address>(p) | kTag;
  blocks[*at] = {n, p};
  allocated += n;
  return 0;
}
// The real one may wait for the device, and may not.
Result cuMemFree_v2(Address at) {
  const std::lock_guard held(mutex);
  allocated -= blocks[at].bytes;
  blocks.erase(at);
  std::free(memory(at));
  return enter("cuMemFree");
}
Result cuMemHostAlloc(void** p, std::size_t n, unsigned) {
  const std::lock_guard held(mutex);
  return *p = std::malloc(n), enter("cuMemHostAlloc");
}

Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t n, void* stream) {
  const std::lock_guard held(mutex);
  if (!owned(to, n)) return sticky = kIllegalAddress;
  submit(stream, [=] {
    if (still_owned(to, n)) std::memcpy(memory(to), from, n);
  });
  if (hurried) run_all(stream_of(stream));
  return enter("cuMemcpyHtoDAsync");
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t n, void* stream) {
  const std::lock_guard held(mutex);
  if (!owned(from, n)) return sticky = kIllegalAddress;
  submit(stream, [=] {
    if (still_owned(from, n)) std::memcpy(to, memory(from), n);
  });
  return enter("cuMemcpyDtoHAsync");
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t n, void* stream) {
  const std::lock_guard held(mutex);
  if (!owned(from, n) || !owned(to, n)) return sticky = kIllegalAddress;
  copied += n;
  submit(stream, [=] {
    if (still_owned(from, n) && still_owned(to, n)) std::memmove(memory(to), memory(from), n);
  });
  return enter("cuMemcpyDtoDAsync");
}
Result cuMemcpy2DAsync_v2(const std::size_t* words, void* stream) {
  const std::lock_guard held(mutex);
  // CUDA_MEMCPY2D as 64-bit words: two of place, kind, host, device, array and pitch for either
  // end.
  const Address from = words[4], to = words[11];
  const std::size_t pitch = words[6], width = words[14], height = words[15];
  const bool plain = static_cast<int>(words[2]) == 2 && static_cast<int>(words[9]) == 2 &&
                     words[0] + words[1] + words[7] + words[8] == 0;
  if (!plain || words[13] != pitch || width > pitch || pitch > 0x7fffffff) return 1;
  const std::size_t n = (height - 1) * pitch + width;
  if (!owned(from, n) || !owned(to, n)) return sticky = kIllegalAddress;
  copied += width * height;
  submit(stream, [=] {
    if (!still_owned(from, n) || !still_owned(to, n)) return;
    for (std::size_t i = 0; i < height; ++i)
      std::memmove(memory(to + i * pitch), memory(from + i * pitch), width);
  });
  return enter("cuMemcpy2DAsync");
}

Result cuPointerGetAttribute(void* out, int which, Address a) {
  const std::lock_guard held(mutex);
  if (!owned(a, 1) || which != 9) return 1;
  *static_cast<int*>(out) = 0;
  return 0;
}
Result cuStreamCreate(void** s, unsigned) {
  const std::lock_guard held(mutex);
  *s = new char;
  streams[*s];
  return enter("cuStreamCreate");
}
Result cuStreamSynchronize(void* s) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuStreamSynchronize")) return r;
  return run_all(stream_of(s));
}
Result cuStreamWaitEvent(void* s, Event* e, unsigned) {
  const std::lock_guard held(mutex);
  if (const Event now = *e; now.stream) submit(s, [now] { run_to(*now.stream, now.after); });
  return enter("cuStreamWaitEvent");
}
Result cuEventCreate(Event** e, unsigned) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuEventCreate")) return r;
  *e = new Event;
  return 0;
}
Result cuEventDestroy_v2(Event* e) { return delete e, 0; }
Result cuEventRecord(Event* e, void* s) {
  const std::lock_guard held(mutex);
  *e = {&stream_of(s), stream_of(s).submitted};
  return enter("cuEventRecord");
}
Result cuEventQuery(Event* e) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuEventQuery")) return r;
  return sticky ? sticky : e->stream && e->stream->finished < e->after ? 600 : 0;
}
Result cuEventSynchronize(Event* e) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuEventSynchronize")) return r;
  return e->stream ? run_to(*e->stream, e->after) : sticky;
}

Result cuModuleLoadData(Module** m, const char* image) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuModuleLoadData")) return r;
  if (std::string_view(image, 2) == "//") {
    try {
      *m = new Module{.ptx = ptx::parse(image)};
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 218;
    }
    return 0;
  }
  std::size_t bytes;
  std::memcpy(&bytes, image, sizeof bytes);
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/plait_module_XXXXXX";
  const int file = mkstemp(path.data());
  if (write(file, image + sizeof bytes, bytes) != static_cast<ssize_t>(bytes)) return 200;
  close(file);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(path.c_str());
  if (!library) return 200;
  *m = new Module{.library = library};
  return 0;
}
Result cuModuleGetFunction(Module** f, Module* m, const char* name) {
  const std::lock_guard held(mutex);
  if (m->ptx) {
    m->kernel = ptx::find(*m->ptx, name);
    if (!m->kernel) return 500;
    m->argument_bytes = m->kernel->argument_bytes;
    *f = m;
    return enter("cuModuleGetFunction");
  }
  const std::string launch = std::string("fake_") + name;
  m->launch = reinterpret_cast<decltype(m->launch)>(dlsym(m->library, launch.c_str()));
  const void* bytes = dlsym(m->library, "fake_argument_bytes");
  if (!m->launch || !bytes) return 500;
  m->argument_bytes = *static_cast<const unsigned*>(bytes);
  *f = m;
  return enter("cuModuleGetFunction");
}
Result cuFuncSetAttribute(Module* f, int which, int value) {
  const std::lock_guard held(mutex);
  if (which != 8 || value > 227 * 1024) return 1;
  f->shared_limit = static_cast<std::size_t>(value);
  return enter("cuFuncSetAttribute");
}

Result cuLaunchKernel(Module* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, void* stream, void** parameters, void**) {
  const std::lock_guard held(mutex);
  if (const Result r = enter("cuLaunchKernel")) return r;
  if (gx == 0 || gy * gz * by * bz != 1 || bx == 0 || bx > 1024 || shared > f->shared_limit)
    return 1;
  std::vector<Address> arguments((f->argument_bytes + 7) / 8);
  std::memcpy(arguments.data(), parameters[0], f->argument_bytes);
  const auto order = static_cast<emulated::Order>(++launches % 3);
  submit(stream, [=]() mutable {
    if (const Result r = enter("kernel")) {
      sticky = r;
      return;
    }
    for (Address& a : arguments) {
      if (host_address(a)) {
        sticky = kIllegalAddress;
        return;
      }
      if (tagged(a)) a &= ~kTag;
    }
    std::vector<emulated::Range> ranges;
    for (const auto& [at, block] : blocks) ranges.push_back({block.memory, block.bytes});
    const emulated::Launch launch{gx, bx, shared, order, ranges.data(), ranges.size()};
    const char* what = f->ptx ? ptx::run(*f->ptx, *f->kernel, arguments.data(), launch)
                              : f->launch(arguments.data(), launch);
    if (what) {
      std::fprintf(stderr, "emulated kernel: %s\n", what);
      sticky = kIllegalAddress;
    }
  });
  return 0;
}
}
