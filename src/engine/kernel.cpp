#include "kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/buffer.hpp"
#include "engine.hpp"
#include "fp_flags.hpp"
#include "run.hpp"
#include "tracer/turn.hpp"

namespace plait::engine {

namespace {

// Work below which a team costs more than it brings, and of one chunk.
constexpr double kParallelWork = 200e3;
constexpr double kChunkWork = 600e3;
constexpr double kVerdictWork = 20e3;  // of one that may end the run
// Work done in the interpreter before a kernel is compiled in the background: about a
// millisecond's.
constexpr double kCompileWork = 1e6;
// Seconds of interpretation after which the evaluation waits for the compiler, and the longest wait
// for one kernel.
constexpr double kPatience = 0.02, kMaxWait = 0.1;
constexpr int kMaxLanes = 64;  // of machine code: 512-bit registers of float32, unrolled four times
constexpr std::int64_t kLaneMultiple =
    256;  // chunks of a vector grid begin at multiples of every register and tile

std::unordered_map<std::string, std::shared_ptr<CompiledKernel>>& registry() {
  static auto& r = *new std::unordered_map<std::string, std::shared_ptr<CompiledKernel>>;
  return r;
}

}  // namespace

std::mutex& kernel_registry_mutex() {
  static auto& m = *new std::mutex;
  return m;
}

CompiledKernel::CompiledKernel(ir::Kernel k)
    : kernel_(std::make_shared<const ir::Kernel>(std::move(k))),
      program_(interp::prepare(*kernel_, config().tier)),
      slot_(std::make_shared<jit::CodeSlot>()),
      vector_grid_(kernel_->loops[0].vector) {
  if (logging(Log::Code)) log(Log::Code, "\n" + ir::to_string(*kernel_));
}

void CompiledKernel::consider_compiling(double work) {
  const JitMode mode = config().jit;
  if (mode == JitMode::Off || requested_.load(std::memory_order_relaxed)) return;
  const double done = work_done_.load(std::memory_order_relaxed) + work;
  work_done_.store(done, std::memory_order_relaxed);
  if (mode == JitMode::Background && done < kCompileWork) return;
  if (requested_.exchange(true) || !jit::available()) return;
  std::string why;
  if (!jit::supports(*kernel_, &why)) {
    if (logging(Log::Compile)) log(Log::Compile, "stays on the interpreter: " + why);
    return;
  }
  ++counters().kernels_compiled;
  if (mode == JitMode::Background) {
    jit::compile_async(kernel_, config().tier, slot_);
    return;
  }
  try {
    slot_->set(jit::compile(*kernel_, config().tier));
  } catch (const CompileError& e) {
    if (logging(Log::Compile)) log(Log::Compile, e.what());
  }
}

unsigned CompiledKernel::run(const ir::CallArgs& args, std::int64_t extent, double work,
                             const Manner& how) {
  if (extent <= 0) return 0;
  consider_compiling(work);
  ++counters().kernels_run;
  ++(jitted() ? counters().kernels_jitted : counters().kernels_interpreted);
  // Short kernels are done before another thread could use the lock.
  std::optional<tracer::Unlocked> others_record;
  if (work >= kParallelWork) others_record.emplace();
  const double started = omp_get_wtime();
  const unsigned flags =
      how.trail ? launch_trailing(args, extent, work, *how.trail) : launch(args, extent, work, how);
  last_seconds_.store(omp_get_wtime() - started, std::memory_order_relaxed);
  yield_to_compiler(started);
  if (!jitted()) interpreted_ += omp_get_wtime() - started;
  return flags;
}

void CompiledKernel::yield_to_compiler(double started) {
  if (!requested_ || config().jit != JitMode::Background) return;
  while (!jitted() && waited_ < kMaxWait && interpreted_ + omp_get_wtime() - started > kPatience) {
    const double before = omp_get_wtime();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    waited_ += omp_get_wtime() - before;
  }
}

int CompiledKernel::threads_for(double work) { return work < kParallelWork ? 1 : num_threads(); }

std::int64_t CompiledKernel::whole_lanes(std::int64_t chunk) {
  return (chunk + kLaneMultiple - 1) / kLaneMultiple * kLaneMultiple;
}

// Machine code may arrive while a region runs; scratch serves either.
std::size_t CompiledKernel::scratch_need(const ir::CallArgs& args) const {
  const std::size_t need = std::max(ir::scratch_bytes(*kernel_, args.params, kMaxLanes),
                                    interp::scratch_bytes(*program_, args));
  return (need + 64 + 63) / 64 * 64;
}

void CompiledKernel::call(const ir::CallArgs& args, std::int64_t begin, std::int64_t end,
                          void* scratch) const {
  if (const jit::Code* code = slot_->get())
    code->fn(&args, begin, end, scratch, code->helpers.data());
  else
    interp::run(*program_, args, begin, end, scratch);
}

unsigned CompiledKernel::launch(const ir::CallArgs& args, std::int64_t extent, double work,
                                const Manner& how) {
  const int threads = threads_for(work);
  const double share = (how.verdicts ? kVerdictWork : kChunkWork) / (work + 1);
  std::int64_t chunk = static_cast<std::int64_t>(static_cast<double>(extent) * share) + 1;
  chunk = std::min(chunk, std::max<std::int64_t>(1, (extent + threads - 1) / threads));
  if (vector_grid_) chunk = whole_lanes(chunk);
  const std::int64_t chunks = (extent + chunk - 1) / chunk;
  const int team = static_cast<int>(std::min<std::int64_t>(threads, chunks));
  const Ref<Buffer> scratch = allocate(scratch_need(args) * static_cast<std::size_t>(team));
  const std::size_t stride = scratch->bytes / static_cast<std::size_t>(team) / 64 * 64;

  const double started = omp_get_wtime();
  auto end_of = [&](std::int64_t c) { return std::min(extent, (c + 1) * chunk); };
  auto decided = [&](std::int64_t c) {
    return how.verdicts && how.verdicts->reached(c * chunk, end_of(c));
  };
  clear_flags();
  if (team == 1) {
    for (std::int64_t c = 0; c < chunks; ++c) {
      call(args, c * chunk, end_of(c), scratch->data);
      if (decided(c)) break;
      if (c % 16 == 15) yield_to_compiler(started);
      if (how.interruptible && chunks > 1 && interrupt_requested())
        throw Interrupted("interrupted");
    }
    return raised_flags();
  }
  std::atomic<bool> done{false}, interrupted{false};
  unsigned flags = 0;
#pragma omp parallel for num_threads(team) schedule(dynamic, 1) reduction(| : flags)
  for (std::int64_t c = 0; c < chunks; ++c) {
    if (done.load(std::memory_order_relaxed)) continue;
    const int t = omp_get_thread_num();
    if (t != 0) clear_flags();
    call(args, c * chunk, end_of(c), scratch->data + stride * static_cast<std::size_t>(t));
    flags |= raised_flags();
    if (t == 0 && how.interruptible && interrupt_requested())
      interrupted.store(true, std::memory_order_relaxed);
    if (interrupted.load(std::memory_order_relaxed) || decided(c))
      done.store(true, std::memory_order_relaxed);
  }
  if (interrupted) throw Interrupted("interrupted");
  return flags;
}

std::shared_ptr<CompiledKernel> compiled(const ir::Kernel& k) {
  std::string key = ir::serialize(k);
  for (const ir::Loop& l : k.loops) key += l.tile ? 't' : '-';
  const std::lock_guard held(kernel_registry_mutex());
  auto& slot = registry()[key];
  if (!slot) slot = std::make_shared<CompiledKernel>(k);
  return slot;
}

void forget_kernels() {
  const std::lock_guard held(kernel_registry_mutex());
  registry().clear();
}

}  // namespace plait::engine
