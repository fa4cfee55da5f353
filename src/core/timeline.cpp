#include "timeline.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "at_fork.hpp"
#include "buffer.hpp"
#include "config.hpp"
#include "event_sums.hpp"
#include "json.hpp"
#include "os/threads.hpp"
#include "thread_profile.hpp"
#include "trace_writer.hpp"

namespace plait::timeline {

namespace {

constexpr std::size_t kMostEvents = std::size_t{1} << 18;  // of a thread
constexpr std::string_view kEmpty = "{\"traceEvents\":[]}\n";

constexpr const char* kCategories[] = {"evaluation", "plan",   "compile",  "region",  "operation",
                                       "kernel",     "thread", "fallback", "transfer"};

struct Thread {
  std::mutex mutex;
  long id = 0;
  std::string name;
  std::deque<Event> events;
  EventSums sums;
  bool ended = false;
};

struct Trace {
  int file;
  std::string path;
  std::int64_t begin = -1;  // not started
  std::size_t dropped = 0;  // events, of all there were when it began
};

struct Profile {
  Sums before;                     // what there was when it began
  std::shared_ptr<Thread> thread;  // null: all
};

struct State {
  std::mutex mutex;
  std::vector<std::shared_ptr<Thread>> threads;
  std::map<int, Trace> traces;
  std::map<int, Profile> profiles;
  std::atomic<bool> traced{false}, profiled{false};  // who records
  int newest = 0, environments = -1;
  std::atomic<std::size_t> dropped{0}, live{0}, cached{0};
  State* parents = nullptr;  // of the process that forked this one: left as it was
};
// Never destroyed: threads may record while the process ends.
std::atomic<State*> current_state{nullptr};
State& state() { return *current_state.load(std::memory_order_acquire); }

thread_local Thread* mine = nullptr;
thread_local bool thread_ends = false;
struct Mine {
  std::shared_ptr<Thread> thread;
  ~Mine() {
    mine = nullptr;
    thread_ends = true;
    if (!thread) return;
    const std::lock_guard held(thread->mutex);
    thread->ended = true;
  }
};
thread_local Mine owned;
thread_local std::string own_name;
std::atomic<std::string (*)()> name_hook{nullptr};

// Throws std::bad_alloc. Null while the thread ends.
Thread* this_thread() {
  if (mine || thread_ends) return mine;
  auto made = std::make_shared<Thread>();
  made->id = os::thread_id();
  if (const auto hook = name_hook.load(); hook && own_name.empty()) own_name = hook();
  made->name = !own_name.empty() ? own_name : made->id == getpid() ? "main" : "thread";
  State& s = state();
  const std::lock_guard held(s.mutex);
  s.threads.push_back(made);
  owned.thread = made;
  return mine = made.get();
}

Sums sums_of(State& s, const Thread* one) {  // null: of all threads. The lock is held
  Sums all;
  for (const auto& t : s.threads) {
    if (one && t.get() != one) continue;
    const std::lock_guard held(t->mutex);
    t->sums.add_to(all);
  }
  return all;
}

void push(Event e) noexcept try {
  Thread* const t = this_thread();
  if (!t) return;
  const State& s = state();
  const std::lock_guard held(t->mutex);
  if (s.profiled.load(std::memory_order_relaxed)) t->sums.add(e);
  if (!s.traced.load(std::memory_order_relaxed)) return;
  if (t->events.size() >= kMostEvents) {
    t->events.pop_front();
    ++state().dropped;
  }
  t->events.push_back(std::move(e));
} catch (const std::bad_alloc&) {
  ++state().dropped;
}

void count_memory(bool always) noexcept {
  State& s = state();
  if (!s.traced.load(std::memory_order_relaxed)) return;
  const PoolStats p = pool_stats();
  const bool changed = (s.live.exchange(p.live_bytes) != p.live_bytes) |
                       (s.cached.exchange(p.cached_bytes) != p.cached_bytes);
  if (!changed && !always) return;
  Event e{};
  e.memory = true;
  e.start = e.end = now();
  e.live = p.live_bytes;
  e.cached = p.cached_bytes;
  push(std::move(e));
}

// The lock is held.
void set_recording(State& s) {
  const bool any = std::any_of(s.traces.begin(), s.traces.end(),
                               [](const auto& t) { return t.second.begin >= 0; });
  const bool profiled = !s.profiles.empty();
  s.traced.store(any, std::memory_order_relaxed);
  s.profiled.store(profiled, std::memory_order_relaxed);
  recording.store(any || profiled, std::memory_order_relaxed);
  for (const auto& t : s.threads) {
    const std::lock_guard held(t->mutex);
    if (!any) t->events = {};
    if (!profiled) t->sums = {};
  }
  if (any || profiled) return;
  std::erase_if(s.threads, [](const auto& t) { return t->ended; });
}

// The traces are the parent's, and so are the events; its locks may be taken.
void leave_to_parent(void*) {
  State* const s = current_state.load();
  for (const auto& [number, t] : s->traces) ::close(t.file);
  recording.store(false, std::memory_order_relaxed);
  mine = nullptr;
  new (&owned.thread) std::shared_ptr<Thread>;
  auto* fresh = new State;
  fresh->newest = s->newest;
  fresh->parents = s;
  current_state.store(fresh, std::memory_order_release);
}

SourceOf at_exit_source = nullptr;
std::string& children_path = *new std::string;  // read while the process ends, too

void finish_all() {
  State* const s = current_state.load();
  std::vector<int> open;
  {
    const std::lock_guard held(s->mutex);
    for (const auto& [number, t] : s->traces) open.push_back(number);
  }
  for (const int number : open) {
    std::string path;
    {
      const std::lock_guard held(s->mutex);
      path = s->traces.at(number).path;
    }
    if (!finish(number, at_exit_source))
      std::fprintf(stderr, "plait: %s is not complete: %s\n", path.c_str(), std::strerror(errno));
  }
}

void prepare() {
  static std::once_flag once;
  std::call_once(once, [] {
    current_state.store(new State, std::memory_order_release);
    (void)pool_stats();  // the pool is free again before what runs in a child gives memory back
    after_fork_in_child(leave_to_parent, nullptr);
    std::atexit(finish_all);
  });
}

}  // namespace

std::int64_t now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void name_thread(std::string name) noexcept { own_name = std::move(name); }

void set_thread_name_hook(std::string (*hook)()) { name_hook.store(hook); }

const char* name(Category c) { return kCategories[static_cast<std::size_t>(c)]; }

struct Span::Open {
  Event event;
};

void Span::begin(Category c) noexcept {
  if (!counts(c) && !state().traced.load(std::memory_order_relaxed)) return;
  open_ = new (std::nothrow) Open{};
  if (!open_) return;
  open_->event.category = c;
  if (state().profiled.load(std::memory_order_relaxed))
    open_->event.grown = -static_cast<std::int64_t>(pool_stats().live_bytes);
  open_->event.start = now();
}

void Span::end() noexcept {
  const Category c = open_->event.category;
  open_->event.end = now();
  if (open_->event.grown) open_->event.grown += static_cast<std::int64_t>(pool_stats().live_bytes);
  push(std::move(open_->event));
  delete open_;
  if (c == Category::Evaluation || c == Category::Region || c == Category::Operation)
    count_memory(false);
}

void Span::name(std::string_view text) noexcept try {
  if (open_) open_->event.name = text;
} catch (const std::bad_alloc&) {
}

void Span::sites(std::span<const std::uint32_t> ids) noexcept try {
  constexpr std::size_t kMost = 16;
  if (open_) open_->event.sites.assign(ids.begin(), ids.begin() + std::min(ids.size(), kMost));
} catch (const std::bad_alloc&) {
}

void Span::arg(const char* k, std::string_view text) noexcept try {
  if (!open_) return;
  std::string made = open_->event.args;
  json::begin_member(made, k);
  made += json::quoted(text);
  open_->event.args = std::move(made);
} catch (const std::bad_alloc&) {
}

void Span::arg(const char* k, std::int64_t number) noexcept try {
  if (!open_) return;
  std::string made = open_->event.args;
  json::begin_member(made, k);
  open_->event.args = made + std::to_string(number);
} catch (const std::bad_alloc&) {
}

void Span::bytes(std::int64_t moved) noexcept {
  if (open_) open_->event.bytes = moved;
}

void Span::elements(std::int64_t wanted) noexcept {
  if (open_) open_->event.elements = wanted;
}

void add(Category c, std::string_view name, std::int64_t start, std::uint32_t site) noexcept try {
  if (!on()) return;
  push({.category = c, .start = start, .end = now(), .name = std::string(name), .sites = {site}});
  if (c == Category::Operation) count_memory(false);
} catch (const std::bad_alloc&) {
}

int open(const std::string& path) {
  prepare();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  struct stat kind{};
  // Of what is no file, a pipe for example, nothing is taken back.
  const bool empty = ::fstat(file, &kind) == 0 && S_ISREG(kind.st_mode);
  if (empty && ::write(file, kEmpty.data(), kEmpty.size()) < 0) {
    const int why = errno;
    ::close(file);
    errno = why;
    return -1;
  }
  State& s = state();
  const std::lock_guard held(s.mutex);
  s.traces.emplace(++s.newest, Trace{file, path});
  return s.newest;
}

void start(int trace) {
  State& s = state();
  {
    const std::lock_guard held(s.mutex);
    const auto t = s.traces.find(trace);
    if (t == s.traces.end()) return;
    t->second.begin = now();
    t->second.dropped = s.dropped;
    set_recording(s);
  }
  count_memory(true);
}

bool finish(int number, SourceOf source) {
  if (on()) count_memory(true);
  State& s = state();
  Trace trace;
  std::vector<std::pair<std::shared_ptr<Thread>, std::vector<Event>>> found;
  {
    const std::lock_guard held(s.mutex);
    const auto t = s.traces.find(number);
    if (t == s.traces.end()) return true;
    trace = std::move(t->second);
    s.traces.erase(t);
    if (trace.begin >= 0)
      for (const auto& thread : s.threads) {
        const std::lock_guard its(thread->mutex);
        std::vector<Event>& events = found.emplace_back(thread, std::vector<Event>()).second;
        for (const Event& e : thread->events)
          if (e.end >= trace.begin) events.push_back(e);
      }
    trace.dropped = s.dropped - trace.dropped;
    set_recording(s);
  }
  int why = 0;
  const bool again = ::lseek(trace.file, 0, SEEK_SET) == 0 && ::ftruncate(trace.file, 0) == 0;
  if (again || errno == ESPIPE || errno == EINVAL) {
    TraceWriter out(trace.file, source);
    for (auto& [thread, events] : found) {
      if (events.empty()) continue;
      std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
      });
      out.name_thread(thread->id, thread->name);
      for (const Event& e : events) out.event(e, thread->id);
    }
    out.end(trace.dropped);
    why = out.error();
  } else {
    why = errno;
  }
  if (::close(trace.file) != 0 && !why) why = errno;
  errno = why;
  return why == 0;
}

