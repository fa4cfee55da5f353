#pragma once

namespace plait {

// `yield` does nothing on most cores; this waits for the instructions before it.
inline void spin_pause() { asm volatile("isb" ::: "memory"); }

}  // namespace plait
