// Where loops read arrays that were written in part, and that have no memory.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "merged_axes.hpp"

namespace plait::fusion {

class PartReads : NestPart {
 public:
  using RequireStored =
      std::function<void(std::int32_t node, const char* why)>;  // has to be in memory
  struct Read {
    std::int32_t update;
    int over;  // the read of the part that was written over this one; -1: none
    std::vector<AffineIndex> idx;
  };
  // What a write covers along a dimension of its storage.
  struct Edges {
    ExprId first, end;
    bool from_first, to_last;
    bool whole() const { return from_first && to_last; }
  };
  // Whether the loops step as what was read needs: axes have further digits now, or the unrolled
  // one cannot be, and loops and reads start again.
  enum class Fit : std::uint8_t { Good, SplitAgain, Rolls };

  PartReads(Nest& nest, LoopBox& box, MergedLoops& merged, RequireStored need)
      : NestPart(nest), box_(box), merged_(merged), need_(std::move(need)) {}

  void start();
  // Whether it is made of a part without memory.
  bool contains_part(std::int32_t id);
  // A node is read there; find(): and what it is made of.
  void read_at(std::int32_t id, const std::vector<AffineIndex>& idx);
  Fit find();
  const std::vector<Read>& all() const { return reads_; }
  const Read& operator[](int n) const { return reads_[static_cast<std::size_t>(n)]; }
  Edges edges(std::int32_t update, int d);
  ExprId part_extent(std::int32_t update, int d);
  bool not_above(ExprId a, ExprId b);
  bool shows_base(std::int32_t first);

 private:
  // Where nodes are read, from the readers to what they read. A chain of stencils reads what it
  // began with at more and more places: what is read at more than so many is put in memory.
  using Places = std::map<std::int32_t, std::set<std::vector<AffineIndex>>, std::greater<>>;
  static constexpr std::size_t kMaxPlaces = 32;
  void read_by(std::int32_t id, const std::vector<AffineIndex>& idx);
  std::vector<AffineIndex> folded_index(std::int32_t reduction,
                                        const std::vector<AffineIndex>& idx);

  LoopBox& box_;
  MergedLoops& merged_;
  RequireStored need_;
  std::map<std::int32_t, bool> contains_;  // of nodes that were asked for
  Places places_;
  std::vector<Read> reads_;
  std::map<std::int32_t, bool> shows_base_;
  Fit fit_ = Fit::Good;
};

}  // namespace plait::fusion
