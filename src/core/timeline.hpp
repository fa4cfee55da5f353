// When what happened, on which thread: for PLAIT_TRACE and plait.trace, in Chrome's trace event
// format, which Perfetto and chrome://tracing open; and for plait.profile, added up by call site.
//
// Events wait in a bounded buffer of their thread, the oldest go first, while any trace is open. A
// trace has the events of all threads that end while it is open. A profile needs no buffer: events
// are added up as they end. Where nobody records, a Span is one load.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait::timeline {

inline std::atomic<bool> recording{false};
inline bool on() { return recording.load(std::memory_order_relaxed); }

enum class Category : std::uint8_t {
  Evaluation,
  Plan,
  Compile,
  Region,
  Operation,
  Kernel,
  Thread,
  Fallback,
  Transfer
};
const char* name(Category c);

// From its construction to its destruction, on this thread. What describes it is worked out by who
// asks first whether anybody wants it. Where memory is short, the event is left out.
class Span {
 public:
  explicit Span(Category c) noexcept {
    if (on()) [[unlikely]]
      begin(c);
  }
  ~Span() {
    if (open_) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  explicit operator bool() const { return open_ != nullptr; }

  void name(std::string_view text) noexcept;
  // Call sites in the program, see Source. The first one's name goes with the event's.
  void sites(std::span<const std::uint32_t> ids) noexcept;
  void site(std::uint32_t id) noexcept { sites({&id, 1}); }
  void arg(const char* key, std::string_view text) noexcept;
  void arg(const char* key, std::int64_t number) noexcept;
  // What a profile adds up, too.
  void bytes(std::int64_t moved) noexcept;
  void elements(std::int64_t wanted) noexcept;

 private:
  void begin(Category c) noexcept;
  void end() noexcept;

  struct Open;
  Open* open_ = nullptr;  // null: nobody records it
};

// For who has no scope: an event from `start`, of now(), to this moment.
std::int64_t now() noexcept;
void add(Category c, std::string_view name, std::int64_t start, std::uint32_t site) noexcept;

// What the thread that calls it is named in traces; the hook is asked for those that were not named
// when their first event ends.
void name_thread(std::string name) noexcept;
void set_thread_name_hook(std::string (*hook)());

// What is known of a call site; what is not is empty.
struct Source {
  std::string where;  // "file:line"
  std::string name;   // of the variable that gets the value there, or the expression
  std::string text;   // of the line
};
using SourceOf = Source (*)(std::uint32_t site);

// A trace is a file, which holds an empty trace until it is complete. Returns its number; -1:
// errno says why the file cannot be written.
int open(const std::string& path);
void start(int trace);
// Writes the file and closes it. False: errno says why not. A trace that is not open (any more: a
// child of fork() has none) is left alone.
bool finish(int trace, SourceOf source);

// What happened at a call site: the first one of an event, or of the event around it. Time is that
// of the events without what others inside them take, so that all sums together are what the thread
// spent.
struct Sum {
  Category category;
  std::uint32_t site;
  std::string name;  // of what NumPy computed
  std::int64_t count, nanoseconds, bytes, elements;
};
// From profile() on, of all threads. A profile that is not open (any more) has nothing.
int profile();
std::vector<Sum> finish_profile(int number);

// PLAIT_TRACE: from now to the end of the process, with %p in the file's name as the process's
// number. Programs that this one starts find %p in their environment, so that each has a file of
// its own. What goes wrong is a line on standard error. `source` must do without other locks.
void start_from_settings(SourceOf source);
// PLAIT_TRACE for programs that this one starts.
std::string environment_of_children();
// The same trace, before the end: its file is complete then.
void finish_environments(SourceOf source);

}  // namespace plait::timeline
