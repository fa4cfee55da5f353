// A rule looks at a candidate and offers others, each with its reason and with what both cost. It
// lowers nothing and decides nothing: the cheaper way is taken, and where the figures leave it open
// both are followed to their end (search.hpp). Adding one: a file in fusion/rules, a line in
// rules.cpp.
#pragma once
#include <span>

#include "candidate.hpp"

namespace plait::fusion {

// What the nodes that are concerned cost either way: seconds of one thread.
struct Costs {
  double as_is, instead;
};

// Some decisions that are taken together, and those costs.
struct Offer {
  std::initializer_list<Edit> edits;  // the first has the reason
  double as_is, instead;
  double common = 0;  // of both: the same either way
};

class Offers {
 public:
  // Whether the candidate is now as offered.
  virtual bool make(const Offer& o) = 0;
  // An offer that no estimate may decide: bits follow from it, or the graph was asked exactly and
  // its answer is that this way costs less. It is taken; the costs say what that is worth, and are
  // found unasked (PlanGraph::unasked).
  virtual bool make_exact(const Edit& e, const Costs& c) = 0;
  // How the search begins: once all of the candidate is known, an offer has the other way.
  virtual void begin_with(const Edit& e) = 0;
  // What makes the candidate legal: as it is, no step computes it. There is no other way.
  virtual void require(const Edit& e) = 0;
  // What has been offered, and what the candidate is no plan with: all is searched again without.
  virtual void withdraw(const Edit& e) = 0;

 protected:
  ~Offers() = default;
};

// One bit a kind of node.
inline constexpr unsigned of_kind(tracer::NodeKind k) { return 1u << static_cast<int>(k); }

// Without state: one object serves every plan, on any thread. Looks at the candidate in one of
// four states.
class Rule {
 public:
  // `visits`: kinds of nodes that visit() is called for.
  explicit Rule(unsigned visits = 0) : visits_(visits) {}
  virtual ~Rule() = default;
  unsigned visits() const { return visits_; }

  // Nothing has its place.
  virtual void begin(const Candidate&, Offers&) const {}
  // What is in front of this node has its place; `node` is no leaf.
  virtual void visit(const Candidate&, std::int32_t /*node*/, Offers&) const {}
  // Every node has its place.
  virtual void revise(const Candidate&, Offers&) const {}
  // Which regions compute what is known; called again as long as something changes.
  virtual void revise_regions(const Candidate&, std::span<const Step>, Offers&) const {}

 private:
  const unsigned visits_;
};

}  // namespace plait::fusion
