// Candidates whose regions can be lowered: each is asked what it needs, in the order in which they
// run, and the candidate is edited until nothing is missing. Nothing is lowered for it.
#pragma once
#include "fusion/lower/equal_regions.hpp"
#include "memory.hpp"
#include "search.hpp"

namespace plait::fusion {

class Legalizer {
 public:
  Legalizer(const Problem& p, Exprs& exprs, Memory& memory, const std::vector<bool>& non_negative,
            Reuse reuse)
      : p_(p),
        g_(p.graph),
        exprs_(exprs),
        memory_(memory),
        non_negative_(non_negative),
        reuse_(reuse),
        facts_(p.graph, exprs),
        known_(p.graph, exprs),
        seen_(p.graph.nodes.size()) {}

  // The regions, each with where it writes to and what that relies on.
  std::vector<Step> run(Search& search);
  // Of such regions, all together: one thread, but those that have one anyway cost double.
  double seconds(const std::vector<Step>& steps, const Candidate& c);
  int surveys() const { return surveys_; }

 private:
  LoweringInput input(const Candidate& c);
  bool ask(Step& s, Search& search);
  FoundOfRegion look(const RegionSpec& region, const Candidate& c, bool takes_over);
  bool provide(const std::vector<StoreRequirement>& needs, Step& s, Search& search);
  void call_library(std::int32_t product, Search& search);
  bool reads_missing(const RegionSpec& region);
  // Those that no other region loads: where what reads them came to be stored itself, in the same
  // loop. Each goes once.
  bool remove_unread(const std::vector<Step>& steps, Candidate& c);
  UpdateMode update_mode(const FoundOfRegion& found, std::int32_t update, bool takes_over);
  bool reads_elsewhere(const LoweredKernel& walked, std::int32_t old, std::int32_t update);

  const Problem& p_;
  const PlanGraph& g_;
  Exprs& exprs_;
  Memory& memory_;
  const std::vector<bool>& non_negative_;
  const Reuse reuse_;
  Facts facts_;
  EqualRegions known_;
  int surveys_ = 0;
  std::vector<bool> missing_;  // nodes that were found to be, this time
  bool any_missing_ = false;
  std::vector<bool> removed_;  // nodes that no region loaded
  std::vector<int> seen_;      // in which walk
  int walk_ = 0;
};

}  // namespace plait::fusion
