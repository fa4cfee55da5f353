// Regions that come again, as the steps of a caller's loop do: the same operations of the same
// shapes and strides, over other nodes and at other offsets. What was found of the first holds for
// each of them, where every question about the numbers that was asked then has the same answer.
// Regions whose kernels are equal, buffer by buffer, are one class, which has a number: they differ
// in parameters alone.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fusion/trailing.hpp"
#include "lower.hpp"

namespace plait::fusion {

// The class of what equals nothing that is known.
constexpr std::int32_t kNoClass = -1;

struct FoundOfRegion {
  std::int32_t region_class = kNoClass;
  std::vector<StoreRequirement> needs;
  bool reads_elsewhere = false;  // an iteration what another stores to, of the old memory
  LoweredKernel lowered;
  std::optional<Trailing> trailing;
};

class EqualRegions {
 public:
  EqualRegions(const PlanGraph& g, Exprs& e)
      : g_(g),
        exprs_(e),
        seen_(g.nodes.size()),
        at_(g.nodes.size()),
        owner_seen_(g.nodes.size()),
        first_of_(g.nodes.size()),
        place_there_(g.nodes.size()) {}

  // Products and scatters depend on more than what they are made of.
  static bool may_keep(const RegionSpec& r) {
    return r.product < 0 && r.order != FoldOrder::ByIndex;
  }
  // What was found of an equal region, with this one's nodes; what that relies on is asked.
  // `beside`: what else is to be equal. Nothing: what is found of this region may be kept next,
  // when `facts` has been asked all that it follows from; its class is set then.
  std::optional<FoundOfRegion> find(const LoweringInput& in, const RegionSpec& region, int beside);
  void keep(FoundOfRegion& found, const Facts& facts);

 private:
  // Of a known one that others may equal: nodes are places among a region's, and expressions are
  // of these. What was found is over `numbers`, questions are over `asked_about`, which are
  // `of_graph` in the known region.
  struct General {
    Exprs numbers, asked_about;
    std::vector<ExprId> of_graph;
  };
  struct Known {
    std::vector<std::int32_t> nodes;
    FoundOfRegion found;
    std::vector<Answer> asked;
    std::unique_ptr<General> general;  // made when the first may equal it
  };
  void collect(const LoweringInput& in, const RegionSpec& region);
  void describe(const LoweringInput& in, const RegionSpec& region, int beside);
  void describe_node(const LoweringInput& in, std::int32_t i, bool root);
  void describe_memory(const LoweringInput& in, std::int32_t i);
  void describe_owner(const LoweringInput& in, std::int32_t i);
  std::int32_t place_of(std::int32_t node) const;
  bool generalise(Known& k);
  bool gives_the_same_answers(const Known& k);
  FoundOfRegion instance(const Known& k);
  Source here(Source s) const {
    s.node = nodes_[static_cast<std::size_t>(s.node)];
    return s;
  }

  void put(std::int64_t v) { key_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void put(const Dims& d) {
    put(d.size());
    key_.append(reinterpret_cast<const char*>(d.begin()),
                static_cast<std::size_t>(d.size()) * sizeof(std::int64_t));
  }

  void put(const Number& n, Number::Kind kind) { put(n.identity(kind)); }
  void put(const Numbers& all, Number::Kind kind) {
    put(all.size());
    for (const Number& n : all) put(n, kind);
  }

  const PlanGraph& g_;
  Exprs& exprs_;
  std::unordered_map<std::string, std::vector<Known>> known_;
  std::unordered_map<std::string, std::int32_t> class_of_;  // by kernels
  // Of the region at hand.
  std::vector<std::int32_t> nodes_;
  std::string key_;
  std::vector<int> seen_;         // in which walk
  std::vector<std::int32_t> at_;  // of a node of it: its place among them
  std::vector<int> owner_seen_;
  std::vector<std::int32_t> first_of_;  // of memory: the first that has it
  int walk_ = 0;
  // Of the known one that is looked at: its places by nodes, and what its expressions become.
  std::vector<std::pair<int, std::int32_t>> place_there_;
  std::vector<std::pair<int, ExprId>> renamed_;
  int renaming_ = 0;
  std::vector<ExprId> there_;
  std::vector<std::int64_t> values_;
};

}  // namespace plait::fusion
