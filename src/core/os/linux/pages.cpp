#include "core/os/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace plait::os {
namespace {

std::byte* map(std::size_t bytes, int how) {
  void* const p =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

}  // namespace

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::byte* map_pages(std::size_t bytes) { return map(bytes, 0); }
std::byte* reserve_pages(std::size_t bytes) { return map(bytes, MAP_NORESERVE); }
void unmap_pages(void* begin, std::size_t bytes) { munmap(begin, bytes); }

void prefer_huge_pages(void* begin, std::size_t bytes) { madvise(begin, bytes, MADV_HUGEPAGE); }
void give_back_pages(void* begin, std::size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); }

bool make_executable(void* begin, std::size_t bytes) {
  return mprotect(begin, bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace plait::os
