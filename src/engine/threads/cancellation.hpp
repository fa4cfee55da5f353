// Evaluations that another thread ends: what plait_token of plait_run.h and plait::cancel_token
// are, and the scopes whose evaluations they end.
#pragma once
#include <atomic>

#include "core/ref.hpp"
#include "interruption.hpp"

// It stays cancelled.
struct plait_token : plait::RefCounted {
 public:
  void cancel() noexcept;  // from any thread
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  static void destroy(plait_token* t) { delete t; }

 private:
  std::atomic<bool> cancelled_{false};
};

namespace plait::engine {

// While one lives, its thread's evaluations end when its token, or that of one around it, is
// cancelled.
class CancelScope {
 public:
  explicit CancelScope(plait_token& t) noexcept;
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  friend plait_token;
  const Ref<plait_token> token_;
  CancelScope* const outer_;
  CancelScope *before_ = nullptr, *next_;  // of all that live
  std::atomic<bool> flag_{false};          // kernels look at that of the innermost
  const EndedBy by_;
};

}  // namespace plait::engine
