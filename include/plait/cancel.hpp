// An end of evaluations that another thread asks for.
//
//   plait::cancel_token stop;                                  // stop.cancel() from any thread
//   plait::with_cancel(stop, [&] { return sum(x).item(); });   // throws plait::Cancelled
#pragma once
#include <utility>

#include "plait/error.hpp"

namespace plait {

namespace detail {
struct CancelState;
}  // namespace detail

/// Ends evaluations from another thread: see with_cancel(). Copies are one token, which stays
/// cancelled.
class PLAIT_API cancel_token {
 public:
  cancel_token();
  cancel_token(const cancel_token& o) noexcept;
  cancel_token& operator=(const cancel_token& o) noexcept {
    cancel_token copy(o);
    std::swap(state_, copy.state_);
    return *this;
  }
  ~cancel_token();
  /// From any thread.
  void cancel() const noexcept;
  /// Whether cancel() was called.
  bool cancelled() const noexcept;
  /// What copies share: the library's.
  detail::CancelState& state() const { return *state_; }

 private:
  detail::CancelState* state_;
};

namespace detail {
// While one lives, its thread's evaluations end when its token, or that of one around it, is
// cancelled.
class PLAIT_API CancelScope {
 public:
  explicit CancelScope(const cancel_token& t);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  struct Inside;
  Inside* inside_;
};
}  // namespace detail

/// f(). What it evaluates ends soon after t.cancel(), by plait::Cancelled: nothing is lost, arrays
/// keep their values and what is pending, and may be evaluated again. Writes to borrowed memory
/// that is given back meanwhile arrive all the same.
template <class F>
auto with_cancel(const cancel_token& t, F&& f) -> decltype(static_cast<F&&>(f)()) {
  const detail::CancelScope scope(t);
  return static_cast<F&&>(f)();
}

}  // namespace plait
