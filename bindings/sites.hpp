// Call sites of recorded operations, which warnings and explain() name: a code object and an
// instruction in it; the line is worked out only when somebody asks. Code objects are held, so the
// table is bounded in their bytes; the sites used longest ago are forgotten first.
#pragma once
#include <cstdint>

#include "python.hpp"

namespace plait::py {

struct Site {
  PyCodeObject* code;  // borrowed from the table; nullptr: unknown or forgotten
  int instruction;
};
// These hold the GIL. Ids are not used again.
std::uint32_t current_site();  // 0: none
Site site_of(std::uint32_t id);
// (code object, instruction in bytes) of a recorded site, None when unknown. New reference.
PyObject* site_code(std::uint32_t id);
// Where this thread is, and what it is called, for what it evaluates without the GIL.
void remember_site();
std::size_t forget_sites();  // returns the bytes
struct SitesKept {
  std::size_t sites, bytes;
};
SitesKept sites_kept();

// Frames of files under this folder are the package's own: a call site is the first frame outside.
void set_package_dir(const char* dir);
void install_site_hooks();

}  // namespace plait::py
