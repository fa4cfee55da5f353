// What an application decides for Plait in its process, where the environment does not have to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "plait/detail/callback.hpp"
#include "plait/export.hpp"

namespace plait {

/// When loops are compiled: never, while the interpreter runs them, or before they run.
enum class jit_mode { off, background, blocking };
/// When graphs are planned: where it takes less than it saves, or all at once.
enum class plan_mode { automatic, always };

/// Memory of arrays from the application: allocate(bytes, alignment) gives a pointer, free(pointer,
/// bytes) takes it back. From any threads, several at once; neither may call Plait, and what they
/// captured has to live as long as the process. A null pointer, or what allocate throws, is a
/// std::bad_alloc of the call that wants the memory, after what is kept for reuse was given back.
struct allocator {
  template <class A, class F>
  allocator(A a, F f)
      : allocate([a](std::size_t bytes, std::size_t alignment, void** memory) {
          *memory = a(bytes, alignment);
        }),
        free(f) {}
  allocator() = default;

  detail::Callback<std::size_t, std::size_t, void**> allocate;
  detail::Callback<void*, std::size_t> free;
};

namespace detail {
// A value that may be left out: std::optional takes a twentieth of what plait.hpp costs.
template <class T>
class Setting {
 public:
  Setting() = default;
  template <class U, class = std::enable_if_t<!std::is_same_v<std::decay_t<U>, Setting>>>
  Setting(U&& value) : value_(static_cast<U&&>(value)), given_(true) {}
  template <class A, class B, class = std::enable_if_t<std::is_constructible_v<T, A, B>>>
  Setting(A&& a, B&& b) : value_(static_cast<A&&>(a), static_cast<B&&>(b)), given_(true) {}
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

/// What configure() sets. What is left out stays as it is: as docs/configuration.md has it for the
/// variables of these names.
struct options {
  detail::Setting<int> threads;               // PLAIT_NUM_THREADS
  detail::Setting<jit_mode> jit;              // PLAIT_JIT
  detail::Setting<plan_mode> plan;            // PLAIT_PLAN
  detail::Setting<std::int64_t> eager_limit;  // PLAIT_EAGER_LIMIT
  detail::Setting<std::size_t> pool_bytes;    // PLAIT_POOL_LIMIT: freed memory that is kept
  detail::Setting<std::size_t> cache_bytes;   // PLAIT_CACHE_LIMIT: of the directory
  detail::Setting<std::size_t> code_bytes;    // PLAIT_CODE_LIMIT: plans, and as much of kernels
  detail::Setting<std::size_t> packed_bytes;  // PLAIT_PACKED_LIMIT: operands of products
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
  // progress(done, regions) hears how far the plan of a long evaluation is, between two of its
  // regions, every 5 ms at most, on the thread that evaluates. It must not call Plait, and what it
  // throws is lost: with_cancel() ends evaluations. nullptr: nobody hears.
  detail::Setting<detail::Callback<int, int>> progress;

  // These are read when the first array is made; afterwards they are a ValueError.
  detail::Setting<std::string> cache_directory;  // PLAIT_CACHE_DIR; empty: no cache on disk
  detail::Setting<std::string> cpu;  // PLAIT_CPU: "baseline", "avx2", "avx512"; at most what it has
  detail::Setting<bool> amx;         // PLAIT_AMX
  detail::Setting<bool> deterministic;        // PLAIT_DETERMINISTIC
  detail::Setting<std::string> blas_library;  // PLAIT_BLAS: a path
  detail::Setting<std::string> jit_library;   // PLAIT_JIT_LIBRARY: a path
  detail::Setting<std::string> trace;         // PLAIT_TRACE: a file to write
  // Blocks that are freed are kept for reuse all the same: pool_bytes = 0 keeps none.
  detail::Setting<plait::allocator> allocator;
};

/// Sets what is not left out. Call it while no other thread uses Plait. ValueError, with nothing
/// changed, for what cannot be had.
PLAIT_API void configure(const options& o);

}  // namespace plait
