// What an application decides for Plait in its process, where the environment does not have to.
#pragma once
#include <cstddef>
#include <string>

#include "plait/detail/callback.hpp"
#include "plait/export.hpp"

namespace plait {

enum class jit_mode { off, background, blocking };

namespace detail {
// A value that may be left out: std::optional takes a twentieth of what plait.hpp costs.
template <class T>
class Setting {
 public:
  Setting() = default;
  template <class U, class = std::enable_if_t<!std::is_same_v<std::decay_t<U>, Setting>>>
  Setting(U&& value) : value_(static_cast<U&&>(value)), given_(true) {}
  template <class... A>
  void emplace(A&&... a) {
    value_ = T(static_cast<A&&>(a)...);
    given_ = true;
  }
  explicit operator bool() const { return given_; }
  const T& operator*() const { return value_; }

 private:
  T value_{};
  bool given_ = false;
};
}  // namespace detail

// What is left out stays as it is: as docs/configuration.md has it for the variables of these
// names.
struct options {
  detail::Setting<int> threads;              // PLAIT_NUM_THREADS
  detail::Setting<jit_mode> jit;             // PLAIT_JIT
  detail::Setting<std::size_t> pool_bytes;   // PLAIT_POOL_LIMIT: freed memory that is kept
  detail::Setting<std::size_t> cache_bytes;  // PLAIT_CACHE_LIMIT: of the directory
  // PLAIT_CACHE_DIR; empty: no cache on disk. Only before the first array is made.
  detail::Setting<std::string> cache_directory;
  // PLAIT_CHECK_COMPILED: calls of compile()d functions by plans are made by the functions, too,
  // and throw an Error where the two differ.
  detail::Setting<bool> check_compiled;
  detail::Setting<std::string> log_topics;  // PLAIT_LOG: "fusion,compile", "all", ""
  // log(topic, text) takes the lines of the log, with their topic, in place of stderr; nullptr:
  // stderr again. From any thread; it must not call Plait, and what it throws is lost.
  detail::Setting<detail::Callback<const std::string&, const std::string&>> log;
  // executor(n, piece, data) runs loops on threads of the application in place of Plait's own: it
  // calls piece(data, i) for every i in [0, n), on any threads, in any order, and returns when all
  // calls have returned. On one of its own threads it has to take part, or to run all of them
  // there. What it throws before the first call means that there are no threads now. At most
  // `threads` pieces; loops that are done at once are not handed over, nor those of other threads
  // until it has returned. nullptr: Plait's threads.
  detail::Setting<detail::Callback<int, void (*)(void* data, int i), void*>> executor;
};

// Call it while no other thread uses Plait. Throws ValueError, with nothing changed, for what
// cannot be had.
PLAIT_API void configure(const options& o);

}  // namespace plait
