#include "plait/cancel.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "engine/threads/interruption.hpp"

namespace plait {

namespace detail {

struct CancelState {
  std::atomic<int> tokens{1};
  std::mutex mutex;
  bool cancelled = false;
  std::vector<std::atomic<bool>*> scopes;  // that end with it
};

namespace {
// Kernels look at one flag: that of the innermost scope, which each token around it raises.
class Raised {
 public:
  Raised(const cancel_token& t, std::atomic<bool>& flag) : token_(t), flag_(flag) {
    CancelState& s = t.state();
    const std::lock_guard held(s.mutex);
    s.scopes.push_back(&flag_);
    if (s.cancelled) flag_ = true;
  }
  ~Raised() {
    CancelState& s = token_.state();
    const std::lock_guard held(s.mutex);
    s.scopes.erase(std::find(s.scopes.begin(), s.scopes.end(), &flag_));
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  const cancel_token token_;
  std::atomic<bool>& flag_;
};
}  // namespace

struct CancelScope::Inside {
  explicit Inside(const cancel_token& t) : token(t), outer(innermost), by(flag) {
    for (const Inside* s = this; s; s = s->outer) raised.emplace_back(s->token, flag);
    innermost = this;
  }
  ~Inside() { innermost = outer; }

  const cancel_token token;
  Inside* const outer;
  std::atomic<bool> flag{false};
  std::deque<Raised> raised;
  const engine::EndedBy by;

  static thread_local Inside* innermost;
};
thread_local CancelScope::Inside* CancelScope::Inside::innermost = nullptr;

CancelScope::CancelScope(const cancel_token& t) : inside_(new Inside(t)) {}
CancelScope::~CancelScope() { delete inside_; }

}  // namespace detail

cancel_token::cancel_token() : state_(new detail::CancelState) {}
cancel_token::cancel_token(const cancel_token& o) noexcept : state_(o.state_) {
  state_->tokens.fetch_add(1, std::memory_order_relaxed);
}
cancel_token::~cancel_token() {
  if (state_->tokens.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state_;
}

void cancel_token::cancel() const noexcept {
  const std::lock_guard held(state_->mutex);
  state_->cancelled = true;
  for (std::atomic<bool>* flag : state_->scopes) *flag = true;
}
bool cancel_token::cancelled() const noexcept {
  const std::lock_guard held(state_->mutex);
  return state_->cancelled;
}

}  // namespace plait
