// The launches of one run of a plan, kept to be made again on other memory: each kernel with its
// arguments, in order, and nothing between two of them. What a run does beside its launches - what
// is alive when, which memory serves again, which steps run together, who hears of what they raise
// - comes out alike every time, so that it is done once. What was the run's own is one block of
// scratch here, in which everything lies as it did in the run.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor.hpp"

namespace plait::engine {

// A value that a run gives: in memory of its own or in that of another one.
struct LaunchResult {
  NodeMemory memory;
  Dims strides;
};

// What a run launches, while it does.
class LaunchRecorder {
 public:
  // `memory`: that each buffer of the region is in.
  // `first_scalar`: of the region, among those that the run was given.
  void launch(const Region& r, std::span<const Buffer* const> memory, std::size_t first_scalar,
              double predicted);
  // The run does what launches alone do not.
  void refuse() { refused_ = true; }

 private:
  friend class Launches;
  struct Launch {
    std::shared_ptr<CompiledKernel> kernel;
    std::int64_t extent, bytes;
    double predicted;
    std::vector<std::int32_t> nodes;  // of each buffer
    std::vector<std::byte*> buffers;
    std::vector<std::byte*> memory;  // that each is in: where it begins, and its bytes
    std::vector<std::size_t> bytes_of_memory;
    std::vector<std::int64_t> params;
    std::vector<Scalar> scalars;
    std::size_t first_scalar;
  };
  std::vector<Launch> launches_;
  bool refused_ = false;
};

class Launches : public GuardedRefCounted {
 public:
  // Of a recorded run, which read `inputs` (nodes, and their memory) and `constants`, and gave
  // `results`. Null where it did more than launch kernels, or has so much memory of its own that
  // one block would not stay in the cache; where it writes to its inputs, too, if it could end
  // before all is written.
  static Ref<Launches> make(LaunchRecorder&& recorded, std::span<const std::int32_t> inputs,
                            std::span<const NodeMemory> memory_of_inputs,
                            std::span<const Slot> constants, std::span<const LaunchResult> results,
                            bool in_place);
  static void destroy(Launches* l) { delete l; }

  // `scalars`: those that the run is given; none: as in the recorded one. Returns the
  // floating-point exceptions of all launches. Throws std::bad_alloc and Interrupted. The
  // recorder's lock is held, as in run_plan().
  unsigned run(std::span<const NodeMemory> inputs, std::span<const Scalar> scalars,
               std::span<LaunchResult> results);

 private:
  class Builder;
  struct Launch {
    std::shared_ptr<CompiledKernel> kernel;
    std::int64_t extent;
    double predicted;
    bool shared;  // it takes so long that others may help
    std::size_t buffers, params, scalars;
  };
  // A buffer: so many bytes into an input, a block of results, or the scratch.
  enum class In : std::uint8_t { Input, Result, Scratch };
  struct Place {
    std::size_t buffer;  // its number
    In in;
    std::int32_t number;
    std::int64_t offset;
  };
  struct Result {  // in a block, or behind the first element of an input
    In in;
    bool last;  // of those in the block
    std::int32_t number;
    std::int64_t offset;
    Dims strides;
  };

  // What launches are given, kept from run to run: most of it stays.
  struct Frame {
    std::vector<void*> buffers;  // constants have their address
    std::vector<Scalar> scalars;
    std::vector<Ref<Buffer>> blocks;
    Ref<Buffer> scratch;
  };
  std::unique_ptr<Frame> take_frame();
  void keep_frame(std::unique_ptr<Frame> f);

  std::vector<Launch> launches_;
  std::vector<std::int64_t> params_;
  std::vector<std::size_t> from_;    // of each scalar: which of the given ones it is
  Frame first_;                      // as it was in the recorded run
  std::vector<Place> places_;        // of the others
  std::vector<std::size_t> blocks_;  // bytes of each
  std::vector<Result> results_;
  std::size_t scratch_ = 0;  // bytes, behind those of a kernel
  std::size_t of_kernels_ = 0;
  std::int64_t bytes_moved_ = 0;
  std::vector<std::unique_ptr<Frame>> idle_;  // of runs that have ended
};

}  // namespace plait::engine
