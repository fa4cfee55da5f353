// A loop nest over the arrays of a graph: the index that a node is read at, and where in memory
// that is. What is to be computed where is its user's affair (lowering.hpp).
#pragma once
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "loop_writer.hpp"

namespace plait::fusion {

// An axis of an index, or a part of one: start + step * (variable of `loop`) + at;
// of that a digit: divided by `inner`, and what is left by `extent`.
struct AxisIndex {
  std::int32_t loop = -1;
  ExprId step = 1;
  ExprId start = 0;
  Val at = kNone;  // defined by a loop around `loop`
  ExprId inner = 1;
  ExprId extent = 0;  // 0: all of it
  bool divided() const { return inner != 1 || extent != 0; }
  auto operator<=>(const AxisIndex&) const = default;
};
using Index = std::vector<AxisIndex>;

// The same of loops that are planned: start, and a step for each of several axes.
struct AffineIndex {
  ExprId start = 0;
  std::vector<std::pair<int, ExprId>> steps = {};
  auto operator<=>(const AffineIndex&) const = default;
};

class Nest : public LoopWriter {
 public:
  Nest(const LoweringInput& in, LoweredKernel& out, bool builds)
      : LoopWriter(in, out, builds), g_(in.graph) {}
  // From now on loads of the memory of that node have addresses, also where nothing is built.
  void overwrite(std::int32_t old) { old_memory_ = in_.memory_of[old]; }

  // memory
  Val load(std::int32_t id, DType t, const Index& idx, const Numbers& strides, Source s,
           ExprId offset);
  ir::Access address(const Index& idx, const Numbers& strides, Source s, ExprId offset);
  // Whether the memory of a node is laid out other than as it was recorded; its strides.
  bool laid_out(std::int32_t id) const;
  ExprId stride_of(Source s);
  Numbers strides_now(std::int32_t id);
  // A number that shows in the code when it is small (contiguous, reversed, interleaved, unrolled).
  ExprId small(ExprId e);
  Val scalar(std::int32_t id);

  // indices
  Val position(const AxisIndex& x);
  // Of the same dimension; `by`: a number.
  AxisIndex scaled(const AxisIndex& x, ExprId by);
  AxisIndex sum(const AxisIndex& a, const AxisIndex& b);
  // What a value is a sum of, where it is one of steps of loops; nullptr where it is not.
  const std::vector<AxisIndex>* steps_of(Val sum) const {
    const auto known = steps_.find(sum);
    return known == steps_.end() ? nullptr : &known->second;
  }
  AffineIndex scaled(AffineIndex w, ExprId by);
  AffineIndex sum(AffineIndex a, const AffineIndex& b);
  // Where the sums along dimensions of its base count on in wider ones, their digits.
  void divide(std::int32_t view, Index& at);
  std::int32_t innermost(const Index& idx) const;

  // the graph
  const Node& node(std::int32_t id) const { return *g_[id].node; }
  // The index that a node is read at, from that of its reader: of an operand that is broadcast, of
  // what a view with a map shows, of the value of a write. Only an Index can be divided.
  template <class X>
  std::vector<X> broadcast(std::int32_t operand, const std::vector<X>& idx) const;
  template <class X>
  std::vector<X> view_index(std::int32_t view, const std::vector<X>& idx);
  template <class X>
  std::vector<X> written_index(std::int32_t update, const std::vector<X>& idx);

  const PlanGraph& g_;

 private:
  // Of each dimension of an array, or of several that are digits of one sum and lie next to each
  // other: its index, and the stride in memory.
  std::vector<std::pair<AxisIndex, ExprId>> joined(const Index& idx, const Numbers& strides,
                                                   Source s);
  ir::Access address(const std::vector<std::pair<AxisIndex, ExprId>>& dims, ExprId offset);
  AxisIndex undivided(const AxisIndex& x) {
    return x.divided() ? AxisIndex{-1, ex_.one(), ex_.zero(), position(x)} : x;
  }

