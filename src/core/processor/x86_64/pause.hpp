#pragma once

namespace plait {

inline void spin_pause() { __builtin_ia32_pause(); }

}  // namespace plait
