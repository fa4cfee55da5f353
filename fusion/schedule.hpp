// Decides which nodes are put in memory (roots) and which roots share a region. Starts from the
// fewest roots and adds those that the lowering demands.
#pragma once
#include "plan.hpp"

namespace plait::fusion {

// Equal pure sub-expressions -> the first of them.
std::vector<std::int32_t> common_subexpressions(const Graph& g);

class Schedule {
 public:
  Schedule(const Graph& g, const std::vector<std::int32_t>& canon, const Target& target);

  // Puts a node in memory; false when it was there already.
  bool add_root(std::int32_t node, const std::string& why);
  // The same for this very node, even if an equal one has memory: it will be written to, or handed
  // out.
  bool add_own_root(std::int32_t node, const std::string& why);
  // Leaves a root among those that walk their operands alike; if it was, and found others there all
  // the same, alone.
  void part(std::int32_t node, bool one_walk);
  // Regions in an order that respects every dependency.
  std::vector<Step> regions() const;
  // Puts what would be computed again in ever more of these regions in memory (carried.cpp); false
  // when there is nothing of the kind.
  bool keep_carried(const std::vector<Step>& steps);
  // The same for products that several of these regions would compute; false when there are none
  // (products.cpp).
  bool keep_products(const std::vector<Step>& steps);
  // A product that a region cannot compute is a library call.
  void call_library(std::int32_t product);
  // Why each root is in memory.
  const std::vector<Note>& notes() const { return notes_; }
  bool is_root(std::int32_t n) const { return root_[n]; }

 private:
  bool blocked(std::int32_t node) const;
  bool direct(std::int32_t node) const;
  std::int32_t operand_memory(std::int32_t node) const;
  std::vector<std::int32_t> reached_roots(std::int32_t node) const;
  bool same_index_only(std::int32_t node, const std::vector<std::int32_t>& roots) const;
  bool cheap(std::int32_t node) const;
  bool small(std::int32_t node, const Dims& shape) const;
  std::vector<std::int64_t> group_key(std::int32_t node) const;
  std::int64_t leaf_bytes(std::int32_t node) const;
  void keep_what_many_writes_read();
  void place_operands(std::int32_t product);
  void settle_products();
  bool reaches_product(std::int32_t node) const;
  bool computes_rows(std::int32_t product) const;
  // Products whose rows the value of `node` follows from, on the way to what is in memory: those
  // that are not, and one that is.
  struct Products {
    std::vector<std::int32_t> computed;
    std::int32_t stored = -1;
  };
  Products products_of(std::int32_t node) const;

  const Graph& g_;
  const std::vector<std::int32_t>& canon_;
  const Target target_;
  const std::vector<Epilogue> epilogues_;
  std::vector<bool> taken_up_;  // products that are computed with their epilogue
  std::vector<bool> tiled_;     // products that are regions, with what reads them
  std::vector<bool> root_;
  std::vector<std::int32_t> group_;  // only equal ones share a region
  std::vector<Note> notes_;
  mutable std::vector<int> seen_;  // of each node: the last walk that came by
  mutable int walk_ = 0;
};

}  // namespace plait::fusion
