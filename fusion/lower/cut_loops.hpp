// Loops over a box of an iteration space: those that fill scratch with an operand of a product, and
// those of a region's roots. Where they read an array that was written in part, and that has no
// memory (a concatenation, padding), they are cut at the edges of the parts: inside, the part is
// read without a condition. Beside it a fill has loops that read what was there before. The loops
// of roots are cut into zones of their innermost loops, for all reads at once (zones.hpp);
// what is read along other loops, conditions choose.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "zones.hpp"

namespace plait::fusion {

class CutLoops : NestPart {
 public:
  using Level = LoopBox::Level;
  using Unroll = LoopBox::Unroll;
  using RequireStored = PartReads::RequireStored;
  using Emit = std::function<Val(std::int32_t node, const Index&, std::int32_t ctx)>;
  using Body = std::function<void(Index&, std::int32_t ctx)>;
  // Elements that an iteration of the innermost loop has: where they go, which is the same place
  // for all that an unrolled axis has, and the place in a second local, whose innermost loop is
  // `outer`; beside it that of each element.
  struct Elements {
    std::vector<Val> values;
    std::vector<ExprId> offsets;
    ir::Access place, second;
    std::int32_t loop, outer;
  };
  using Put = std::function<void(Elements&)>;

  CutLoops(Nest& nest, Emit emit, RequireStored need);
  CutLoops(const CutLoops&) = delete;
  // `idx`: of axes that no level has; `extents`: of all axes.
  void start(const Index& idx, const std::vector<Level>& levels,
             const std::vector<ExprId>& extents);
  // Whether any of the roots reads an array without memory that was written in part.
  bool reads_parts(const std::vector<std::int32_t>& roots);
  // Cuts the innermost loop and the one around it at the edges of what the roots read.
  void cut_innermost(const std::vector<std::int32_t>& roots);
  void run(std::int32_t ctx, Body body);
  // The operand at the loops of all levels, for whoever puts it somewhere. `repeated`: computed
  // again for every block, which is known to cost less.
  void fill(std::int32_t operand, const Index& idx, const std::vector<Level>& levels,
            std::int32_t ctx, bool repeated, Unroll unroll, const Put& put);
  bool repeated() const { return box_.repeated; }
  // A write that the roots read in zones, each with code of its own; -1: none.
  std::int32_t cut_for() const {
    return box_.fills || reads_.all().empty() ? -1 : reads_[0].update;
  }
  // Of a write without memory.
  Val value(std::int32_t update, const Index& idx, std::int32_t ctx);
  // Where a view shows interleaved arrays, or merges axes: the index of what it shows, if these
  // loops step along each of its axes.
  std::optional<Index> split_index(std::int32_t view, const Index& idx) {
    const std::optional<Index> at = merged_.deinterleaved(view, idx);
    return at ? at : merged_.at_digits(view, idx);
  }

 private:
  struct Cut {
    int level;     // of the loop that is cut; -1: all loops run or none
    int in_front;  // each zone has loops of its own from this level on
    // Of a fill, what it is cut for: a read, and a dimension of it.
    int read = -1, dim = -1;
    bool before = false, behind = false;  // there are iterations beside
    bool inside = true;                   // the loops that are open are
    std::optional<LoopZones> zones = {};  // of roots
  };
  // What is left of a level's iterations, in the zones that are open.
  struct Range {
    Val begin = kNone, end = kNone;
    double trips = 1;
    bool narrow = false;
    ExprId extent = kNoExtent;  // of a zone
  };
  static constexpr ExprId kNoExtent = -1;

  void start_fill(std::int32_t operand, const Index& idx, const std::vector<Level>& levels);
  PartReads::Fit read_operand(std::int32_t operand);
  bool cut_each();
  bool unrolled(int axis) const;
  bool decide(int read, int dim, std::int64_t at);
  void put_elements(std::int32_t operand, std::int32_t ctx, std::int32_t loop, const Put& put);
  bool goes_on(const PartReads::Read& r, int d, ExprId end) const;
  bool covered(int read) const;
  bool hidden(int read, int level) const;
  std::pair<Val, Val> inside(const Cut& c, const Range& all);
  // Of the write that is read at that index.
  std::vector<Side> sides(std::int32_t update, const Index& idx);
  bool reads_at(const PartReads::Read& r, const Index& idx);
  Side side_of_read(int read, int d) const;
  void open_zones_of_roots(Cut& c, int level, std::size_t next, std::int32_t ctx);
  void open_zones(int level, std::size_t next, std::int32_t ctx);
  void open_level(int level, std::int32_t ctx);
  Range& range(int level) { return ranges_[static_cast<std::size_t>(level + 1)]; }

  Emit emit_;
  RequireStored need_;
  Body body_;
  LoopBox box_;
  MergedLoops merged_;
  PartReads reads_;
  std::vector<Cut> cuts_;
  std::vector<Range> ranges_;  // of all loops, then of each level
  // Dimensions of reads where unrolled iterations alone decide which part is read, and the writes
  // that this one is beside of.
  std::vector<std::pair<int, int>> decided_;
  std::set<std::int32_t> beside_;
};

}  // namespace plait::fusion
