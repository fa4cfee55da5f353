// Calls of a function that have been seen but are not kept: which of them to watch. Watching and
// planning cost more than a call that is not watched, so they wait for the same call to come again;
// where planning takes long, until the background has done it.
#pragma once
#include <memory>

#include "call_cache.hpp"
#include "plan_ahead.hpp"

namespace plait::engine {

template <class Key>
class SeenCalls {
 public:
  struct Seen {
    Key key;
    PlanAhead plan{};  // the watched call's, where it was to be made
  };

  // A call that is_it(key) finds, where it is to be watched; else null, and it has been seen, by
  // make_key().
  template <class IsIt, class MakeKey>
  std::shared_ptr<Seen> to_watch(IsIt&& is_it, MakeKey&& make_key) {
    const std::shared_ptr<Seen> s = seen_.find([&](const auto& seen) { return is_it(seen->key); });
    if (!s) seen_.add(std::make_shared<Seen>(Seen{make_key()}));
    return s && !s->plan.on_its_way() ? s : nullptr;
  }

  void forget(const std::shared_ptr<Seen>& s) { seen_.erase(s); }

 private:
  CallCache<std::shared_ptr<Seen>, kKeptCalls> seen_;
};

}  // namespace plait::engine
