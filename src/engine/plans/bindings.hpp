// What a plan runs on: the numbers, scalars and memory of one graph, taken from it before the run.
// The steps read nothing else of what was recorded; their values go back through a Recording.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "fusion/plan.hpp"
#include "tracer/contraction.hpp"

namespace plait::engine {

// A node's memory during a run.
struct NodeMemory {
  Ref<Buffer> buffer;
  std::int64_t offset = 0;
  std::byte* at() const { return buffer->data + offset; }
  explicit operator bool() const { return static_cast<bool>(buffer); }
};

// What a node of the graph has in memory at the moment.
struct Slot {
  NodeMemory memory;
  bool of_run = false;  // written in place, and made anew if the run does not come to its end
  std::int32_t unwritten = -1;  // number of the array that nobody has written to
};

// Takes its memory from the first step that asks for it: memory of the run, if nobody else may ask
// for it.
struct Unwritten {
  DType dtype;
  Dims shape;
  bool exclusive;
};

// Where an update stores to: elements of the storage, of which `old` is the version before.
struct UpdateTarget {
  std::int32_t old;
  bool masked;
  DType dtype;
  Dims shape, strides;
  std::int64_t offset;
};

// A value that a step stores.
struct Root {
  std::int32_t node;
  DType dtype;
  bool folds;  // a reduction: by `reduce`
  bool kept;   // somebody can ask for it after the run
  ReduceKind reduce;
  std::uint32_t site;
  Dims shape, strides;  // of its memory
  std::int64_t over;    // elements that are folded, or combined by index; else 0
  std::optional<UpdateTarget> update;
};

// Scatter: what the first piece's table begins with, `fill` or what is in memory.
struct TableStart {
  std::int32_t root, init;
  std::optional<Scalar> fill;
  Dims strides;
};

// A product as a library of a device takes it.
struct LibraryOperand {
  std::int32_t node;  // whose memory it lies in
  DType dtype;
  Dims shape, strides;
  std::int64_t offset;
};
struct LibraryProduct {
  std::int32_t root, node;  // they differ where something is added
  DType dtype;
  Dims shape, strides;
  tracer::ProductAxes axes;
  std::int64_t depth;
  std::uint32_t site;
  LibraryOperand a, b;
  std::optional<LibraryOperand> addend;
  bool whole;  // the addend lies as the product does
};

// One step with what it runs on.
struct BoundStep {
  fusion::Step& step;
  std::span<const Root> roots;
  const std::int64_t* params;
  const Scalar* scalars;
  std::int64_t extent;  // of the grid; Blocked, Scatter: of the axis that is cut
  const LibraryProduct* product;
};

class Bindings {
 public:
  // `values`: of the plan's expressions for this graph.
  Bindings(const fusion::Graph& g, const fusion::Plan& p, std::vector<std::int64_t> values,
           DeviceId device);

  const DeviceId device;
  const std::vector<std::int64_t> values;
  std::vector<Slot> slots;  // a node each
  std::vector<Unwritten> unwritten;
  std::vector<TableStart> tables;

  NodeMemory& memory(std::int32_t node) { return slots[static_cast<std::size_t>(node)].memory; }
  const NodeMemory& memory(std::int32_t node) const {
    return slots[static_cast<std::size_t>(node)].memory;
  }

  // Calls f(const BoundStep&) for each step of the plan, in order.
  template <class F>
  void each(fusion::Plan& p, F&& f) const {
    const Root* root = roots_.data();
    const std::int64_t* param = params_.data();
    const Scalar* scalar = scalars_.data();
    const LibraryProduct* product = products_.data();
    const LibraryProduct* const end = product + products_.size();
    for (fusion::Step& s : p.steps) {
      const bool multiplies = product != end && product->root == root->node;
      f(BoundStep{s,
                  {root, s.region.roots.size()},
                  param,
                  scalar,
                  values[static_cast<std::size_t>(s.lowered.grid_extent)],
                  multiplies ? product : nullptr});
      root += s.region.roots.size();
      param += s.lowered.params.size();
      scalar += s.lowered.scalars.size();
      product += multiplies;
    }
  }

 private:
  void add_leaves(const fusion::Graph& g);
  void add_root(const fusion::Graph& g, std::int32_t r);
  void add_tables(const fusion::Graph& g, const fusion::Plan& p, const fusion::Step& s);
  void add_product(const fusion::Graph& g, const fusion::Step& s, const std::vector<bool>& stored);

  // Of all steps, one after the other.
  std::vector<Root> roots_;
  std::vector<std::int64_t> params_;
  std::vector<Scalar> scalars_;
  std::vector<LibraryProduct> products_;
};

inline const Root& root_of(const BoundStep& s, std::int32_t node) {
  const Root* r = s.roots.data();
  while (r->node != node) ++r;
  return *r;
}

}  // namespace plait::engine
