// A kernel and the ways to run it: the interpreter at once, machine code when it is ready. Equal
// kernels of different plans are one.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <span>

#include "codegen/interp/interp.hpp"
#include "codegen/llvm/jit.hpp"
#include "engine/threads/team.hpp"
#include "ir/ir.hpp"
#include "trailing.hpp"

namespace plait::engine {

// Of an any() or all(): one byte of each grid iteration, and the value that decides the result
// whatever the others hold.
struct EarlyExit {
  std::span<const std::byte> of;
  std::byte decisive;
  bool reached(std::int64_t begin, std::int64_t end) const {
    return std::find(of.begin() + begin, of.begin() + end, decisive) != of.begin() + end;
  }
};

class FilePages;

// How a kernel is run beside its arguments.
struct RunOptions {
  bool interruptible = false;
  const Trail* trail = nullptr;           // stores go to their place after the loads that look back
  const EarlyExit* early_exit = nullptr;  // iterations may be left out once one has decided
  const FilePages* files = nullptr;       // that it reads or writes
};

class CompiledKernel {
 public:
  explicit CompiledKernel(ir::Kernel k);
  // With machine code, which is all that runs it.
  CompiledKernel(ir::Kernel k, std::shared_ptr<const jit::Code> code);

  // Runs grid iterations [0, extent) on this thread or on the team. `predicted` (seconds of
  // machine code on one thread) decides which, and when machine code is worth compiling. Throws
  // std::bad_alloc before anything ran, Interrupted if `interruptible`. Returns the floating-point
  // exceptions raised (bits of fp_flags.hpp).
  unsigned run(const ir::CallArgs& args, std::int64_t extent, double predicted,
               const RunOptions& how);

  // Machine code now, or soon, whatever has been run: for who knows that more runs follow.
  void ask_for_code();

  // For who runs kernels a chunk at a time, see wavefront.hpp: counts a run, and compiles as run()
  // does; iterations [begin, end) on this thread; bytes of one thread's scratch; so many
  // iterations, or a few more where they are lanes.
  void prepare(double predicted);
  void call(const ir::CallArgs& args, std::int64_t begin, std::int64_t end, void* scratch) const;
  std::size_t scratch_need(const ir::CallArgs& args) const;
  std::int64_t whole_chunk(std::int64_t chunk) const;
  void ran(double seconds) { last_seconds_.store(seconds, std::memory_order_relaxed); }

  // Whether a run of so many predicted seconds is over before another thread could help.
  bool is_short(double predicted) const;

  const ir::Kernel& ir() const { return *kernel_; }
  std::size_t bytes() const;  // that it takes, roughly, with the machine code that may come
  bool jitted() const { return slot_->get() != nullptr; }
  double last_seconds() const {
    return last_seconds_.load(std::memory_order_relaxed);
  }  // 0: not run yet

 private:
  unsigned launch(const ir::CallArgs& args, std::int64_t extent, double predicted,
                  const RunOptions& how);
  unsigned launch_trailing(const ir::CallArgs& args, std::int64_t extent, double predicted,
                           const Trail& trail);
  std::int64_t multiple_of(double iteration) const;
  ParallelLoop loop_of(std::int64_t extent, double predicted) const;
  void measured(double seconds, double predicted, bool code);  // on one thread
  // Gives the compiler thread, which runs at low priority, the processor for a while once the
  // interpreter has cost as much as compiling does: on a machine without an idle core machine code
  // would not come otherwise.
  void yield_to_compiler(double started);
  void consider_compiling(double predicted);

  std::shared_ptr<const ir::Kernel> kernel_;
  std::shared_ptr<const interp::Program> program_;  // null: there is machine code from the start
  std::vector<bool> per_lane_;                      // of each local
  std::shared_ptr<jit::CodeSlot> slot_;
  std::atomic<double> done_{0}, last_seconds_{0};
  // Seconds on one thread for one that was predicted; 0: not measured yet.
  std::atomic<double> jitted_rate_{0}, interpreted_rate_{0};
  // Seconds, since machine code was asked for.
  std::atomic<double> interpreted_{0}, waited_{0};
  bool vector_grid_;
};

// The one for this kernel, made if need be.
std::shared_ptr<CompiledKernel> compiled(const ir::Kernel& k);
void forget_kernels();       // tests: empties the registry
std::size_t trim_kernels();  // drops those that no plan holds; returns their bytes
struct TableSize {
  std::size_t entries, bytes;
};
void bound_kernels();  // by the limit that settings have now
TableSize kernels_kept();

}  // namespace plait::engine
