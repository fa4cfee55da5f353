#include "cancellation.hpp"

#include <mutex>

namespace plait::engine {
namespace {

constinit std::mutex mutex;  // guards the list, and that a scope that begins misses no token
CancelScope* first = nullptr;
thread_local CancelScope* innermost = nullptr;

}  // namespace
}  // namespace plait::engine

void plait_token::cancel() noexcept {
  using namespace plait::engine;
  const std::lock_guard held(mutex);
  cancelled_ = true;
  for (CancelScope* s = first; s; s = s->next_)
    for (const CancelScope* o = s; o; o = o->outer_)
      if (o->token_.get() == this) s->flag_ = true;
}

namespace plait::engine {

CancelScope::CancelScope(plait_token& t) noexcept : token_(&t), outer_(innermost), by_(flag_) {
  const std::lock_guard held(mutex);
  next_ = first;
  if (next_) next_->before_ = this;
  innermost = first = this;
  flag_ = t.cancelled() || (outer_ && outer_->flag_);
}

CancelScope::~CancelScope() {
  const std::lock_guard held(mutex);
  (before_ ? before_->next_ : first) = next_;
  if (next_) next_->before_ = before_;
  innermost = outer_;
}

}  // namespace plait::engine
