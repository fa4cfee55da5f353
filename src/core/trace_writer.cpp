#include "trace_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "json.hpp"

namespace plait::timeline {
namespace {

std::string microseconds(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                static_cast<int>(ns % 1000));
  return text;
}

}  // namespace

TraceWriter::TraceWriter(int file, SourceOf source)
    : file_(file), source_(source), process_(getpid()) {
  out_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  metadata("process_name", process_, "plait");
}

void TraceWriter::metadata(const char* what, long thread, std::string_view name) {
  begin('M', what, thread);
  out_ += ",\"args\":{\"name\":" + json::quoted(name) + "}}";
}

void TraceWriter::memory(const Event& e, long thread) {
  begin('C', "memory", thread);
  out_ += ",\"ts\":" + microseconds(e.start) +
          ",\"args\":{\"live bytes\":" + std::to_string(e.live) +
          ",\"kept for reuse\":" + std::to_string(e.cached) + "}}";
}

void TraceWriter::event(const Event& e, long thread) {
  if (e.memory) return memory(e, thread);
  const Source* const first = e.sites.empty() ? nullptr : &source_of(e.sites[0]);
  const bool named = first && !first->name.empty() &&
                     (e.category == Category::Region || e.category == Category::Operation);
  begin('X', named ? first->name + ": " + e.name : e.name, thread);
  std::string args = e.args;
  const auto number = [&args](const char* name, std::int64_t n) {
    if (n < 0) return;
    json::begin_member(args, name);
    args += std::to_string(n);
  };
  number("bytes", e.bytes);
  number("elements", e.elements);
  if (const std::string lines = source_lines(e); !lines.empty()) {
    json::begin_member(args, "at");
    args += json::quoted(lines);
  }
  out_ += ",\"cat\":\"";
  out_ += timeline::name(e.category);
  out_ += "\",\"ts\":" + microseconds(e.start) + ",\"dur\":" + microseconds(e.end - e.start) +
          ",\"args\":{" + args + "}}";
  if (out_.size() > (1 << 20)) flush();
}

void TraceWriter::end(std::size_t dropped) {
  out_ += "\n],\"otherData\":{\"dropped events\":" + std::to_string(dropped) + "}}\n";
  flush();
}

void TraceWriter::begin(char phase, std::string_view name, long thread) {
  out_ += std::exchange(any_, true) ? ",\n" : "\n";
  out_ += "{\"ph\":\"";
  out_ += phase;
  out_ += "\",\"name\":" + json::quoted(name) + ",\"pid\":" + std::to_string(process_) +
          ",\"tid\":" + std::to_string(thread);
}

// What is known of the event's call sites, each line once.
std::string TraceWriter::source_lines(const Event& e) {
  std::vector<std::string> lines;
  for (const std::uint32_t site : e.sites) {
    const Source& s = source_of(site);
    if (s.where.empty()) continue;
    std::string line = s.text.empty() ? s.where : s.where + ": " + s.text;
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return all;
}

const Source& TraceWriter::source_of(std::uint32_t site) {
  const auto [at, fresh] = sources_.try_emplace(site);
  if (fresh && site && source_) at->second = source_(site);
  return at->second;
}

void TraceWriter::flush() {
  for (std::size_t at = 0; at < out_.size() && !error_;) {
    const ssize_t n = ::write(file_, out_.data() + at, out_.size() - at);
    if (n >= 0)
      at += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      error_ = errno;
  }
  out_.clear();
}

}  // namespace plait::timeline
