// What is computed more often than it has elements, and whether keeping it in memory is cheaper.
#pragma once
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "values.hpp"

namespace plait::fusion {

class NodeCosts {
 public:
  explicit NodeCosts(const LoweringInput& in) : in_(in) {}
  // Operations to compute one element; what is broadcast or reduced counts by its number of
  // elements. A value or a load that is used twice counts once, as the loop computes it once.
  double of(std::int32_t id);

 private:
  double of(std::int32_t id, std::set<std::int32_t>& counted, int depth) const;

  const LoweringInput& in_;
  std::unordered_map<std::int32_t, double> costs_;
};

// Of a survey: elementwise nodes computed more often than they have elements, when that costs more
// than a trip through memory.
class Recomputation : NestPart {
 public:
  Recomputation(Nest& nest, Values& values, const RegionSpec& region, NodeCosts& costs)
      : NestPart(nest), values_(values), region_(region), costs_(costs) {}

  // A node is computed at the index. False when it has to be in memory, because the region grows
  // by it.
  bool note(std::int32_t id, const Index& idx);
  // Once all of the region is computed.
  void check();

 private:
  // Where a node is computed: how often altogether, loops side by side over one range counted once.
  struct Emissions {
    std::set<std::vector<std::int64_t>> ranges;
    double computed = 0;
  };
  bool stored_cheaper(std::int32_t id, const Emissions& e) const;
  std::vector<std::int64_t> range_of(const Index& idx) const;

  Values& values_;
  const RegionSpec& region_;
  NodeCosts& costs_;
  std::map<std::int32_t, Emissions> emissions_;
};

}  // namespace plait::fusion
