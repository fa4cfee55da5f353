#include "kernel.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "core/buffer.hpp"
#include "core/machine.hpp"
#include "core/replaceable.hpp"
#include "core/timeline.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/engine.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/seconds.hpp"
#include "engine/threads/team.hpp"
#include "file_pages.hpp"
#include "ir/analysis.hpp"
#include "run.hpp"
#include "state.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {

namespace {

// A kernel that is done before another thread could use the recorder's lock.
constexpr double kShort = 40e-6;
constexpr int kMostRuns = 4;  // of a piece that signals interrupt whose handlers raise nothing
// Seconds of a piece that may end the run.
constexpr double kExitPiece = 20e-6;
// Seconds of interpretation after which the evaluation waits for the compiler, and the longest wait
// for one kernel. Within a run, only where so much is left.
constexpr double kCompilePatience = 0.02, kMaxWait = 0.1, kLongRest = 0.05;
constexpr int kMaxLanes = 64;  // of machine code: 512-bit registers of float32, unrolled four times
// Pieces of a vector grid begin at multiples of every register and tile, but for those of less than
// so many seconds at fewer lanes.
constexpr std::int64_t kLaneMultiple = 256, kLeastLanes = 16;
constexpr double kLongStep = 50e-6;

// Kernels that a plan holds would be made again for the next plan, and freed by nobody.
bool is_idle(const std::shared_ptr<CompiledKernel>& k) { return k.use_count() == 1; }

// Seconds that the iterations from `end` on will take as those before did.
double rest(double started, std::int64_t end, std::int64_t extent) {
  return (seconds_now() - started) * static_cast<double>(extent - end) / static_cast<double>(end);
}

}  // namespace

CompiledKernel::CompiledKernel(ir::Kernel k)
    : kernel_(std::make_shared<const ir::Kernel>(std::move(k))),
      program_(interp::prepare(*kernel_, config().tier)),
      per_lane_(ir::per_lane_locals(*kernel_)),
      slot_(std::make_shared<jit::CodeSlot>()),
      vector_grid_(kernel_->loops[0].lanes()) {
  if (logging(Log::Code)) log(Log::Code, "\n" + ir::to_string(*kernel_));
}

CompiledKernel::CompiledKernel(ir::Kernel k, std::shared_ptr<const jit::Code> code)
    : kernel_(std::make_shared<const ir::Kernel>(std::move(k))),
      per_lane_(ir::per_lane_locals(*kernel_)),
      slot_(std::make_shared<jit::CodeSlot>()),
      vector_grid_(kernel_->loops[0].lanes()) {
  slot_->set(std::move(code));
}

void CompiledKernel::consider_compiling(double predicted) {
  const JitMode mode = config().jit;
  if (mode == JitMode::Off || !slot_->unclaimed()) return;
  // In the interpreter. A script that is done before the first compilation, which loads LLVM, would
  // pay does without.
  const Machine& m = host_machine();
  const double here = predicted * m.interpreted;
  const double done = done_.load(std::memory_order_relaxed) + here;
  done_.store(done, std::memory_order_relaxed);
  std::atomic<double>& all_done = state().interpreted;
  const double all = all_done.load(std::memory_order_relaxed) + here;
  all_done.store(all, std::memory_order_relaxed);
  if (mode == JitMode::Background && (done < m.compile || all < m.first_compile)) return;
  ask_for_code();
}

// Machine code divides integers by the precompiled loops, a few lanes at a call; the interpreter,
// a tile. What little stands around a division is no reason to compile it.
static bool divides_above_all(const ir::Kernel& k) {
  constexpr int kLittle = 4;  // operations
  int operations = 0;
  bool divides = false;
  for (const ir::Inst& i : k.insts) {
    if (i.op != ir::Op::Apply) continue;
    ++operations;
    divides |= (i.fn == OpId::FloorDivide || i.fn == OpId::Remainder) &&
               is_integer(k.insts[i.operands[0]].type);
  }
  return divides && operations <= kLittle && !k.sequential;
}

