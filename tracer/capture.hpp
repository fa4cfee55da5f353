// One call of a function whose recorded operations are to be run again without it: what it reads,
// and whether anything happened that a later run could not repeat. Nothing of this thread is
// computed at its call meanwhile, however small.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "array.hpp"
#include "core/config.hpp"

namespace plait::tracer {

class Capture {
 public:
  // Of this thread, until end(). The arrays are in memory. Where the call is made only to record
  // it, the first obstacle is thrown, a ValueError, and nothing is computed.
  explicit Capture(std::span<const Array> arguments, bool only_records = false);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void end();

  // The first reason why the operations cannot be run again; null: none. Empty: another call's may
  // be, as when another thread has computed meanwhile what was recorded.
  const char* obstacle() const;
  // The rest of the call is as one that is not watched.
  void obstruct(const char* why) {
    if (!obstacle_) obstacle_ = why;
    if (only_records_) throw ValueError(why);
    end();
  }
  // Where the call is made only to record it: what is to be true when it is run, in place of
  // looking at values now. The text is an IndexError's.
  struct Demand {
    Array holds;  // Bool, no axes
    std::string otherwise;
  };
  bool only_records() const { return only_records_; }
  void demand(Array holds, std::string otherwise) {
    demands_.push_back({std::move(holds), std::move(otherwise)});
  }
  const std::vector<Demand>& demands() const { return demands_; }

  // Arrays that are no arguments and were there before, by the node that was read. What was made
  // meanwhile has no storage here: its contents are a constant.
  const std::unordered_map<const Node*, Ref<Storage>>& others() const { return others_; }
  // Whether reads() was told of the node.
  bool knows(const Node& n) const { return held_.contains(&n); }

  // The node of all numbers that are the same: what is run again has them once, where a plan that
  // others share may not tell which numbers are equal. Null at first.
  Ref<Node>& scalar(const Scalar& s);

  // The recorder tells. Of the versions that are read; before a storage gets another version.
  void reads(const Storage& s);
  void writes(const Storage& s);

 private:
  bool is_argument(const Storage& s) const;
  bool was_there(const Storage& s) const {
    return static_cast<std::int32_t>(s.writes - began_) <= 0;
  }

  std::vector<Ref<Storage>> arguments_;
  // Versions of what is no argument. Nobody stores to them in place: later runs read them again.
  std::unordered_map<const Node*, Ref<Node>> held_;
  std::unordered_map<const Node*, Ref<Storage>> others_;
  std::map<std::pair<DType, std::array<std::byte, sizeof(Scalar::bytes)>>, Ref<Node>> scalars_;
  std::vector<Demand> demands_;
  const char* obstacle_ = nullptr;
  bool another_call_ = false;
  const bool only_records_;
  std::uint64_t evaluations_;
  std::uint32_t began_ = 0;
  bool ended_ = false;
};

namespace detail {
extern std::atomic<int> captures;  // of all threads
Capture* this_threads_capture();
}  // namespace detail
inline Capture* capture() {
  return detail::captures.load(std::memory_order_relaxed) == 0 ? nullptr
                                                               : detail::this_threads_capture();
}
inline void obstruct_capture(const char* why) {
  if (Capture* const c = capture()) [[unlikely]]
    c->obstruct(why);
}
// This thread's call that is made only to record it.
inline Capture* recording_alone() {
  Capture* const c = capture();
  return c && c->only_records() ? c : nullptr;
}
// Up to so many elements an operation on what is in memory is computed at its call.
inline std::int64_t eager_limit() { return capture() ? 0 : config().eager_limit; }

}  // namespace plait::tracer
