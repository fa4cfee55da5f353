#include "own_code.hpp"

#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#endif

namespace plait::engine {

#if defined(__linux__) && defined(MADV_POPULATE_READ)
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
int map_segment(dl_phdr_info* object, std::size_t, void*) {
  const auto here = reinterpret_cast<std::uintptr_t>(&map_own_code);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t at = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here < at || here >= at + segment.p_memsz) continue;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
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

void map_own_code() noexcept { dl_iterate_phdr(&map_segment, nullptr); }
#else
void map_own_code() noexcept {}
#endif

}  // namespace plait::engine
