#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/os/pages.hpp"

namespace plait::os {

#ifdef MADV_POPULATE_READ
namespace {

// A program may have Plait linked into it, and be much larger.
constexpr std::uintptr_t kMostBytes = std::uintptr_t{16} << 20;

// Calls map(begin, bytes) for each run of blocks of pages that are all in memory.
template <class Map>
void for_each_run_in_memory(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t page,
                            Map&& map) {
  std::array<unsigned char, 16> there;
  std::uintptr_t run = begin;
  for (std::uintptr_t at = begin; at < end;) {
    const std::uintptr_t bytes = std::min(page * there.size(), end - at);
    const bool known = mincore(reinterpret_cast<void*>(at), bytes, there.data()) == 0;
    const auto last = there.begin() + static_cast<std::ptrdiff_t>(bytes / page);
    if (!known || !std::all_of(there.begin(), last, [](unsigned char c) { return (c & 1) != 0; })) {
      if (run < at) map(run, at - run);
      run = at + bytes;
    }
    at += bytes;
  }
  if (run < end) map(run, end - run);
}

// Of the object that has this function, the segment that it is in.
int map_segment(dl_phdr_info* object, std::size_t, void* function) {
  const auto here = reinterpret_cast<std::uintptr_t>(function);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t at = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here < at || here >= at + segment.p_memsz) continue;
    const std::uintptr_t page = page_bytes();
    const std::uintptr_t begin = at / page * page;
    const std::uintptr_t end = (at + segment.p_memsz + page - 1) / page * page;
    if (end - begin <= kMostBytes)
      for_each_run_in_memory(begin, end, page, [](std::uintptr_t run, std::uintptr_t bytes) {
        madvise(reinterpret_cast<void*>(run), bytes, MADV_POPULATE_READ);
      });
    return 1;
  }
  return 0;
}

}  // namespace

void map_code_around(const void* function) noexcept {
  dl_iterate_phdr(&map_segment, const_cast<void*>(function));
}
#else
void map_code_around(const void*) noexcept {}
#endif

}  // namespace plait::os
