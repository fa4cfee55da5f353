#include "expiring.hpp"

namespace plait::tracer {

namespace {
thread_local constinit const Expiring* innermost = nullptr;
}

Expiring::Expiring(const Storage& s) : storage_(s), outer_(innermost) { innermost = this; }
Expiring::~Expiring() { innermost = outer_; }

bool is_expiring(const Node& n) {
  for (const Expiring* e = innermost; e; e = e->outer_)
    if (e->storage_.version.get() == &n) return true;
  return false;
}

}  // namespace plait::tracer
