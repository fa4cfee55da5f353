// A candidate for the plan of a graph, as a value: a placement of every node (placement.hpp): in
// memory (a root) or computed where it is read, how, and which roots may share a region. Copied and
// edited; nothing is lowered before one is chosen.
#pragma once
#include <array>
#include <memory>
#include <utility>

#include "../plan.hpp"
#include "attention.hpp"
#include "placement.hpp"
#include "problem.hpp"
#include "read_modes.hpp"

namespace plait::fusion {

// One decision. `why` is for explain().
struct Edit {
  enum Kind : std::uint8_t {
    Store,         // in memory; what equals it is read from there
    StoreThis,     // this very node, even if an equal one has memory: it will be written to, or
                   // handed out
    StoreOperand,  // the node, or what it is a view of, as a library call reads it
    Cut,           // a long reduction is cut into chunks, which are joined
    Call,          // a library call, its operands in memory
    Multiply,      // a product in blocks, by a region with what reads it
    Attend,        // a product and what its first operand is made of, in blocks of that
    Scan,          // a call that is a fold of a region's loops
    Scatter,       // a call that combines by index, by a region
  } kind;
  std::int32_t node;
  const char* why;
};

class Candidate {
 public:
  // Nothing is in memory but leaves.
  explicit Candidate(const Problem& p);

  // False when it was so already.
  bool apply(const Edit& e);
  bool add_root(std::int32_t node, const char* why) { return apply({Edit::Store, node, why}); }
  bool add_own_root(std::int32_t node, const char* why) {
    return apply({Edit::StoreThis, node, why});
  }
  // The root is computed where it is read again.
  void remove_root(std::int32_t node);
  // Leaves a root among those that walk their operands alike; if it was, and found others there all
  // the same, alone.
  void separate(std::int32_t node, bool one_walk);

  const Problem& problem() const { return *problem_; }
  const Placement& at(std::int32_t n) const { return placed_[n]; }
  bool is_root(std::int32_t n) const { return placed_[n].stored; }
  std::vector<bool> roots() const;
  // Not in memory, nor is what equals it.
  bool inlined(std::int32_t n) const { return !g_[n].leaf && !is_root(canon_[n]); }
  // By a library call, or an operation of the reference evaluator.
  bool direct(std::int32_t node) const {
    const Placement& p = placed_[node];
    return p.how == How::Call || (p.how == How::Library && p.with < 0);
  }
  // A product in blocks of its own.
  bool multiplies(std::int32_t node) const {
    const Placement& p = placed_[node];
    return p.how == How::Fragment && p.with < 0;
  }
  // Whether a fold of any region goes so.
  bool any(FoldOrder order) const { return folds_[static_cast<std::size_t>(order)] > 0; }
  bool share_loop(std::int32_t a, std::int32_t b) const { return group_key(a) == group_key(b); }
  // What a library call takes an operand from: a view as it lies in memory that is there anyway, or
  // is not larger.
  std::int32_t operand_memory(std::int32_t node) const;
  // Of what a node is made of, down to what is in memory.
  Number leaf_bytes(std::int32_t node) const;

  // The steps that compute the roots, in an order that respects every dependency (regions.cpp).
  std::vector<Step> regions() const;
  // Why each root is in memory.
  const std::vector<Note>& notes() const { return notes_; }

  // How what reads the node finds its elements (read_modes.hpp): found when it is first asked for,
  // before anything is in memory. A write that is stored is read whole.
  ReadMode read_mode(std::int32_t node) const;

  // The attention in whose blocks the node is computed, by its second product; -1: none.
  std::int32_t attention_of(std::int32_t node) const {
    const Placement& p = placed_[canon_[node]];
    return p.how == How::Library ? -1 : p.with;
  }
  // That the product is the second of; none: nullptr.
  const Attention* attention(std::int32_t product) const {
    return at(product).order == FoldOrder::Rescaled ? problem_->attention(product).get() : nullptr;
  }
  // Computed with the node, which is a sum, by a library call.
  Epilogue epilogue(std::int32_t node) const {
    const Epilogue& e = problem_->epilogues[node];
    return e && has_epilogue(e.product) ? e : Epilogue{};
  }
  Number elements(std::int32_t node) const { return g_[node].node->elements; }

 private:
  bool store(std::int32_t node, const char* why);
  std::vector<std::int32_t> reached_roots(std::int32_t node) const;
  std::vector<std::int32_t> roots_in_order() const;
  bool same_index_only(std::int32_t node, const std::vector<std::int32_t>& roots) const;
  std::vector<std::int64_t> group_key(std::int32_t node) const;
  int scanned_axis(std::int32_t node) const;
  std::int32_t cut_like(std::int32_t scatter) const;
  void attend(std::int32_t product);
  // By a library call with the sum that it is read by.
  bool has_epilogue(std::int32_t product) const {
    return at(product).how == How::Library && at(product).with >= 0;
  }
  void fold(std::int32_t node, FoldOrder order);
  void multiply(std::int32_t product, std::int32_t with);
  // Products whose rows the value of `node` follows from, on the way to what is in memory: those
  // that are not, and one that is.
  struct Products {
    std::vector<std::int32_t> computed;
    std::int32_t stored = -1;
  };
  Products products_of(std::int32_t node) const;

  const Problem* problem_;
  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  std::vector<Placement> placed_;
  std::array<int, kFoldOrders> folds_{};  // of each FoldOrder: so many
  // Null: not asked for yet. Shared with copies.
  mutable std::shared_ptr<const std::vector<ReadMode>> modes_;
  std::vector<Note> notes_;
  mutable std::vector<int> seen_;  // of each node: the last walk that came by
  mutable int walk_ = 0;
};

}  // namespace plait::fusion
