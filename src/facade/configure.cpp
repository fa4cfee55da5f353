#include "plait/configure.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "box.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "core/log_topic.hpp"
#include "core/settings.hpp"
#include "engine/engine.hpp"
#include "engine/threads/lent_threads.hpp"

namespace plait {

namespace {

using Sink = detail::Callback<const std::string&, const std::string&>;

struct SharedSink {
  std::mutex mutex;
  std::shared_ptr<const Sink> function;
};
SharedSink& shared_sink() {
  static auto& s = *new SharedSink;  // threads in the background may log until the process ends
  return s;
}

void to_application(Log what, std::string_view text) {
  std::shared_ptr<const Sink> f;
  {
    const std::lock_guard held(shared_sink().mutex);
    f = shared_sink().function;
  }
  try {
    if (f) (*f)(std::string(topic(what)), std::string(text));
  } catch (...) {
  }
}

unsigned topics_of(const std::string& list) {
  unsigned topics = 0;
  if (!parse_topics(list, topics))
    throw ValueError("configure: log_topics may be " + topics_text(~0U) + ",all or off, not '" +
                     list + "'");
  return topics;
}

CpuTier tier_of(const std::string& name) {
  std::string names;
  for (const CpuTier t : kTiers) {
    if (name == info(t).name) return t;
    names += (names.empty() ? "" : ", ") + std::string(info(t).name);
  }
  throw ValueError("configure: cpu may be " + names + ", not '" + name + "'");
}

void check_first_array(const options& o) {
  const auto check = [](bool given, const char* what) {
    if (given)
      throw ValueError("configure: " + std::string(what) +
                       " is chosen before the first array is made");
  };
  // Programs of plait_run.h have memory, too.
  check(o.allocator && (detail::started() || took_blocks()), "the allocator");
  if (!detail::started()) return;
  check(bool(o.cache_directory), "the cache directory");
  check(bool(o.cpu), "cpu");
  check(bool(o.amx), "amx");
  check(bool(o.deterministic), "deterministic");
  check(bool(o.blas_library), "blas_library");
  check(bool(o.jit_library), "jit_library");
  check(bool(o.trace), "trace");
}

template <class T>
void set(T& setting, const detail::Setting<T>& to) {
  if (to) setting = *to;
}

void take_memory_from(const allocator& a) {
  static auto& kept = *new allocator;  // blocks outlive every static
  kept = a;
  if (!a.allocate) return set_block_source({});
  set_block_source({&kept,
                    [](void* context, std::size_t bytes, std::size_t alignment) -> void* {
                      void* memory = nullptr;
                      try {
                        static_cast<const allocator*>(context)->allocate(bytes, alignment, &memory);
                      } catch (...) {
                        return nullptr;
                      }
                      return memory;
                    },
                    [](void* context, void* block, std::size_t bytes) {
                      try {
                        static_cast<const allocator*>(context)->free(block, bytes);
                      } catch (...) {
                      }
                    }});
}

}  // namespace

void configure(const options& o) {
  static_assert(static_cast<int>(jit_mode::blocking) == static_cast<int>(JitMode::Blocking));
  static_assert(static_cast<int>(plan_mode::always) == static_cast<int>(PlanMode::Always));
  if (o.threads && *o.threads < 1)
    throw ValueError("configure: the number of threads must be at least 1, not " +
                     std::to_string(*o.threads));
  if (o.eager_limit && *o.eager_limit < 0)
    throw ValueError("configure: eager_limit must be at least 0, not " +
                     std::to_string(*o.eager_limit));
  check_first_array(o);
  const CpuTier tier = o.cpu ? tier_of(*o.cpu) : config().tier;
  const unsigned topics = o.log_topics ? topics_of(*o.log_topics) : config().log;

  config().log = topics;
  if (o.jit) config().jit = static_cast<JitMode>(*o.jit);
  if (o.plan) config().plan = static_cast<PlanMode>(*o.plan);
  set(config().cache_dir, o.cache_directory);
  set(config().cache_limit, o.cache_bytes);
  set(config().code_limit, o.code_bytes);
  set(config().packed_limit, o.packed_bytes);
  set(config().eager_limit, o.eager_limit);
  set(config().check_compiled, o.check_compiled);
  set(config().amx, o.amx);
  set(config().deterministic, o.deterministic);
  set(config().blas_library, o.blas_library);
  set(config().jit_library, o.jit_library);
  set(config().trace_file, o.trace);
  if (o.cpu) config().tier = tier;
  engine::settings_changed();
  if (o.allocator) take_memory_from(*o.allocator);
  if (o.pool_bytes) set_pool_limit(*o.pool_bytes);
  if (o.threads) engine::set_num_threads(*o.threads);
  if (o.executor) engine::lend_threads(*o.executor);
  if (o.progress) engine::set_progress(*o.progress);
  if (o.log) {
    const std::lock_guard held(shared_sink().mutex);
    shared_sink().function = *o.log ? std::make_shared<const Sink>(*o.log) : nullptr;
    set_log_sink(*o.log ? to_application : nullptr);
  }
}

}  // namespace plait
