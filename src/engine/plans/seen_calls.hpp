// Calls of a function that have been seen but are not kept: which of them to watch. Watching and
// planning cost more than a call that is not watched, so they wait for the same call to come again;
// where planning takes long, until the background has done it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

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
    const auto at = std::ranges::find_if(seen_, [&](const auto& s) { return is_it(s->key); });
    if (at == seen_.end()) {
      seen_.insert(seen_.begin(), std::make_shared<Seen>(Seen{make_key()}));
      if (seen_.size() > kMost) seen_.pop_back();
      return nullptr;
    }
    std::rotate(seen_.begin(), at, at + 1);
    const std::shared_ptr<Seen>& s = seen_.front();
    return s->plan.on_its_way() ? nullptr : s;
  }

  void forget(const std::shared_ptr<Seen>& s) { std::erase(seen_, s); }

 private:
  static constexpr std::size_t kMost = 32;
  std::vector<std::shared_ptr<Seen>> seen_;  // the last to come first
};

}  // namespace plait::engine
