#include "gpu.hpp"

#include <deque>

#include "core/config.hpp"
#include "engine/plans/run.hpp"
#include "plait/error.hpp"

namespace plait::gpu {

struct Gpu::Kernel final : engine::DeviceKernel {
  explicit Kernel(const ir::Kernel& k, std::optional<ir::Iterations> each = {})
      : ir(k), each(each) {}
  // Asked before a launch and at it: the last answer is kept.
  const Loaded* find(const cuda::Extents& e) const {
    std::vector<std::int64_t> numbers(e.params, e.params + ir.params);
    numbers.insert(numbers.end(), {e.grid, e.split});
    if (!found || numbers != asked) {
      const std::ptrdiff_t n = cuda::find(programs, e);
      found = n < 0 ? nullptr : &variants[static_cast<std::size_t>(n)];
      asked = std::move(numbers);
    }
    return found;
  }
  void add(Loaded l) {
    programs.push_back(l.program);
    variants.push_back(std::move(l));
  }
  const ir::Kernel ir;
  const std::optional<ir::Iterations> each;
  mutable std::mutex mutex;  // guards what follows
  std::vector<std::shared_ptr<const cuda::Program>> programs;
  std::deque<Loaded> variants;  // of each program; launches keep pointers to them
  mutable std::vector<std::int64_t> asked;
  mutable const Loaded* found = nullptr;
};

namespace {

cuda::Extents extents_of(const engine::KernelExtents& e) { return {e.params, e.grid, e.split}; }

// Without a driver there is no use for it.
std::future<bool> open_compiler() {
  return std::async(std::launch::async, [version = driver().version] {
    cuda::nvrtc_for_driver(version);
    return cuda::nvrtc_available(nullptr);
  });
}

Address address(const std::byte* p) { return reinterpret_cast<Address>(p); }

}  // namespace

Gpu::Gpu(int ordinal, DeviceId id)
    : compiler_(open_compiler()),
      context_(ordinal),
      pool_(context_, id),
      transfer_(context_),
      products_(context_, pool_) {
  const Properties& p = context_.properties();
  target_.arch = p.compute_capability;
  target_.multiprocessors = p.multiprocessors;
  target_.shared_bytes = p.shared_per_block;
  if (p.clock > 0) target_.clock = p.clock;
  if (p.cache > 0) target_.cache_bytes = p.cache;
  if (p.memory_rate > 0) target_.memory_rate = p.memory_rate;
  machine_ = device_machine(target_);
  if (std::string why; !compiler_.get() && !cuda::nvrtc_available(&why))
    throw DeviceError("device '" + name() + "' cannot be used: NVRTC is missing. " + why);
}

Ref<Buffer> Gpu::upload(const void* from, std::size_t bytes, std::string_view why) {
  Ref<Buffer> b = pool_.allocate(bytes);
  transfer_.upload(address(b->data), from, bytes, why, pool_.last_use(*b));
  return b;
}
void Gpu::download(void* to, const std::byte* from, std::size_t bytes, std::string_view why) {
  transfer_.download(to, address(from), bytes, why);
  pool_.settle();
}
void Gpu::synchronise() {
  context_.synchronise();
  pool_.settle();
}
void Gpu::copy(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t count,
               std::size_t pitch) {
  if (bytes == 0 || count == 0) return;
  const Context::Current current(context_);
  if (count > 1 && pitch <= kMostPitch) {
    Copy2D c{};
    c.from_kind = c.to_kind = kMemoryDevice;
    c.from = address(from);
    c.to = address(to);
    c.from_pitch = c.to_pitch = pitch;
    c.width = bytes;
    c.height = count;
    context_.check(context_.api.copy_2d(&c, context_.stream()), "copying within it");
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    context_.check(context_.api.copy_on_device(address(to) + i * pitch, address(from) + i * pitch,
                                               bytes, context_.stream()),
                   "copying within it");
}

Ref<Buffer> Gpu::adopt(std::byte* at, std::size_t bytes, void* stream, void (*release)(void*),
                       void* owner) {
  wait_for(stream);
  return pool_.adopt(address(at), bytes, release, owner);
}
void Gpu::lend(Buffer& b, void* stream) {
  const auto to = static_cast<StreamHandle>(stream);
  pool_.note_lent(b, !to || to == kLegacyStream ? Pool::Lent::ToLegacy : Pool::Lent::Anywhere);
  context_.let_wait(to);
}

std::shared_ptr<engine::DeviceKernel> Gpu::prepare(const ir::Kernel& k, std::string* why) {
  if (!cuda::supports(k, why)) return nullptr;
  const std::lock_guard held(mutex_);
  std::shared_ptr<Kernel>& slot = kernels_[ir::serialize(k)];
  if (!slot) slot = std::make_shared<Kernel>(k);
  return slot;
}

std::shared_ptr<engine::DeviceKernel> Gpu::prepare(const ir::Kernel& k, const ir::Iterations& each,
                                                   std::string* why) {
  return cuda::supports(k, each, why) ? std::make_shared<Kernel>(k, each) : nullptr;
}

Gpu::Loaded Gpu::load(std::shared_ptr<const cuda::Program> p) {
  if (logging(Log::Code)) log(Log::Code, "\n" + cuda::source(*p));
  const std::shared_ptr<const cuda::Binary> binary = cuda::compile(*p, target_.arch);
  const Context::Current current(context_);
  ModuleHandle module = nullptr;
  if (const Result r = context_.api.module_load(&module, binary->image.c_str()); r != kSuccess) {
    const int nvrtc = cuda::nvrtc_version();
    context_.check(r, ("loading a kernel compiled by NVRTC " + std::to_string(nvrtc / 1000) + "." +
                       std::to_string(nvrtc % 1000) + (binary->ptx ? " to PTX" : "") +
                       " with a driver for CUDA " + version_text(context_.api.version))
                          .c_str());
  }
  Loaded l{std::move(p), nullptr};
  context_.check(context_.api.module_function(&l.function, module, binary->entry.c_str()),
                 "finding a kernel");
  // More shared memory than any device gives unasked.
  if (cuda::uses_shared_memory(*l.program))
    context_.check(context_.api.function_set(l.function, kFunctionMaxDynamicShared,
                                             target_.shared_bytes - binary->shared_bytes),
                   "asking for shared memory");
  return l;
}

bool Gpu::is_compiled(const engine::DeviceKernel& kernel, const engine::KernelExtents& e) const {
  const auto& k = static_cast<const Kernel&>(kernel);
  const std::lock_guard held(k.mutex);
  return k.find(extents_of(e)) != nullptr;
}

void Gpu::compile(engine::DeviceKernel& kernel, const engine::KernelExtents& e) {
  auto& k = static_cast<Kernel&>(kernel);
  Loaded l = load(k.each ? cuda::generate(k.ir, *k.each, target_)
                         : cuda::generate(k.ir, target_, extents_of(e)));
  ++engine::counters().kernels_compiled;
  const std::lock_guard held(k.mutex);
  k.add(std::move(l));
}

void Gpu::submit(const Loaded& l, const cuda::Launch& shape, std::vector<std::byte>& arguments,
                 const engine::LaunchSite& site) {
  void* parameters[] = {arguments.data()};
  const Result r =
      context_.api.launch(l.function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                          shape.block[1], shape.block[2], static_cast<unsigned>(shape.shared_bytes),
                          context_.stream(), parameters, nullptr);
  const std::string_view region = site.region.empty() ? "a region" : site.region;
  context_.note_launch(region, site.site);
  if (r != kSuccess) context_.check(r, ("launching " + std::string(region)).c_str());
}

void Gpu::launch(engine::DeviceKernel& kernel, const ir::CallArgs& args,
                 const engine::KernelExtents& e, const engine::LaunchSite& site) {
  auto& k = static_cast<Kernel&>(kernel);
  const cuda::Extents extents = extents_of(e);
  const Loaded* l = nullptr;
  {
    const std::lock_guard held(k.mutex);
    l = k.find(extents);
  }
  if (!l) throw InternalError("a kernel is launched that was not compiled");
  const Context::Current current(context_);
  const cuda::Launch shape = cuda::launch_shape(*l->program, extents);
  Ref<Buffer> scratch;  // given back at once: what is launched next comes after this
  if (shape.scratch_bytes) scratch = pool_.allocate(shape.scratch_bytes);
  cuda::pack_arguments(*l->program, shape, args, 0, e.grid, scratch ? scratch->data : nullptr,
                       arguments_);
  submit(*l, shape, arguments_, site);
}

const Gpu::Loaded& Gpu::joiner(ReduceKind kind, DType t, bool tree) {
  const int key = (static_cast<int>(kind) * kDTypeCount + static_cast<int>(t)) * 2 + tree;
  const std::lock_guard held(mutex_);
  Loaded& l = joiners_[key];
  if (!l.function) l = load(cuda::generate_join(kind, t, tree, target_));
  return l;
}

void Gpu::join(const engine::DeviceJoin& j, const engine::LaunchSite& site) {
  const Loaded& l = joiner(j.kind, j.dtype, j.tree);
  const Context::Current current(context_);
  const cuda::Join join{j.kind,    j.dtype,   j.tree,  j.extent, j.chunks,
                        j.longest, j.outputs, j.shape, j.strides};
  const cuda::Launch shape = cuda::join_shape(*l.program, join);
  cuda::pack_join(join, {j.rows, j.indices, j.bounds, j.out}, arguments_);
  submit(l, shape, arguments_, site);
}

const Gpu::Loaded& Gpu::multiplier(DType t) {
  const std::lock_guard held(mutex_);
  Loaded& l = multipliers_[static_cast<int>(t)];
  if (!l.function) l = load(cuda::generate_product(t, target_));
  return l;
}

const Gpu::Loaded& Gpu::chunk_adder(DType t) {
  const std::lock_guard held(mutex_);
  Loaded& l = chunk_adders_[static_cast<int>(t)];
  if (!l.function) l = load(cuda::generate_chunk_sum(t, target_));
  return l;
}

bool Gpu::multiply(const engine::DeviceProduct& p, const engine::LaunchSite& site) {
  if (products_.available(p.dtype)) {
    if (products_.multiply(p, site)) {
      context_.note_launch(site.region, site.site);
      return true;
    }
    if (p.bias) return false;
    if (logging(Log::Fallback))
      log(Log::Fallback, name() + ": matmul is a tiled kernel, as cuBLASLt does not take it");
  }
  const Loaded& l = multiplier(p.dtype);
  const Context::Current current(context_);
  const auto factor = [](const engine::DeviceProduct::Operand& x) {
    return cuda::Product::Factor{x.at, x.row, x.column, x.batch};
  };
  const cuda::Product product{p.dtype,     p.m,         p.n,    p.k,        p.batch,
                              factor(p.a), factor(p.b), p.bias, p.residual, p.c};
  const cuda::Launch shape = cuda::product_shape(*l.program, product);
  Ref<Buffer> scratch;  // given back at once: what is launched next comes after this
  if (shape.scratch_bytes) scratch = pool_.allocate(shape.scratch_bytes);
  cuda::pack_product(*l.program, product, scratch ? scratch->data : nullptr, arguments_);
  submit(l, shape, arguments_, site);
  if (!scratch) return true;
  const Loaded& sum = chunk_adder(p.dtype);
  submit(sum, cuda::chunk_sum_shape(*sum.program, product), arguments_, site);
  return true;
}

}  // namespace plait::gpu