namespace {
int profile_of(std::shared_ptr<Thread> one) {
  State& s = state();
  const std::lock_guard held(s.mutex);
  s.profiles.emplace(++s.newest, Profile{sums_of(s, one.get()), one});
  set_recording(s);
  return s.newest;
}
}  // namespace

int profile() {
  prepare();
  return profile_of(nullptr);
}

int profile_this_thread() {
  prepare();
  (void)this_thread();  // which has its place from now on
  return profile_of(owned.thread);
}

std::vector<SumWithMemory> finish_profile_with_memory(int number) {
  if (!current_state.load()) return {};
  State& s = state();
  const std::lock_guard held(s.mutex);
  const auto found = s.profiles.find(number);
  if (found == s.profiles.end()) return {};
  const Profile p = std::move(found->second);
  std::vector<SumWithMemory> made;
  for (const auto& [key, a] : sums_of(s, p.thread.get())) {
    const auto was = p.before.find(key);
    const Added old = was == p.before.end() ? Added{} : was->second;
    if (a.count == old.count) continue;
    const auto& [category, site, name] = key;
    made.push_back({{category, site, name, a.count - old.count, a.nanoseconds - old.nanoseconds,
                     a.bytes - old.bytes, a.elements - old.elements},
                    a.grown - old.grown});
  }
  s.profiles.erase(found);
  set_recording(s);
  return made;
}

