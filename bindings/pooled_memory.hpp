// NumPy's memory from the engine's pool.
#pragma once
#include "python.hpp"

namespace plait::py {

// While it lives, what NumPy allocates on this thread lies in the pool: pages that were touched
// before, where malloc would map results of some size anew at every call. The arrays may outlive
// it. Does nothing where somebody has set a handler of their own.
class PooledMemory {
 public:
  PooledMemory();
  ~PooledMemory();
  PooledMemory(const PooledMemory&) = delete;

 private:
  Owned before_;  // null: nothing was set
};

// Bytes of arguments from which results are likely to be worth it.
inline constexpr std::int64_t kPooledFrom = 32 * 1024;

}  // namespace plait::py
