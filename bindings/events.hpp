// Work that an evaluation without the GIL leaves for later, and the call sites of recorded
// operations.
#pragma once
#include <cstdint>

#include "python.hpp"

namespace plait::py {

// Drops one reference to a Python object as soon as somebody holds the GIL; any thread may call it.
void release_later(void* object);
// Frames of files under this folder are the package's own: a call site is the first frame outside.
void set_package_dir(const char* dir);
// "file:line" of a recorded site, "" when unknown. New reference.
PyObject* site_text(std::uint32_t id);

}  // namespace plait::py
