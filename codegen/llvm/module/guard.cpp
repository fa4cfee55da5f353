// Every allocation of this shared object, LLVM's archives included, comes through here: the linker
// sends malloc and its kin to the functions named __wrap_ (--wrap; see CMakeLists.txt), and the
// operators are replaced for this file alone (exports.map). Memory is the C library's either way.
#include "guard.hpp"

#include <llvm/Support/ErrorHandling.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void __real_free(void*);
}

namespace plait::jit {
namespace {

// Memory with this much of it unused, asked of the system so that limits are asked, too.
class Reserve {
 public:
  explicit Reserve(std::size_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) at_ = p;
  }
  ~Reserve() { release(); }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  explicit operator bool() const { return at_; }
  bool release() {
    if (!at_) return false;
    munmap(at_, bytes_);
    at_ = nullptr;
    return true;
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_;
};

// Of the call in progress.
struct GuardedCall {
  jmp_buf back;
  Reserve reserve;
  int fail_at;
};
GuardedCall* call = nullptr;
char said[512];

enum : int { kOutOfMemory = 1, kGaveUp = 2 };

// LLVM's static objects are made while this file is opened, before anything can be guarded.
alignas(16) char early[512 << 10];
std::size_t early_used = 0;
bool is_early(const void* p) {
  return p >= static_cast<const void*>(early) && p < static_cast<const void*>(early + sizeof early);
}

// An allocation failed: true when it may be tried again.
bool make_room() {
  if (!call) return false;
  if (call->reserve.release()) return true;
  longjmp(call->back, kOutOfMemory);
}

void* allocate_early(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16 + 16;
  if (bytes > sizeof early - early_used) return nullptr;
  char* p = early + early_used;
  early_used += bytes;
  std::memcpy(p, &bytes, sizeof bytes);  // for realloc
  return p + 16;
}

template <class F>
void* allocate(std::size_t bytes, F&& real) {
  if (call && call->fail_at && --call->fail_at == 0) longjmp(call->back, kOutOfMemory);
  while (true) {
    if (void* p = real()) return p;
    if (!make_room()) return allocate_early(bytes);
  }
}

void gave_up(void*, const char* reason, bool) {
  std::snprintf(said, sizeof said, "%s", reason);
  if (call) longjmp(call->back, kGaveUp);
}
void out_of_memory(void*, const char*, bool) {
  if (call) longjmp(call->back, kOutOfMemory);
}

thread_local volatile char touched;

}  // namespace

Ending guarded(void (*f)(void* context), void* context, std::size_t reserve, const char** reason,
               int fail_at) {
  // The system makes this thread's variables at the first use, and ends the process if it cannot.
  if (!Reserve(reserve)) return Ending::NotBegun;
  touched = 1;
  static const bool installed = [] {
    llvm::install_fatal_error_handler(gave_up);
    llvm::install_bad_alloc_error_handler(out_of_memory);
    return true;
  }();
  (void)installed;
  GuardedCall here{.back = {}, .reserve = Reserve(reserve), .fail_at = fail_at};
  if (!here.reserve) return Ending::NotBegun;
  struct End {
    ~End() { call = nullptr; }
  } end;
  call = &here;
  switch (setjmp(here.back)) {
    case 0:
      f(context);
      return Ending::Whole;
    case kGaveUp:
      *reason = said;
      return Ending::GaveUp;
    default:
      return Ending::OutOfMemory;
  }
}

}  // namespace plait::jit

using plait::jit::allocate;
using plait::jit::is_early;

extern "C" {
void* __wrap_malloc(std::size_t n) {
  return allocate(n, [n] { return __real_malloc(n); });
}
void* __wrap_calloc(std::size_t n, std::size_t size) {
  // What is early has never been used before.
  return allocate(n * size, [=] { return __real_calloc(n, size); });
}
void __wrap_free(void* p) {
  if (!is_early(p)) __real_free(p);
}
void* __wrap_realloc(void* p, std::size_t n) {
  n += n == 0;  // nullptr would stand for freed, not for failed
  if (!is_early(p)) return allocate(n, [=] { return __real_realloc(p, n); });
  std::size_t had;
  std::memcpy(&had, static_cast<char*>(p) - 16, sizeof had);
  void* q = __wrap_malloc(n);
  if (q) std::memcpy(q, p, had - 16 < n ? had - 16 : n);
  return q;
}
char* __wrap_strdup(const char* s) {
  const std::size_t n = std::strlen(s) + 1;
  void* p = __wrap_malloc(n);
  return p ? static_cast<char*>(std::memcpy(p, s, n)) : nullptr;
}
}

namespace {
void* need(void* p) {
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t n) { return need(__wrap_malloc(n)); }
void* operator new[](std::size_t n) { return need(__wrap_malloc(n)); }
void* operator new(std::size_t n, std::align_val_t a) {
  const auto align = static_cast<std::size_t>(a);
  n = (n + align - 1) / align * align;
  return need(allocate(n, [=] { return std::aligned_alloc(align, n); }));
}
void operator delete(void* p) noexcept { __wrap_free(p); }
void operator delete[](void* p) noexcept { __wrap_free(p); }
void operator delete(void* p, std::size_t) noexcept { __wrap_free(p); }
void operator delete[](void* p, std::size_t) noexcept { __wrap_free(p); }
void operator delete(void* p, std::align_val_t) noexcept { __wrap_free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { __wrap_free(p); }
