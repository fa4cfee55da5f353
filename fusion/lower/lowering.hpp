// Computes the nodes of one region in a loop nest: which loops the roots get (lower.cpp), and a
// node at an index (values.cpp). What is a concept of its own builds in the same nest and asks for
// values: reductions and their chunks (reductions.hpp, chunks.hpp), scans (scan.hpp), combining by
// index (scatter_nest.hpp), blocks of products (product_nest.hpp, attention_nest.hpp).
#pragma once
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recomputation.hpp"
#include "reductions.hpp"
#include "scan.hpp"

namespace plait::fusion {

class Lowering : Nest, Values {
 public:
  // Without `builds` the walk alone.
  Lowering(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out, bool builds)
      : Nest(in, out, builds), region_(region), emitted_(in.graph.nodes.size()) {
    Nest& nest = *this;
    Values& values = *this;
    if (!builds) recomputation_.emplace(nest, values, region, costs_);
    if (!builds && node(region.roots[0]).kind == tracer::NodeKind::Update)
      overwrite(in.graph[region.roots[0]].in[0]);
  }
  void run();
  const std::vector<StoreRequirement>& needs() const { return needs_; }

 private:
  // regions
  void map();
  void store_unrolled(Index& idx, const std::vector<int>& unrolled, const Numbers& shape,
                      std::int32_t ctx);
  void store_root(std::int32_t r, const Index& idx, std::int32_t ctx) override;
  // Loops over blocks of a product, whose values what is computed there finds.
  template <class Block>
  void build(Block&& block) {
    block_ = &block;
    block.build();
    block_ = nullptr;
  }
  CutLoops cut_loops();
  template <class Run>
  void with_cuts(CutLoops& cuts, Run&& run) {
    cuts_ = &cuts;
    run();
    cuts_ = nullptr;
  }
  void fill(std::int32_t operand, const Index& idx, const std::vector<CutLoops::Level>& levels,
            std::int32_t ctx, bool repeated, CutLoops::Unroll unroll,
            const CutLoops::Put& put) override;
  void need(std::int32_t id, const char* why) override;
  void need_alike(std::int32_t root, bool one_walk) override;

  // values
  Val emit(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  Val compute(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  Val operand_value(std::int32_t reduction, const Index& idx, std::int32_t ctx) override;
  // What an earlier loop over the same row computed at some cost is kept for this one (the
  // exponentials of a softmax).
  Val row_buffer(std::int32_t id, const Node& n, const Index& idx, std::int32_t ctx);
  // A view of a value that is not in memory reads it at the mapped index.
  Val through_view(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                   std::int32_t ctx);
  Val gathered(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
               std::int32_t ctx);
  // Whether memory that has it is not to be read: the block at hand changes it still.
  bool changes(std::int32_t id) const { return block_ && block_->changes(id); }

  struct Memo {
    Val value;
    std::int32_t loop;
  };
  struct At {
    std::int32_t node;
    Index idx;
    bool operator==(const At&) const = default;
  };
  struct HashAt {
    std::size_t operator()(const At& a) const {
      std::size_t h = static_cast<std::size_t>(a.node);
      for (const AxisIndex& x : a.idx) {
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.loop);
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.step);
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.start);
      }
      return h ^ h >> 32;
    }
  };

  const RegionSpec& region_;
  NodeCosts costs_{in_};
  std::optional<Recomputation> recomputation_;  // of a survey
  Reductions reductions_{*this, *this, region_};
  Scans scans_{*this, *this, region_};
  BlockValues* block_ = nullptr;  // of the block that is being computed
  CutLoops* cuts_ = nullptr;      // the loops that are open, if they may be cut
  std::unordered_map<At, std::vector<Memo>, HashAt> memo_;
  std::vector<bool> emitted_;         // nodes that were computed, somewhere
  std::map<Val, std::int32_t> rows_;  // value -> the local its row is kept in
  std::vector<StoreRequirement> needs_;
};

}  // namespace plait::fusion
