// Loops over a box of an iteration space: those that fill scratch with an operand of a product, and
// those of a region's roots. Where they read an array that was written in part, and that has no
// memory (a concatenation, padding), they are cut at the edges of the parts: inside, the part is
// read without a condition. Beside it a fill has loops that read what was there before. The loops
// of roots are cut into zones of their innermost loops, for all reads at once (lower/zones.cpp);
// what is read along other loops, conditions choose.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "nest.hpp"

namespace plait::fusion {

class CutLoops {
 public:
  // A loop: the dimension of the index that it steps along, and how far apart its iterations are in
  // scratch, and in a second local.
  struct Level {
    int axis = 0;
    ExprId place = 1, extent = 1;
    Val begin = kNone, end = kNone;  // kNone: all of the dimension
    double trips = 1;
    // One of several loops over a range [low, high) of merged dimensions, of which loops around it
    // leave a part: how many of them an iteration has, and the level of the last of these loops.
    Val low = kNone, high = kNone;
    ExprId inner = 1;
    int around = -1;
    ExprId second = 0;
    bool unrolled = false;
  };
  using Emit = std::function<Val(std::int32_t node, const Index&, std::int32_t ctx)>;
  using RequireStored =
      std::function<void(std::int32_t node, const char* why)>;  // has to be in memory
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
  // Which axis fill() has several iterations of at a time, one after the other: an axis of so many
  // as a known multiple of these, that only the second local is along. -1: none.
  struct Unroll {
    int axis = -1;
    std::int64_t iterations = 1;
  };

  CutLoops(Nest& nest, Emit emit, RequireStored need);
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
  bool repeated() const { return repeated_; }
  // A write that the roots read in zones, each with code of its own; -1: none.
  std::int32_t cut_for() const { return fills_ || reads_.empty() ? -1 : reads_[0].update; }
  // Of a write without memory.
  Val value(std::int32_t update, const Index& idx, std::int32_t ctx);
  // In arrays that a view shows interleaved, if these loops have them one after the other.
  std::optional<Index> deinterleaved(std::int32_t view, const Index& idx) const;
  // Where a view merges axes, at an index that is a sum over these loops: each axis of what it
  // shows has loops of its own.
  std::optional<Index> at_digits(std::int32_t view, const Index& idx);

 private:
  // Where nodes are read, from the readers to what they read. A chain of stencils reads what it
  // began with at more and more places: what is read at more than so many is put in memory.
  using Places = std::map<std::int32_t, std::set<std::vector<AffineIndex>>, std::greater<>>;
  static constexpr std::size_t kMaxPlaces = 32;
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
  // How iterations lie to a dimension of what was written.
  enum Side : std::uint8_t { Unknown, Inside, Beside };
  // A dimension of a read that steps along a loop. Iterations read inside from `from` up to `to`,
  // in front of it up to `before`, and behind it from `behind` on; the loops around vary in
  // between. -1: nothing is beside it there.
  struct Crossing {
    int read, dim;
    ExprId from, to, before, behind;
  };
  // Iterations [low, high) of a loop, and how they lie to each of its crossings.
  struct Zone {
    ExprId low, high;
    std::vector<Side> sides;
  };
  struct Cut {
    int level;     // of the loop that is cut; -1: all loops run or none
    int in_front;  // each zone has loops of its own from this level on
    // Of a fill, what it is cut for: a read, and a dimension of it.
    int read = -1, dim = -1;
    bool before = false, behind = false;  // there are iterations beside
    bool inside = true;                   // the loops that are open are
    // Of roots.
    std::vector<Crossing> crossings = {};
    std::vector<Zone> zones = {};
    std::size_t open = 0;  // the number of the zone that is, and 1; 0: none
  };
  // What is left of a level's iterations, in the zones that are open.
  struct Range {
    Val begin = kNone, end = kNone;
    double trips = 1;
    bool narrow = false;
    ExprId extent = kNoExtent;  // of a zone
  };
  // An axis whose loops are loops over its digits, widest first: the axis of each, and what a step
  // of it counts. `inner`: what the digits but the widest count, ascending.
  struct Digit {
    int axis;
    std::int64_t counts;
  };
  struct Split {
    std::vector<std::int64_t> inner;
    std::vector<Digit> digits;
  };
  static constexpr ExprId kNoExtent = -1;

