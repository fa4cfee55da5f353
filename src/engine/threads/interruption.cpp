#include "interruption.hpp"

#include <chrono>
#include <optional>

#include "engine/direct/fp_flags.hpp"
#include "engine/plans/state.hpp"

namespace plait::engine {
namespace {

thread_local const std::atomic<bool>* in_scope = nullptr;
thread_local constinit const std::atomic<bool>* ended_by = nullptr;
thread_local int same_flag = 0;      // scopes
thread_local int uninterrupted = 0;  // scopes
thread_local std::optional<const std::atomic<bool>*> known_flag;

}  // namespace

void set_interrupt_hook(const InterruptHook& h) { state().interrupts = h; }

const std::atomic<bool>* interrupt_flag() {
  if (uninterrupted != 0) return nullptr;
  if (ended_by) return ended_by;
  const InterruptHook& hook = state().interrupts;
  if (!hook.flag) return nullptr;
  if (same_flag == 0) return hook.flag();
  if (!known_flag) known_flag = hook.flag();
  return *known_flag;
}
bool stop_now() {
  if (ended_by) return *ended_by;
  known_flag.reset();
  return state().interrupts.stop();
}

Uninterrupted::Uninterrupted(bool on) : on_(on) { uninterrupted += on; }
Uninterrupted::~Uninterrupted() { uninterrupted -= on_; }

EndedBy::EndedBy(const std::atomic<bool>& flag) : outer_(ended_by) { ended_by = &flag; }
EndedBy::~EndedBy() { ended_by = outer_; }

void end_if_asked() {
  if (ended_by && uninterrupted == 0 && ended_by->load(std::memory_order_relaxed))
    throw Interrupted("interrupted");
}

SameFlag::SameFlag() { ++same_flag; }
SameFlag::~SameFlag() {
  if (--same_flag == 0) known_flag.reset();
}

bool interrupt_requested() {
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point last;
  const auto now = Clock::now();
  if (now - last < std::chrono::milliseconds(50)) return false;
  last = now;
  const std::atomic<bool>* const asked = interrupt_flag();
  return asked && *asked && stop_now();
}

InterruptScope::InterruptScope(bool possible) : outer_(in_scope) {
  in_scope = possible ? interrupt_flag() : nullptr;
}
InterruptScope::~InterruptScope() { in_scope = outer_; }

void look_around() {
  if (!in_scope || !in_scope->load(std::memory_order_relaxed)) return;
  // What a handler computes raises no flags of the operation that it interrupts.
  const unsigned raised = raised_flags();
  const InterruptScope handler(false);
  if (stop_now()) throw Interrupted("interrupted");
  clear_flags();
  raise_flags(raised);
}

}  // namespace plait::engine
