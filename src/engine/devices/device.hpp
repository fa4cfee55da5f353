// One accelerator as the engine sees it: memory, kernels of the loop IR and the join of a chunked
// region's partial results. All its work runs in the order it was asked for; nothing here waits for
// it but the calls of DeviceMemory that say so.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "core/device.hpp"
#include "engine/plans/run.hpp"
#include "ir/iterations.hpp"

namespace plait::engine {

// A kernel made ready for a device, and what it was compiled to so far.
struct DeviceKernel {
  virtual ~DeviceKernel() = default;
};

struct KernelExtents {
  const std::int64_t* params;
  std::int64_t grid;
  std::int64_t split = 0;  // in chunks: extent of the axis that is cut into chunks
};

// Who is told about when a launch fails.
struct LaunchSite {
  std::string_view region;
  std::uint32_t site = 0;
};

struct DeviceJoin {
  ReduceKind kind;
  DType dtype;  // arg-reductions: of the extremes
  bool tree;
  std::int64_t extent, chunks, longest, outputs;  // longest: elements of a chunk, at most
  Dims shape, strides;  // of the result, dimensions in the order of a partial's row; bytes
  const std::byte* rows;
  const std::byte* indices;  // arg-reductions
  const std::byte* bounds;
  std::byte* out;
};

// c = a @ b (+ bias or residual) for every batch: c dense and row-major, batches one after another;
// strides in bytes.
struct DeviceProduct {
  struct Operand {
    const std::byte* at;
    std::int64_t row, column;
    Dims batch;
  };
  DType dtype;
  std::int64_t m, n, k;  // not 0
  Dims batch;
  Operand a, b;
  std::byte* c;
  const std::byte* bias;      // n contiguous elements that are added to every row, or null
  const std::byte* residual;  // what is added to c and lies as c does, or null; never both
};

class Device : public DeviceMemory {
 public:
  virtual std::string name() const = 0;
  virtual std::string target() const = 0;  // as explain() takes it: "cuda:sm_90"
  virtual const Machine& machine() const = 0;
  // Null when the device has no code for something in the kernel; *why says for what.
  virtual std::shared_ptr<DeviceKernel> prepare(const ir::Kernel& k, std::string* why) = 0;
  // The same of a sequential kernel, of which a thread runs an iteration: a launch's grid is how
  // many.
  virtual std::shared_ptr<DeviceKernel> prepare(const ir::Kernel& k, const ir::Iterations& each,
                                                std::string* why) = 0;
  // Compiles what a launch with these extents needs and is not there yet. Any thread, several at
  // once. Throws CompileError.
  virtual void compile(DeviceKernel& k, const KernelExtents& e) = 0;
  virtual bool is_compiled(const DeviceKernel& k, const KernelExtents& e) const = 0;
  virtual void launch(DeviceKernel& k, const ir::CallArgs& args, const KernelExtents& e,
                      const LaunchSite& site) = 0;
  virtual void join(const DeviceJoin& j, const LaunchSite& site) = 0;
  // By the library, for dtypes that multiplies() tells, where each operand's rows or columns are
  // contiguous; else by a kernel. False with nothing done when the library takes the product but
  // not its bias.
  virtual bool multiply(const DeviceProduct& p, const LaunchSite& site) = 0;
  virtual std::size_t trim() = 0;  // gives pooled memory back; returns its bytes
};

// The opened devices. Installed as the process's DeviceRegistry by start().
Device& device_of(DeviceId id);
void install_devices();
std::size_t trim_devices();  // all that are open

// The table of an opened device with that target, or else the usual one of the architecture.
Machine machine_of(std::string_view target);
Machine machine_of_architecture(std::string_view target);
// What the kernel compiles to for a target such as "cuda:sm_90"; two-space indented lines.
std::string explain_kernel(const ir::Kernel& k, const KernelExtents& e, std::string_view target,
                           bool source);
// The same of a product, of which only the extents matter.
std::string explain_product(const DeviceProduct& p, std::string_view target, bool source);

// Gives wanted nodes of one device their values: plans as evaluate_fused, runs each region there.
// What the device has no code for is computed on the host and moved over and back.
void evaluate_on_device(std::span<tracer::Node* const> wanted, DeviceId id);

}  // namespace plait::engine
