// A candidate for the plan of a graph, as a value: a placement of every node (placement.hpp): in
// memory (a root) or computed where it is read, how, and which roots may share a region. Copied and
// edited; nothing is lowered before one is chosen.
#pragma once
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "../plan.hpp"
#include "attention.hpp"
#include "placement.hpp"
#include "problem.hpp"

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
  bool attends(std::int32_t product) const { return at(product).order == Order::Rescaled; }
  // Whether a fold of any region goes so.
  bool any(Order order) const { return folds_[static_cast<std::size_t>(order)] > 0; }
  // Whether loops over elements read the node, and nothing else does.
  bool read_in_loops(std::int32_t node) const;
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

  // Products that are regions with what stands around them (products.cpp).
  void place_operands(std::int32_t product);
  void place_product_readers();
  // Whether a region of the product may compute `reader` from `value` in its blocks.
  bool in_blocks(std::int32_t reader, std::int32_t value, std::int32_t product) const;
  // Whether something stands before the product.
  bool computes_rows(std::int32_t product) const;
  // What it takes longer, in seconds, to compute the second operand where it is packed, for every
  // block of rows, than to compute it once; nothing where it is in memory, or where to store it is
  // less.
  std::optional<double> computes_columns(std::int32_t product) const;
  // Puts products in memory that several of these regions would compute; false when there are none.
  bool keep_products(const std::vector<Step>& steps);
  // A product that a region cannot compute is a library call; one that is the second of an
  // attention, a region of its own.
  void call_library(std::int32_t product);
  // Writes to part of an array that only an operand's packing reads: they need no memory.
  bool packs(std::int32_t update) const { return packed_[update]; }
  // The same of writes that only loops over elements read: any, and this one.
  bool pads() const { return pad_count_ > 0; }
  bool pads(std::int32_t update) const { return packed_[update] && padded_[update]; }
  // A matrix of patches, or matrices that are repeated, that only an operand's packing reads.
  bool unfolded(std::int32_t view) const { return unfolded_[view]; }
  // One that merges axes of what columns of a product are computed from, whose loops are over
  // those.
  bool read_by_digits(std::int32_t view) const { return digits_[view]; }
  // Bytes of those that the product reads.
  std::int64_t packed_bytes(std::int32_t product) const;

  // The attention in whose blocks the node is computed, by its second product; -1: none.
  std::int32_t attention_of(std::int32_t node) const {
    const Placement& p = placed_[canon_[node]];
    return p.how == How::Library ? -1 : p.with;
  }
  // The second product of one that cannot stay: something in its blocks has to be in memory.
  std::optional<std::int32_t> broken_attention() const;
  // Computed with what it is added to, by a library call.
  bool has_epilogue(std::int32_t product) const {
    return placed_[product].how == How::Library && placed_[product].with >= 0;
  }
  Epilogue epilogue(std::int32_t node) const {
    const Epilogue& e = problem_->epilogues[node];
    return e && has_epilogue(e.product) ? e : Epilogue{};
  }
  // What is read in parts, once it is known what multiplies (parts_in_regions.cpp).
  void find_unfolded();
  void find_parts();

  Number elements(std::int32_t node) const { return element_count(g_[node].node->extents); }

 private:
  bool store(std::int32_t node, const char* why);
  std::vector<std::int32_t> reached_roots(std::int32_t node) const;
  std::vector<std::int32_t> roots_in_order() const;
  bool same_index_only(std::int32_t node, const std::vector<std::int32_t>& roots) const;
  bool cheap(std::int32_t node) const;
  bool small(std::int32_t node, const Numbers& shape) const;
  std::vector<std::int64_t> group_key(std::int32_t node) const;
  int scanned_axis(std::int32_t node) const;
  std::int32_t cut_like(std::int32_t scatter) const;
  void attend(std::int32_t product);
  void fold(std::int32_t node, Order order);
  void multiply(std::int32_t product, std::int32_t with);
  bool any_product() const;
  const Attention* attention(std::int32_t product) const {
    return attends(product) ? &*problem_->attention(product) : nullptr;
  }
  bool is_row_value(std::int32_t node) const;
  bool store_product(std::int32_t product);
  bool share_blocks(std::int32_t a, std::int32_t b) const;
  void place_columns(std::int32_t operand);
  void find_packed();
  void find_padded();
  bool stores_copy(std::int32_t copy) const;
  bool repeats_matrices(std::int32_t view) const;
  bool merges_axes(std::int32_t view) const;
  bool folds_apart(std::int32_t reader, std::int32_t product) const;
  void find_digits(std::int32_t value);
  using Packings = std::set<std::pair<std::int32_t, int>>;  // products, and which operand of each
  bool packed_only(std::int32_t node, std::int32_t written, bool computed, Packings& into) const;
  bool packs_again(std::int32_t written, const Packings& into) const;
  std::optional<double> computing_cost(std::int32_t value) const;
  bool computes_keys(const Attention& a, std::int32_t operand) const;
  bool made_of_parts(std::int32_t operand) const;
  void place_under(std::int32_t operand);
  std::int32_t packed_under(std::int32_t operand) const;
  bool reaches_product(std::int32_t node) const;
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
  std::array<int, 5> folds_{};  // of each Order
  std::optional<std::int32_t> refused_;
  std::vector<bool> packed_, unfolded_, digits_;
  std::vector<bool> padded_;
  int pad_count_ = 0;
  std::vector<int> packings_;  // of each write that needs no memory: how many products pack it
  std::vector<Note> notes_;
  mutable std::vector<int> seen_;  // of each node: the last walk that came by
  mutable int walk_ = 0;
};

}  // namespace plait::fusion
