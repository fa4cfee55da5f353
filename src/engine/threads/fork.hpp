#pragma once
#include <mutex>

namespace plait::engine {

// Once, by start(). `registry` guards the compiled kernels.
void install_fork_handlers(std::mutex& registry);

}  // namespace plait::engine
