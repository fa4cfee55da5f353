// Work that an evaluation without the GIL leaves for later.
#pragma once
#include "python.hpp"

namespace plait::py {

// Drops one reference to a Python object as soon as somebody holds the GIL; any thread may call it.
void release_later(void* object);

}  // namespace plait::py
