// What an application decides for Plait in its process, where the environment does not have to.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "plait/detail/callback.hpp"
#include "plait/export.hpp"

namespace plait {

enum class jit_mode { off, background, blocking };

// What is left out stays as it is: as docs/configuration.md has it for the variables of these
// names.
struct options {
  std::optional<int> threads;              // PLAIT_NUM_THREADS
  std::optional<jit_mode> jit;             // PLAIT_JIT
  std::optional<std::size_t> pool_bytes;   // PLAIT_POOL_LIMIT: freed memory that is kept
  std::optional<std::size_t> cache_bytes;  // PLAIT_CACHE_LIMIT: of the directory
  // PLAIT_CACHE_DIR; empty: no cache on disk. Only before the first array is made.
  std::optional<std::string> cache_directory;
  std::optional<std::string> log_topics;  // PLAIT_LOG: "fusion,compile", "all", ""
  // log(topic, text) takes the lines of the log, with their topic, in place of stderr; nullptr:
  // stderr again. From any thread; it must not call Plait, and what it throws is lost.
  std::optional<detail::Callback<const std::string&, const std::string&>> log;
};

// Call it while no other thread uses Plait. Throws ValueError, with nothing changed, for what
// cannot be had.
PLAIT_API void configure(const options& o);

}  // namespace plait
