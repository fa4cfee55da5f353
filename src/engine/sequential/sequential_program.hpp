// A sequential kernel (ir::Kernel::sequential) as a program: compiled in tiers in the background,
// run on memory of its caller's by one thread or by the team, ended by interrupts. It is never run
// again from its beginning, as it changes what it is given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/jit.hpp"
#include "core/heap.hpp"
#include "core/scalar.hpp"
#include "engine/devices/device.hpp"
#include "ir/builder.hpp"
#include "tracer/array.hpp"

namespace plait::engine {

class SequentialProgram {
 public:
  // A parameter that is where a buffer begins, which a run knows by itself.
  struct Address {
    std::size_t param, buffer;
  };
  // Of a kernel whose blocks are closed: the last things that it does are to store its results,
  // each in a buffer of its own, and to say that it came to its end. `addresses` ascend by
  // parameter. Throws where the kernel is unsound.
  SequentialProgram(ir::Builder kernel, const std::vector<ir::Val>& results,
                    std::vector<Address> addresses = {});

  const std::string& name() const { return kernel_->name; }
  const ir::Kernel& kernel() const { return *kernel_; }
  // What a run is given: memory, parameters but for addresses, and numbers of the kernel's dtypes.
  std::size_t array_count() const { return arrays_.size(); }
  const ir::BufferParam& array(std::size_t n) const { return kernel_->buffers[arrays_[n]]; }
  std::vector<ir::BufferParam> arrays() const;
  std::size_t param_count() const;
  const std::vector<DType>& arguments() const { return kernel_->scalars; }
  std::size_t result_count() const { return result_count_; }
  bool uses_heap() const { return uses_heap_; }

  // Now: whether there is code then, of full effort where that was asked for and can be had.
  // Without the JIT the interpreter runs it, as code of full effort.
  bool compile(jit::Effort effort);
  // In the background, once. Runs go over to the best code that is there.
  void compile_async(jit::Effort effort);
  bool ready() const { return code(); }
  bool optimised() const;    // there is code of full effort
  bool interpreted() const;  // the interpreter runs it, or will
  double seconds() const;    // that the code took to compile

  struct Inputs {
    void* const* arrays;
    const std::int64_t* params;
    const Scalar* args;
  };
  enum class Interrupts : std::uint8_t { Heard, Unheard };
  // One run, in this thread, of a program that is ready: result_count() results. Memory comes from
  // `heap`; where there is none, from one that goes with the run. Throws Interrupted where it was
  // stopped: what it was to write is any of it then.
  void run(const Inputs& in, Scalar* results, Heap* heap, Interrupts interrupts) const;
  // Runs on the same arrays and parameters.
  struct Part {
    std::vector<Scalar> args;
    std::vector<Scalar> results = {};
    std::unique_ptr<Heap> heap = nullptr;  // where the program uses one: what it has left
  };
  // By the team, in any order; seconds: that all of them take on one thread, roughly.
  void run_parts(void* const* arrays, const std::int64_t* params, std::span<Part> parts,
                 double seconds) const;

  // Of a program whose first arguments are what is left of a range: a thread of a device runs an
  // iteration.
  struct Iterations {
    std::size_t first_left;  // of the results, from which on the last iteration gives them
    std::int32_t shared;     // a loop whose iterations threads may share, or -1
    auto operator<=>(const Iterations&) const = default;
  };
  // Why it runs on the host alone; empty where it does not.
  std::string why_not_on(DeviceId id, const Iterations& each);
  // On arrays of that device. The second result is where an iteration fails: none then, and what
  // the arrays have is any of what was to be written.
  std::optional<std::vector<Scalar>> run_on(DeviceId id, std::vector<tracer::Array> arrays,
                                            const std::int64_t* params, const Scalar* args,
                                            std::int64_t count, const Iterations& each);

 private:
  class Frame;
  struct Tier {
    std::shared_ptr<jit::CodeSlot> background = std::make_shared<jit::CodeSlot>();
    jit::CodeSlot now;  // set under the lock
  };

  Tier& tier(jit::Effort effort) { return effort == jit::Effort::Quick ? quick_ : full_; }
  const jit::Code* code() const;  // the best, or null
  void interpret();
  std::size_t scratch_bytes(const jit::Code& code, const std::int64_t* params) const;
  DeviceKernel* on_device(DeviceId id, const Iterations& each, std::string* why);

  std::shared_ptr<const ir::Kernel> kernel_;
  std::vector<Address> addresses_;
  std::size_t first_result_ = 0, result_count_;  // buffers; behind them what says that it ended
  std::vector<std::size_t> arrays_;              // buffers that a run is given
  std::vector<bool> per_lane_;                   // of the kernel's locals
  std::optional<std::size_t> scratch_bytes_;     // where no parameter says how large locals are
  bool uses_heap_ = false;
  Tier quick_, full_;
  jit::CodeSlot interpreter_;  // which is called as machine code is; set under the lock
  std::size_t interpreter_scratch_ = 0;
  std::mutex lock_;
  std::map<std::pair<DeviceId, Iterations>, std::shared_ptr<DeviceKernel>> device_kernels_;
};

}  // namespace plait::engine
