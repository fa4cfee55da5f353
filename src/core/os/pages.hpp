// Pages of memory, of the system's own.
#pragma once
#include <cstddef>

namespace plait::os {

std::size_t page_bytes();

// Zeros, at a page's beginning; nullptr where limits do not let.
std::byte* map_pages(std::size_t bytes);
// The same of any size: only what is touched counts.
std::byte* reserve_pages(std::size_t bytes);
void unmap_pages(void* begin, std::size_t bytes);  // whole pages, also some of those of a call

// Wishes: nothing follows where the system has no such thing.
void prefer_huge_pages(void* begin, std::size_t bytes);
void give_back_pages(void* begin, std::size_t bytes);  // they may be zeros from now on

// Whether the whole range shows files that others see, too: such pages may leave the process at any
// time, and come again as they were. It takes some tens of microseconds.
bool shows_shared_files(const void* begin, std::size_t bytes);
// Wishes for pages of files: soon to be read; read and written for now. The latter are for ranges
// of which shows_shared_files() holds.
void read_ahead(const void* begin, std::size_t bytes);
void let_file_pages_go(const void* begin, std::size_t bytes);

// Read and execute only, from now on. False where this system does not let.
bool make_executable(void* begin, std::size_t bytes);

// Of the library that this function is in, its code: maps the pages that are in memory anyway, all
// at once. One by one, as first calls come to them, they take 10 us each. What would have to be
// read from a disk is left alone.
void map_code_around(const void* function) noexcept;

}  // namespace plait::os
