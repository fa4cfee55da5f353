// What planning computes in another way than it was recorded. A rewrite looks at a graph and gives
// nodes that stand for recorded ones; the next one looks at the graph that has them. Evaluation of
// an operation at a time computes the same nodes, so bits do not depend on who computes.
#pragma once
#include "graph.hpp"

namespace plait::fusion {

// A sum along an axis that an array was stacked along, an index at a time, is the chain of
// additions of what was stacked: `np.stack(parts).sum(0)`. The array is never there.
std::vector<Graph::Instead> add_stacked(const Graph& g);

// Sums of products whose operands step evenly through the same two arrays, as a loop over the
// places of a filter writes them: `y = y + einsum(p[:, :, i:i+h, j:j+w], f[:, :, i, j])`. They are
// one product that sums over more axes; nothing is stored between the steps.
// They may begin with something else, as a bias.
std::vector<Graph::Instead> sum_products(const Graph& g);

// An array that was written index by index, each from the same array a step further, is a copy of a
// view with windows: `cols[:, :, i, j] = p[:, :, i:i+h, j:j+w]`.
std::vector<Graph::Instead> copy_windows(const Graph& g);

// A copy of a copy is one of what that copied, and a product of several axes, which packs what it
// reads wherever it lies, needs none: nobody else reads the copy in between.
std::vector<Graph::Instead> read_through_copies(const Graph& g);

// A copy of a product, as einsum makes one in the order that NumPy lays the result out in, is the
// product for whoever reads it in any order.
std::vector<Graph::Instead> read_products(const Graph& g);

// A product of casts from narrower types that fragments take is one of what they were cast from, so
// that no wider copy is stored: `a.astype(np.int32) @ b.astype(np.int32)`. Views, copies and
// padding between the cast and the product are those of what was cast.
std::vector<Graph::Instead> read_through_casts(const Graph& g);

using Rewrite = std::vector<Graph::Instead> (*)(const Graph&);
inline constexpr Rewrite kRewrites[] = {add_stacked,         sum_products,       copy_windows,
                                        read_through_copies, read_through_casts, read_products};

// Nobody needs the value but one node of the graph.
bool alone(const GNode& g);

// A value as it lies in memory, its own or that of a node which it is a view of: all that rewrites
// read of recorded extents, strides and offsets. Steps and starts are in bytes.
struct StridedSource {
  explicit StridedSource(const tracer::Node& value)
      : StridedSource(value, value.dtype, strided(value)) {}
  // What an Update writes to, in the array that it makes.
  static StridedSource written_by(const tracer::Node& update) {
    return {update, update.view_dtype, strided_view(update)};
  }

  Strided layout() const { return {extents, steps, start}; }
  int size() const { return extents.size(); }
  std::int64_t elements() const { return element_count(extents); }
  // The same elements of the same memory, but for where they start.
  bool steps_alike(const StridedSource& o) const;
  // No axis of more than one element steps less.
  bool is_innermost(int axis) const;
  // What a view that steps through its axes shows.
  StridedSource through(const ViewMap& map, const Dims& extents) const;
  // The node itself where this is all of it, else a view of it.
  Ref<tracer::Node> node() const;
  Ref<tracer::Node> view() const;

  tracer::Node* base;
  DType dtype;
  std::int64_t start;
  Dims extents, steps;

 private:
  StridedSource(const tracer::Node& of, DType as, const Strided& lies);
};

bool same_extents(const tracer::Node& a, const tracer::Node& b);
bool same_layout(const tracer::Node& a, const tracer::Node& b);

}  // namespace plait::fusion
