// What a timeline records.
#pragma once
#include "timeline.hpp"

namespace plait::timeline {

struct Event {
  Category category;
  bool memory = false;  // bytes in the pool, instead of anything else
  std::int64_t start, end;
  std::string name, args;
  std::vector<std::uint32_t> sites;
  std::int64_t bytes = -1, elements = -1;  // not said
  std::size_t live = 0, cached = 0;
  std::int64_t grown = 0;
};

}  // namespace plait::timeline
