// What events add up to by category and call site.
#pragma once
#include <map>
#include <tuple>

#include "timeline_event.hpp"

namespace plait::timeline {

// A profile's time is that of the thread that asked; these say how a region was run.
constexpr bool counts(Category c) { return c != Category::Kernel && c != Category::Thread; }

using SumKey = std::tuple<Category, std::uint32_t, std::string>;
struct Added {
  std::int64_t count = 0, nanoseconds = 0, bytes = 0, elements = 0, grown = 0;
  void operator+=(const Added& a) {
    count += a.count;
    nanoseconds += a.nanoseconds;
    bytes += a.bytes;
    elements += a.elements;
    grown += a.grown;
  }
};
using Sums = std::map<SumKey, Added>;

// The events of one thread. Each has its time without that of the events inside it, and the call
// site of the event around it where it has none of its own.
class EventSums {
 public:
  void add(const Event& e);
  void add_to(Sums& all) const;

 private:
  // An event that has ended, in nanoseconds. It may lie inside one that has not.
  struct Past {
    std::int64_t start, took, grown;
  };
  // What no call site is known of, until an event around it has one.
  struct Loose {
    std::int64_t start;
    Category category;
    Added sum;
  };
  void halve_past();

  Sums sums_;
  std::vector<Past> past_;
  std::vector<Loose> loose_;
};

}  // namespace plait::timeline
