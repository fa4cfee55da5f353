// Every allocation of this shared object comes through here: the linker sends malloc and its kin to
// the functions named __wrap_ (--wrap; see CMakeLists.txt), those of LLVM's archives and of the
// standard library's, which is linked in: its operators new and delete, too, are this object's own,
// whatever the application's are. Memory is the C library's.
#include "guard.hpp"

#include <llvm/Support/ErrorHandling.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void* __real_aligned_alloc(std::size_t, std::size_t);
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
constexpr std::size_t kAlign = alignof(std::max_align_t);
alignas(kAlign) char early[512 << 10];
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

void* allocate_early(std::size_t bytes, std::size_t align) {
  // The size stands before the memory, for realloc.
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(early);
  const std::size_t at = (begin + early_used + sizeof bytes + align - 1) / align * align - begin;
  if (at > sizeof early || bytes > sizeof early - at) return nullptr;
  early_used = at + bytes;
  std::memcpy(early + at - sizeof bytes, &bytes, sizeof bytes);
  return early + at;
}

template <class F>
void* allocate(std::size_t bytes, std::size_t align, F&& real) {
  if (call && call->fail_at && --call->fail_at == 0) longjmp(call->back, kOutOfMemory);
  while (true) {
    if (void* p = real()) return p;
    if (!make_room()) return allocate_early(bytes, align);
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
using plait::jit::kAlign;

extern "C" {
void* __wrap_malloc(std::size_t n) {
  return allocate(n, kAlign, [n] { return __real_malloc(n); });
}
void* __wrap_calloc(std::size_t n, std::size_t size) {
  // What is early has never been used before.
  return allocate(n * size, kAlign, [=] { return __real_calloc(n, size); });
}
void* __wrap_aligned_alloc(std::size_t align, std::size_t n) {
  // When there is none, the operator that asked throws.
  return allocate(n, align, [=] { return __real_aligned_alloc(align, n); });
}
void __wrap_free(void* p) {
  if (!is_early(p)) __real_free(p);
}
void* __wrap_realloc(void* p, std::size_t n) {
  n += n == 0;  // nullptr would stand for freed, not for failed
  if (!is_early(p)) return allocate(n, kAlign, [=] { return __real_realloc(p, n); });
  std::size_t had;
  std::memcpy(&had, static_cast<char*>(p) - sizeof had, sizeof had);
  void* q = __wrap_malloc(n);
  if (q) std::memcpy(q, p, had < n ? had : n);
  return q;
}
char* __wrap_strdup(const char* s) {
  const std::size_t n = std::strlen(s) + 1;
  void* p = __wrap_malloc(n);
  return p ? static_cast<char*>(std::memcpy(p, s, n)) : nullptr;
}
}