void CompiledKernel::ask_for_code() {
  const JitMode mode = config().jit;
  if (mode == JitMode::Off || !slot_->claim()) return;
  // Asked again, if memory is short now, after as much work again.
  done_.store(0, std::memory_order_relaxed);
  // Loading LLVM takes milliseconds: in the background, that is the compile thread's business.
  if (!(mode == JitMode::Background ? jit::expected() : jit::available()))
    return slot_->ask_later();
  std::string why;
  if (mode == JitMode::Background && divides_above_all(*kernel_)) why = "it divides integers";
  if (!why.empty() || !jit::supports(*kernel_, &why)) {
    if (logging(Log::Compile)) log(Log::Compile, "stays on the interpreter: " + why);
    return slot_->give_up();
  }
  ++counters().kernels_compiled;
  if (mode == JitMode::Background)
    jit::compile_async(kernel_, config().tier, slot_);
  else
    jit::compile_into(*slot_, *kernel_, config().tier);
}

void CompiledKernel::prepare(double predicted) {
  consider_compiling(predicted);
  ++counters().kernels_run;
  ++(jitted() ? counters().kernels_jitted : counters().kernels_interpreted);
}

unsigned CompiledKernel::run(const ir::CallArgs& args, std::int64_t extent, double predicted,
                             const RunOptions& how) {
  if (extent <= 0) return 0;
  prepare(predicted);
  std::optional<tracer::Unlocked> others_record;
  if (predicted >= kShort) others_record.emplace();
  // Not after a run: nobody knows whether there will be another.
  const double arrived = seconds_now();
  yield_to_compiler(arrived);
  const double started = slot_->awaited() ? seconds_now() : arrived;
  timeline::Span span(timeline::Category::Kernel);
  if (span) {
    span.name(kernel_->name);
    span.arg("by", jitted() ? "machine code" : "the interpreter");
    span.arg("iterations", extent);
  }
  const unsigned flags = how.trail ? launch_trailing(args, extent, predicted, *how.trail)
                                   : launch(args, extent, predicted, how);
  const double took = seconds_now() - started;
  last_seconds_.store(took, std::memory_order_relaxed);
  if (!jitted()) interpreted_.fetch_add(took, std::memory_order_relaxed);
  return flags;
}

void CompiledKernel::yield_to_compiler(double started) {
  std::optional<timeline::Span> span;
  while (slot_->awaited() && waited_ < kMaxWait &&
         interpreted_ + seconds_now() - started > kCompilePatience) {
    if (!span) span.emplace(timeline::Category::Compile).name("wait for the compiler");
    const double before = seconds_now();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    waited_.fetch_add(seconds_now() - before, std::memory_order_relaxed);
  }
}

ParallelLoop CompiledKernel::loop_of(std::int64_t extent, double predicted) const {
  const bool code = jitted();
  const double measured = (code ? jitted_rate_ : interpreted_rate_).load(std::memory_order_relaxed);
  const double rate = measured > 0 ? measured : code ? 1 : host_machine().interpreted;
  return {.extent = extent,
          .seconds = rate * predicted,
          .threads = team_threads(rate * predicted),
          .multiple = multiple_of(rate * predicted / static_cast<double>(extent))};
}

bool CompiledKernel::is_short(double predicted) const {
  return loop_of(1, predicted).seconds < host_machine().least_shared;
}

// Whole tiles and registers, or fewer lanes of long iterations.
std::int64_t CompiledKernel::multiple_of(double iteration) const {
  std::int64_t lanes = vector_grid_ ? kLaneMultiple : 1;
  while (lanes > kLeastLanes && iteration * static_cast<double>(lanes) > kLongStep) lanes /= 2;
  return lanes;
}

// Half of what is new counts, because the first run of a kernel also brings memory into the cache.
void CompiledKernel::measured(double seconds, double predicted, bool code) {
  if (seconds <= 0 || predicted <= 0) return;
  std::atomic<double>& rate = code ? jitted_rate_ : interpreted_rate_;
  const double before = rate.load(std::memory_order_relaxed), now = seconds / predicted;
  rate.store(before > 0 ? (before + now) / 2 : now, std::memory_order_relaxed);
}

std::int64_t CompiledKernel::whole_chunk(std::int64_t chunk) const {
  const std::int64_t lanes = !vector_grid_           ? 1
                             : chunk < kLaneMultiple ? kLeastLanes
                                                     : kLaneMultiple;
  return (chunk + lanes - 1) / lanes * lanes;
}