  bool contains_part(std::int32_t id);
  void read_at(std::int32_t id, const std::vector<AffineIndex>& idx);
  void find_reads();
  void read_by(std::int32_t id, const std::vector<AffineIndex>& idx);
  std::vector<AffineIndex> folded_index(std::int32_t reduction,
                                        const std::vector<AffineIndex>& idx);
  Edges edges(std::int32_t update, int d);
  ExprId part_extent(std::int32_t update, int d);
  // Loops over an axis that a view makes of several (lower/merged_axes.cpp).
  std::vector<Level> split(std::int32_t view, const std::vector<Level>& levels, Index& idx);
  std::pair<Val, Val> range_of(Level& l);
  bool interleave(std::int32_t view, const AffineIndex& along);
  template <class X>
  static std::vector<X> of_base(const Dims& by, const std::vector<X>& idx) {
    std::vector<X> at(static_cast<std::size_t>(by.size()));
    for (int d = 0; d < by.size(); ++d)
      if (by[d] >= 0) at[static_cast<std::size_t>(d)] = idx[static_cast<std::size_t>(by[d])];
    return at;
  }
  void split_interleaved();
  // Loops over digits of an axis, for views that merge axes (lower/merged_axes.cpp).
  void start_fill(std::int32_t operand, const Index& idx, const std::vector<Level>& levels);
  void split_level(std::int32_t operand, const Level& l, Split& s);
  void read_operand(std::int32_t operand);
  Index index_of_operand(const Index& all);
  bool merges(std::int32_t view) const;
  std::int64_t extent_of(int axis) const;
  std::optional<std::vector<AffineIndex>> digits(std::int32_t view, std::vector<AffineIndex> at);
  bool split_for(std::int32_t view, const std::vector<AffineIndex>& at);
  std::optional<AffineIndex> walk_of(const AxisIndex& x) const;
  void cut_each();
  bool unrolled(int axis) const;
  bool decide(int read, int dim, std::int64_t at);
  void put_elements(std::int32_t operand, std::int32_t ctx, std::int32_t loop, const Put& put);
  bool goes_on(const Read& r, int d, ExprId end) const;
  bool covered(int read) const;
  bool hidden(int read, int level) const;
  std::pair<Val, Val> inside(const Cut& c, const Range& all);
  // Of the write that is read at that index.
  std::vector<Side> sides(std::int32_t update, const Index& idx);
  bool reads_at(const Read& r, const Index& idx);
  bool shows_base(std::int32_t first);
  Side side_of_read(int read, int d) const;
  ExprId minus(ExprId a, ExprId b) { return ex_.add(a, ex_.mul(b, ex_.constant(-1))); }
  ExprId larger(ExprId a, ExprId b) { return minus(ex_.add(a, b), ex_.least(a, b)); }
  void find_crossings(Cut& c);
  bool not_above(ExprId a, ExprId b);
  void find_zones(Cut& c, ExprId low, ExprId high);
  void open_zones_of_roots(Cut& c, int level, std::size_t next, std::int32_t ctx);
  void open_zones(int level, std::size_t next, std::int32_t ctx);
  void open_level(int level, std::int32_t ctx);
  Val number(ExprId e) { return nest_.number(e); }
  Val zero() { return nest_.constant(scalar_int(0)); }
  Val integer(OpId fn, Val a, Val b) { return nest_.integer(fn, a, b); }
  Val negative(Val v) { return nest_.apply(OpId::Negative, DType::Int64, v); }
  const Node& node(std::int32_t id) const { return nest_.node(id); }
  Range& range(int level) { return ranges_[static_cast<std::size_t>(level + 1)]; }

  Nest& nest_;
  const LoweringInput& in_;
  const PlanGraph& g_;
  Exprs& ex_;
  Emit emit_;
  RequireStored need_;
  Body body_;
  std::vector<Level> levels_;
  Index idx_;
  // Of the axes of the loops, of the arrays, of digits, then of folds.
  std::vector<ExprId> extents_;
  int arrays_axis_ = 0, folded_ = 0;       // the second of these, and the first axis of the last
  std::map<std::int32_t, bool> contains_;  // of nodes that were asked for: a part without memory
  Places places_;
  std::vector<Read> reads_;
  std::vector<Cut> cuts_;
  std::vector<Range> ranges_;  // of all loops, then of each level
  std::map<std::int32_t, bool> shows_base_;
  bool fills_ = false, repeated_ = false;
  // The axis whose elements are those of several arrays, interleaved: loops over these, and inside
  // over the elements of each. The index's last axis counts the arrays.
  struct Interleaved {
    int axis = -1;
    ExprId arrays = 1, each = 1;
  } interleaved_;
  std::map<int, Split> splits_;  // by axis of the operand
  Unroll unroll_;
  bool rolls_ = false;  // the axis cannot be unrolled
  // Dimensions of reads where unrolled iterations alone decide which part is read, and the writes
  // that this one is beside of.
  std::vector<std::pair<int, int>> decided_;
  std::set<std::int32_t> beside_;
  bool split_again_ = false;
};

}  // namespace plait::fusion
