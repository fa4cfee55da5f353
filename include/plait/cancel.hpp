// An end of evaluations that another thread asks for.
//
//   plait::cancel_token stop;                                  // stop.cancel() from any thread
//   plait::with_cancel(stop, [&] { return sum(x).item(); });   // throws plait::Cancelled
#pragma once
#include <new>
#include <utility>

#include "plait/error.hpp"
#include "plait_run.h"

namespace plait {

/// Ends evaluations from another thread: see with_cancel(), and calls of exported programs
/// (plait/load.hpp). Copies are one token, which stays cancelled.
class cancel_token {
 public:
  cancel_token() {
    if (plait_token_new(&token_)) throw std::bad_alloc();
  }
  cancel_token(const cancel_token& o) noexcept : token_(o.token_) { plait_token_share(token_); }
  cancel_token& operator=(const cancel_token& o) noexcept {
    cancel_token copy(o);
    std::swap(token_, copy.token_);
    return *this;
  }
  ~cancel_token() { plait_token_free(token_); }
  /// From any thread.
  void cancel() const noexcept { plait_cancel(token_); }
  /// Whether cancel() was called.
  bool cancelled() const noexcept { return plait_cancelled(token_) != 0; }
  /// The same token in C (plait_run.h), as long as a copy lives.
  plait_token* get() const noexcept { return token_; }

 private:
  plait_token* token_ = nullptr;
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
