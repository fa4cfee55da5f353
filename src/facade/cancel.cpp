#include "plait/cancel.hpp"

#include "engine/threads/cancellation.hpp"

namespace plait::detail {

struct CancelScope::Inside {
  engine::CancelScope scope;
};

CancelScope::CancelScope(const cancel_token& t)
    : inside_(new Inside{engine::CancelScope(*t.get())}) {}
CancelScope::~CancelScope() { delete inside_; }

}  // namespace plait::detail
