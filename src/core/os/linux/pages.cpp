#include "core/os/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace plait::os {
namespace {

// The whole pages of a range.
void advise(const void* begin, std::size_t bytes, int how) {
  const std::uintptr_t page = page_bytes(), at = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, how);
}

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

bool shows_shared_files(const void* begin, std::size_t bytes) {
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t end = at + bytes;
  std::ifstream maps("/proc/self/maps");  // by their addresses
  for (std::string line; at < end && std::getline(maps, line);) {
    std::uintptr_t first = 0, last = 0;
    char sharing = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &first, &last, &sharing) < 3)
      return false;
    if (last <= at) continue;
    if (first > at || sharing != 's') return false;
    at = last;
  }
  return at >= end;
}
void read_ahead(const void* begin, std::size_t bytes) { advise(begin, bytes, MADV_WILLNEED); }
void let_file_pages_go(const void* begin, std::size_t bytes) {
  advise(begin, bytes, MADV_DONTNEED);
}

bool make_executable(void* begin, std::size_t bytes) {
  return mprotect(begin, bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace plait::os
