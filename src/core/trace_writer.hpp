// Writes a trace's events to its file, in Chrome's trace event format.
#pragma once
#include <map>

#include "timeline_event.hpp"

namespace plait::timeline {

class TraceWriter {
 public:
  TraceWriter(int file, SourceOf source);
  void name_thread(long thread, std::string_view name) { metadata("thread_name", thread, name); }
  void event(const Event& e, long thread);
  void end(std::size_t dropped);
  int error() const { return error_; }  // errno of the first write that failed; 0: none did

 private:
  void metadata(const char* what, long thread, std::string_view name);
  void memory(const Event& e, long thread);
  void begin(char phase, std::string_view name, long thread);
  std::string source_lines(const Event& e);
  const Source& source_of(std::uint32_t site);
  void flush();

  const int file_;
  const SourceOf source_;
  const long process_;
  std::string out_;
  std::map<std::uint32_t, Source> sources_;
  bool any_ = false;
  int error_ = 0;
};

}  // namespace plait::timeline
