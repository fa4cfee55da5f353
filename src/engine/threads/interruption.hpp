// Ctrl-C, or a flag of the application, in the middle of long work.
#pragma once
#include <atomic>

#include "engine/engine.hpp"
#include "ir/ir.hpp"

namespace plait::engine {

// The hook's flag, for a thread that can act on it, and whether to stop now that it is true. A
// handler may need the recorder's lock, which is free then.
const std::atomic<bool>* interrupt_flag();
bool stop_now();
bool interrupt_requested();  // both; looks at most every 50 ms

// While one of these lives, its thread does not hear of interrupts: what it does must not end half
// way.
class Uninterrupted {
 public:
  explicit Uninterrupted(bool on);
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  const bool on_;
};

// While one of these lives, what its thread evaluates ends when the flag is true. The hook is not
// asked meanwhile.
class EndedBy {
 public:
  explicit EndedBy(const std::atomic<bool>& flag);
  ~EndedBy();
  EndedBy(const EndedBy&) = delete;
  EndedBy& operator=(const EndedBy&) = delete;

 private:
  const std::atomic<bool>* const outer_;
};
// Throws Interrupted when that flag is true: for what is too short to look at flags by itself.
void end_if_asked();

// Of one parallel loop, whose caller acts on interrupts: the others stop when it has said so.
class Interruption {
 public:
  explicit Interruption(bool possible) : asked_(possible ? interrupt_flag() : nullptr) {}

  // What a kernel on a worker looks at. The caller's may be true though the loop goes on, see
  // asked().
  const std::atomic<bool>& flag(int worker) const {
    return worker != 0 ? stopped_ : asked_ ? *asked_ : ir::kNeverStopped;
  }
  // The caller: whether its kernel may have stopped.
  bool asked() const { return asked_ && asked_->load(std::memory_order_relaxed); }
  // Between two pieces of a worker. A handler may raise nothing: then the caller's answer is true.
  bool goes_on(int worker) {
    if (worker == 0 && asked()) stopped_ = stop_now();
    return !stopped();
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void end() const {  // after the loop
    if (stopped()) throw Interrupted("interrupted");
  }

 private:
  const std::atomic<bool>* asked_;
  std::atomic<bool> stopped_{false};
};

// While one of these lives, its thread asks the hook for the flag once: nobody sets another handler
// in the middle of an evaluation, but a handler.
class SameFlag {
 public:
  SameFlag();
  ~SameFlag();
  SameFlag(const SameFlag&) = delete;
  SameFlag& operator=(const SameFlag&) = delete;
};

// While one of these lives and is possible, look_around() in its thread throws Interrupted when it
// was asked for.
class InterruptScope {
 public:
  explicit InterruptScope(bool possible);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};
void look_around();

}  // namespace plait::engine