  // Sums of steps of several loops, as an address has them.
  std::map<Val, std::vector<AxisIndex>> steps_;
  std::int32_t old_memory_ = -1;
};

template <class X>
std::vector<X> Nest::broadcast(std::int32_t operand, const std::vector<X>& idx) const {
  const Numbers& s = node(operand).extents;
  std::vector<X> r(static_cast<std::size_t>(s.size()));
  const std::size_t skip = idx.size() - r.size();
  for (std::size_t d = 0; d < r.size(); ++d)
    if (s[static_cast<int>(d)] != 1) r[d] = idx[skip + d];
  return r;
}

template <class X>
std::vector<X> Nest::view_index(std::int32_t view, const std::vector<X>& idx) {
  const PlanNode& gn = g_[view];
  const Numbers& s = node(gn.in[0]).extents;
  std::vector<X> at(static_cast<std::size_t>(s.size()));
  const auto number_of = [&](Field f, std::int64_t d) {
    return small(ex_.source({view, f, static_cast<std::int32_t>(d)}));
  };
  const auto add = [&](std::int64_t d, std::int64_t j, ExprId step) {
    X& x = at[static_cast<std::size_t>(d)];
    x = sum(x, scaled(idx[static_cast<std::size_t>(j)], step));
  };
  for (int d = 0; d < s.size(); ++d) {
    if (s[d] == 1) continue;
    at[static_cast<std::size_t>(d)].start =
        number_of(gn.index ? Field::IndexStart : Field::MapStart, d);
    if (!gn.index && gn.map->from[d] >= 0) add(d, gn.map->from[d], number_of(Field::MapStep, d));
  }
  for (int j = 0; gn.index && j < gn.index->axis.size(); ++j)
    if (const std::int64_t d = gn.index->axis[j]; d >= 0) add(d, j, number_of(Field::IndexStep, j));
  if constexpr (std::is_same_v<X, AxisIndex>)
    if (gn.index) divide(view, at);
  return at;
}

template <class X>
std::vector<X> Nest::written_index(std::int32_t update, const std::vector<X>& idx) {
  std::vector<X> at(static_cast<std::size_t>(node(update).view_extents.size()));
  for (int d = 0; d < static_cast<int>(idx.size()); ++d)
    if (const std::int64_t j = g_[update].map->from[d]; j >= 0) {
      X back;
      back.start = ex_.mul(ex_.source({update, Field::MapStart, d}), ex_.constant(-1));
      at[static_cast<std::size_t>(j)] = sum(idx[static_cast<std::size_t>(d)], back);
    }
  return at;
}

// Part of the lowering that builds in a nest with others: it says what it adds in the nest's words.
class NestPart {
 protected:
  explicit NestPart(Nest& nest)
      : nest_(nest), in_(nest.in_), g_(nest.g_), ex_(nest.ex_), out_(nest.out_), k_(nest.k_) {}

  const Node& node(std::int32_t id) const { return nest_.node(id); }
  Index broadcast(std::int32_t id, const Index& idx) const { return nest_.broadcast(id, idx); }
  std::int32_t innermost(const Index& idx) const { return nest_.innermost(idx); }
  ir::Coeff coeff(ExprId e) { return nest_.coeff(e); }
  std::int32_t access(ir::Access a) { return nest_.access(std::move(a)); }
  Val push(const ir::Inst& i, std::int32_t loop) { return nest_.push(i, loop); }
  Val constant(const Scalar& s) { return nest_.constant(s); }
  Val zero(DType t) { return nest_.zero(t); }
  Val number(ExprId e) { return nest_.number(e); }
  Val cast(Val v, DType t) { return nest_.cast(v, t); }
  Val apply(OpId fn, DType t, Val a, Val b = kNone, Val c = kNone) {
    return nest_.apply(fn, t, a, b, c);
  }
  Val integer(OpId fn, Val a, Val b) { return nest_.integer(fn, a, b); }
  Val load_local(std::int32_t local, ir::Access a, std::int32_t loop) {
    return nest_.load_local(local, std::move(a), loop);
  }
  void push_store_local(std::int32_t local, ir::Access a, Val v, std::int32_t loop) {
    nest_.push_store_local(local, std::move(a), v, loop);
  }
  std::int32_t open(std::int32_t parent, ExprId extent) { return nest_.open(parent, extent); }
  std::int32_t open_between(std::int32_t parent, Val begin, Val end, ExprId extent, double trips) {
    return nest_.open_between(parent, begin, end, extent, trips);
  }
  Val close(std::int32_t l) { return nest_.close(l); }
  void close_all(const std::vector<std::int32_t>& loops) { nest_.close_all(loops); }

  Nest& nest_;
  const LoweringInput& in_;
  const PlanGraph& g_;
  Exprs& ex_;
  LoweredKernel& out_;
  ir::Kernel& k_;
};

}  // namespace plait::fusion
