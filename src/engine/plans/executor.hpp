// What runs the steps of a plan: the host, or a device. The walk over the steps is the same for all
// (plan_run.hpp); here is what differs: memory, how a region is cut and launched, how its partial
// results join, and what is done with a step that is no region.
#pragma once
#include <span>
#include <vector>

#include "bindings.hpp"
#include "recording.hpp"
#include "run.hpp"

namespace plait::engine {

// How the axis of a region in pieces is cut.
struct AxisCut {
  Chunks chunks;
  std::int64_t longest = 1;  // chunk
  Ref<Buffer> table;         // of a device: the bounds in its memory
};

// One region while it is run.
struct Region {
  const BoundStep& of;
  std::int64_t extent;           // of the grid: iterations, or chunks
  const AxisCut* cut = nullptr;  // null: the grid runs over elements
  std::span<const Ref<Buffer>> partials;
  std::span<void* const> buffers;
  std::span<const Buffer* const> memory = {};  // that each is in, of regions that run together
  const fusion::LoweredKernel& lowered() const { return of.step.lowered; }
  ir::CallArgs args() const { return {buffers.data(), of.params, of.scalars}; }
};

// The chunks' results of one root: rows of `outputs` values; of an arg-reduction those are the
// extremes, with the rows of their indices beside them.
struct PartialResults {
  const fusion::Partial& of;
  const Root& root;
  std::int64_t outputs;
  std::byte* rows;
  const fusion::Partial* index;  // null: no arg-reduction
  std::byte* indices;
  std::byte* out;  // memory of the root
};

// Steps [first, last) of a plan, and what ended them; null: the plan did.
struct Stretch {
  std::size_t first, last;
  const char* end;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Before the first step: what takes time before anything can run.
  virtual void prepare(fusion::Plan& p) = 0;
  // Before each step: throws Interrupted where somebody asked for that.
  virtual void look_around() = 0;

  // Throw std::bad_alloc.
  virtual Ref<Buffer> allocate(std::size_t bytes) = 0;
  virtual Ref<Buffer> allocate(const Dims& shape, DType t) = 0;
  virtual void copy(std::byte* to, const std::byte* from, const Stretches& s) = 0;
  // A step is about to write to what others may have read.
  virtual void overwrites(Buffer& b) = 0;

  // Whether there is code for the step: for the region, or its operation.
  virtual bool has_code(const fusion::Step& s) const = 0;
  // Good until it is asked for the next region's.
  virtual const AxisCut& cut(const BoundStep& s) = 0;
  // Partial results have their memory, roots have not: decides how the region is run, and so where
  // what it updates is.
  virtual fusion::UpdateMode begin(const Region& r) = 0;
  // Everything is bound. Returns the floating-point exceptions raised (bits of fp_flags.hpp), as
  // far as they are known.
  virtual unsigned launch(const Region& r) = 0;

  // Stretches of steps that are better run together (wavefront.hpp), in order.
  virtual std::vector<Stretch> stretches(std::span<const BoundStep>, const Recording&) {
    return {};
  }
  // As begin() and launch(), of such a stretch.
  virtual fusion::UpdateMode begin_together(const Region& r) { return begin(r); }
  virtual std::vector<unsigned> launch_together(std::span<const Region>, const Stretch&) {
    return {};
  }
  virtual void join(const Region& r, const PartialResults& p) = 0;

  // The root of a step that is an operation has its memory. Returns as launch() does.
  virtual unsigned compute(const BoundStep& s) = 0;
  // Gives the roots of a step without code their memory, and their values to the recording.
  virtual void run_elsewhere(const BoundStep& s) = 0;
};

// Whether a region's grid runs over chunks.
inline bool is_cut(const fusion::Step& s) { return fusion::in_pieces(s.region.order); }
std::int64_t elements_an_iteration(const BoundStep& s);
Chunks chunks_of(const BoundStep& s, bool on_device = false);

}  // namespace plait::engine
