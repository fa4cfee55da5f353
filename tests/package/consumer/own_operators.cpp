// Operators new and delete of an application's own: memory that did not come from them ends it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {
constexpr std::uint64_t kMine = 0x504c414954;
void* allocate(std::size_t n, std::size_t align) {
  if (align < 32) align = 32;
  char* p = static_cast<char*>(std::aligned_alloc(align, align + (n + align - 1) / align * align));
  if (!p) throw std::bad_alloc();
  p += align;
  reinterpret_cast<std::uint64_t*>(p)[-1] = kMine;
  reinterpret_cast<std::uint64_t*>(p)[-2] = align;
  return p;
}
void release(void* p) {
  if (!p) return;
  auto* before = static_cast<std::uint64_t*>(p);
  if (before[-1] != kMine) {
    std::fputs("memory of another allocator\n", stderr);
    std::abort();
  }
  before[-1] = 0;
  std::free(static_cast<char*>(p) - before[-2]);
}
}  // namespace
void* operator new(std::size_t n) { return allocate(n, 0); }
void* operator new[](std::size_t n) { return allocate(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
