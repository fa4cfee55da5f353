// A CUDA device as the engine uses it: memory from the pool, kernels through the generator and
// NVRTC, launches on the context's stream.
#pragma once
#include <future>
#include <memory>
#include <unordered_map>

#include "codegen/cuda/cuda.hpp"
#include "context.hpp"
#include "engine/devices/device.hpp"
#include "pool.hpp"
#include "products.hpp"
#include "transfer.hpp"

namespace plait::gpu {

class Gpu final : public engine::Device {
 public:
  // Throws DeviceError: no driver, no such device, no NVRTC.
  Gpu(int ordinal, DeviceId id);

  std::string name() const override { return context_.label(); }
  std::string target() const override { return "cuda:sm_" + std::to_string(target_.arch); }
  const Machine& machine() const override { return machine_; }
  Ref<Buffer> allocate(std::size_t bytes) override { return pool_.allocate(bytes); }
  Ref<Buffer> upload(const void* from, std::size_t bytes, std::string_view why) override;
  void download(void* to, const std::byte* from, std::size_t bytes, std::string_view why) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t count,
            std::size_t pitch) override;
  void synchronise() override;
  bool multiplies(DType t) override { return products_.available(t); }
  Ref<Buffer> adopt(std::byte* at, std::size_t bytes, void* stream, void (*release)(void*),
                    void* owner) override;
  void wait_for(void* stream) override { context_.wait_for(static_cast<StreamHandle>(stream)); }
  void lend(Buffer& b, void* stream) override;
  void lend(Buffer& b) override { pool_.note_lent(b, Pool::Lent::Anywhere); }
  void* stream() override { return context_.stream(); }

  std::shared_ptr<engine::DeviceKernel> prepare(const ir::Kernel& k, std::string* why) override;
  std::shared_ptr<engine::DeviceKernel> prepare(const ir::Kernel& k, const ir::Iterations& each,
                                                std::string* why) override;
  void compile(engine::DeviceKernel& k, const engine::KernelExtents& e) override;
  bool is_compiled(const engine::DeviceKernel& k, const engine::KernelExtents& e) const override;
  void launch(engine::DeviceKernel& k, const ir::CallArgs& args, const engine::KernelExtents& e,
              const engine::LaunchSite& site) override;
  void join(const engine::DeviceJoin& j, const engine::LaunchSite& site) override;
  bool multiply(const engine::DeviceProduct& p, const engine::LaunchSite& site) override;
  std::size_t trim() override { return pool_.trim(); }

  Context& context() { return context_; }
  Pool& pool() { return pool_; }

 private:
  struct Kernel;
  // A program in the device's code memory; loaded once, never unloaded.
  struct Loaded {
    std::shared_ptr<const cuda::Program> program;
    FunctionHandle function = nullptr;
  };
  Loaded load(std::shared_ptr<const cuda::Program> p);
  void submit(const Loaded& l, const cuda::Launch& shape, std::vector<std::byte>& arguments,
              const engine::LaunchSite& site);
  const Loaded& joiner(ReduceKind kind, DType t, bool tree);
  const Loaded& multiplier(DType t);
  const Loaded& chunk_adder(DType t);

  std::future<bool> compiler_;  // NVRTC opens while the context is made
  Context context_;
  Pool pool_;
  Transfer transfer_;
  Products products_;
  cuda::Target target_;
  Machine machine_;
  std::mutex mutex_;  // guards the tables
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels_;
  std::unordered_map<int, Loaded> joiners_, multipliers_, chunk_adders_;
  std::vector<std::byte> arguments_;  // of the launch under way; the recorder's lock guards it
};

}  // namespace plait::gpu
