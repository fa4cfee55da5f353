#include "plait/configure.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "box.hpp"
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

}  // namespace

void configure(const options& o) {
  static_assert(static_cast<int>(jit_mode::blocking) == static_cast<int>(JitMode::Blocking));
  if (o.threads && *o.threads < 1)
    throw ValueError("configure: the number of threads must be at least 1, not " +
                     std::to_string(*o.threads));
  if (o.cache_directory && detail::started())
    throw ValueError("configure: the cache directory is chosen before the first array is made");
  const unsigned topics = o.log_topics ? topics_of(*o.log_topics) : config().log;

  config().log = topics;
  if (o.cache_directory) config().cache_dir = *o.cache_directory;
  if (o.cache_bytes) config().cache_limit = *o.cache_bytes;
  if (o.jit) config().jit = static_cast<JitMode>(*o.jit);
  if (o.check_compiled) config().check_compiled = *o.check_compiled;
  if (o.pool_bytes) set_pool_limit(*o.pool_bytes);
  if (o.threads) engine::set_num_threads(*o.threads);
  if (o.executor) engine::lend_threads(*o.executor);
  if (o.log) {
    const std::lock_guard held(shared_sink().mutex);
    shared_sink().function = *o.log ? std::make_shared<const Sink>(*o.log) : nullptr;
    set_log_sink(*o.log ? to_application : nullptr);
  }
}

}  // namespace plait