// Machine code may arrive while a region runs; scratch serves either.
std::size_t CompiledKernel::scratch_need(const ir::CallArgs& args) const {
  const std::size_t need = std::max(ir::scratch_bytes(*kernel_, per_lane_, args.params, kMaxLanes),
                                    program_ ? interp::scratch_bytes(*program_, args) : 0);
  return (need + 64 + 63) / 64 * 64;
}

void CompiledKernel::call(const ir::CallArgs& args, std::int64_t begin, std::int64_t end,
                          void* scratch) const {
  if (const jit::Code* code = slot_->get())
    code->fn(&args, begin, end, scratch, code->helpers.data());
  else
    interp::run(*program_, args, begin, end, scratch);
}

unsigned CompiledKernel::launch(const ir::CallArgs& args, std::int64_t extent, double predicted,
                                const RunOptions& how) {
  ParallelLoop loop = loop_of(extent, predicted);
  if (how.early_exit) loop.longest = kExitPiece;
  const bool code = jitted();
  const Ref<Buffer> scratch = allocate(scratch_need(args) * static_cast<std::size_t>(loop.threads));
  const std::size_t stride = scratch->bytes / static_cast<std::size_t>(loop.threads) / 64 * 64;

  const double started = seconds_now();
  // The lock, which a handler may need, is free: see run().
  Interruption interruption(how.interruptible && predicted >= kShort);
  std::atomic<unsigned> flags{0};
  clear_flags();
  auto run_piece = [&](std::int64_t begin, std::int64_t end, int worker, bool heeds = true) {
    ir::CallArgs mine = args;
    if (heeds) mine.stop = &interruption.flag(worker);
    if (how.files) how.files->begins(begin, end);
    call(mine, begin, end, scratch->data + stride * static_cast<std::size_t>(worker));
    if (const unsigned raised = raised_flags()) flags.fetch_or(raised, std::memory_order_relaxed);
    if (how.files) how.files->done(begin, end);
  };
  auto piece = [&](std::int64_t begin, std::int64_t end, int worker) {
    if (worker != 0) clear_flags();
    if (begin < end) run_piece(begin, end, worker);
    for (int runs = 1; worker == 0 && interruption.asked(); ++runs) {
      if (!interruption.goes_on(0)) return false;
      clear_flags();  // the handler's
      // Signals that come in quick succession do not keep it from its end.
      if (begin < end && runs <= kMostRuns) run_piece(begin, end, worker, runs < kMostRuns);
    }
    if (how.early_exit && how.early_exit->reached(begin, end)) return false;
    if (begin < end && loop.threads == 1 && rest(started, end, extent) > kLongRest)
      yield_to_compiler(started);
    return true;
  };
  const double seconds = run_parallel(loop, piece);
  interruption.end();
  measured(seconds, predicted, code);
  return flags;
}

PLAIT_REPLACEABLE std::shared_ptr<CompiledKernel> compiled(const ir::Kernel& k) {
  std::string key = ir::serialize(k);
  for (const ir::Loop& l : k.loops) key += l.tile ? 't' : '-';
  const std::lock_guard held(state().kernels.mutex);
  if (const auto* known = state().kernels.table.find(key)) return known->value;
  const auto made = std::make_shared<CompiledKernel>(k);
  auto& entry = state().kernels.table.at(key);
  entry.value = made;
  state().kernels.table.add(entry, made->bytes());
  state().kernels.table.keep_bounded(is_idle);
  return made;
}

std::size_t CompiledKernel::bytes() const {
  // Machine code takes a page, and its place in the table of the compiler.
  constexpr std::size_t kCode = 8 << 10;
  return sizeof *this + ir::bytes_of(*kernel_) + (program_ ? interp::bytes_of(*program_) : 0) +
         (config().jit == JitMode::Off ? 0 : kCode);
}

void forget_kernels() {
  const std::lock_guard held(state().kernels.mutex);
  state().kernels.table.clear();
}
std::size_t trim_kernels() {
  const std::lock_guard held(state().kernels.mutex);
  return state().kernels.table.trim(is_idle);
}
void bound_kernels() {
  const std::lock_guard held(state().kernels.mutex);
  state().kernels.table.set_limit(code_limit());
  state().kernels.table.keep_bounded(is_idle);
}
TableSize kernels_kept() {
  const std::lock_guard held(state().kernels.mutex);
  return {state().kernels.table.size(), state().kernels.table.bytes()};
}

}  // namespace plait::engine