std::vector<Sum> finish_profile(int number) {
  const std::vector<SumWithMemory> sums = finish_profile_with_memory(number);
  return {sums.begin(), sums.end()};
}

std::string environment_of_children() { return children_path; }

void start_from_settings(SourceOf source) {
  const std::string& given = config().trace_file;
  if (given.empty()) return;
  std::string path = given;
  const std::string process = std::to_string(getpid());
  for (std::size_t at = 0; (at = path.find("%p", at)) != path.npos; at += process.size())
    path.replace(at, 2, process);
  children_path = given;
  if (path == given) {
    const std::filesystem::path name(given);
    // A device, or a pipe, is everybody's.
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored) || std::filesystem::is_regular_file(name, ignored))
      children_path =
          std::filesystem::path(name)
              .replace_filename(name.stem().string() + ".%p" + name.extension().string())
              .string();
    ::setenv("PLAIT_TRACE", children_path.c_str(), 1);
  }
  at_exit_source = source;
  const int trace = open(path);
  if (trace < 0) {
    std::fprintf(stderr, "plait: PLAIT_TRACE: '%s' cannot be written: %s\n", path.c_str(),
                 std::strerror(errno));
    return;
  }
  state().environments = trace;
  start(trace);
}

void finish_environments(SourceOf source) {
  if (!current_state.load() || state().environments < 0) return;
  const int trace = std::exchange(state().environments, -1);
  if (!finish(trace, source))
    std::fprintf(stderr, "plait: PLAIT_TRACE: the file is not complete: %s\n",
                 std::strerror(errno));
}

}  // namespace plait::timeline
