#include <atomic>
#include <cstdio>

#include "config.hpp"
#include "log_topic.hpp"

namespace plait {

std::string_view topic(Log what) {
  switch (what) {
    case Log::Fusion:
      return "fusion";
    case Log::Code:
      return "code";
    case Log::Compile:
      return "compile";
    case Log::Cache:
      return "cache";
    case Log::Fallback:
      return "fallback";
    case Log::Transfer:
      return "transfer";
    case Log::Loops:
      return "loops";
    case Log::Program:
      return "program";
  }
  return "log";
}

namespace {

// One call a line, so that lines of several threads do not mix.
void to_stderr(Log what, std::string_view text) {
  const std::string_view w = topic(what);
  std::fprintf(stderr, "plait[%.*s] %.*s\n", static_cast<int>(w.size()), w.data(),
               static_cast<int>(text.size()), text.data());
}

std::atomic<void (*)(Log, std::string_view)> sink{to_stderr};

}  // namespace

void log(Log what, std::string_view text) { sink.load(std::memory_order_relaxed)(what, text); }
void set_log_sink(void (*s)(Log, std::string_view)) { sink.store(s ? s : to_stderr); }

}  // namespace plait
