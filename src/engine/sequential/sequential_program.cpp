#include "sequential_program.hpp"

#include <algorithm>
#include <deque>
#include <functional>

#include "codegen/interp/interp.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"
#include "ir/analysis.hpp"
#include "ir/externals.hpp"
#include "ir/sequential_call.hpp"

namespace plait::engine {
namespace {

// A call whose code asks what a handler says to the signal that it has seen, and goes on if that is
// nothing.
struct HeedingCall : ir::SequentialCall {
  HeedingCall(const ir::CallArgs& call, Interruption& i, int worker)
      : ir::SequentialCall{call}, interruption(i) {
    args.stop = &i.flag(worker);
    if (worker != 0) return;
    returns = [](ir::SequentialCall& self) {
      return !static_cast<HeedingCall&>(self).interruption.goes_on(0);
    };
  }
  Interruption& interruption;
};

// Memory of one thread for the kernel's locals, of which few need none from the pool.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) {  // NOLINT: what is small is written before it is read
    if (bytes > sizeof small_) large_ = allocate(bytes);
  }
  void* get() { return large_ ? large_->data : small_; }

 private:
  alignas(64) std::byte small_[2048];
  Ref<Buffer> large_;
};

bool without_jit() { return config().jit == JitMode::Off || !jit::expected(); }

// What the helpers of the interpreter's code are.
void run_interpreter(const ir::CallArgs* args, std::int64_t begin, std::int64_t end, void* scratch,
                     const void* const* helpers) {
  interp::run(*static_cast<const interp::Program*>(helpers[0]), *args, begin, end, scratch);
}

bool is_fixed(const ir::Local& l) { return l.count.param == ir::kNoParam; }

}  // namespace

SequentialProgram::SequentialProgram(ir::Builder b, const std::vector<ir::Val>& results,
                                     std::vector<Address> addresses)
    : addresses_(std::move(addresses)),
      first_result_(b.kernel().buffers.size()),
      result_count_(results.size()) {
  for (const ir::Val v : results) b.store(b.buffer(b.type(v), true), {}, v);
  const ir::Val yes =
      b.number({.op = ir::Op::Const, .type = DType::Bool, .imm = scalar_bool(true)});
  b.store(b.buffer(DType::Bool, true), {}, yes);
  ir::Kernel k = b.finish();
  ir::verify(k);
  for (std::size_t n = 0; n < first_result_; ++n)
    if (!k.buffers[n].heap) arrays_.push_back(n);
  uses_heap_ = arrays_.size() < first_result_ ||
               std::any_of(
                   k.insts.begin(), k.insts.end(),
                   [](const ir::Inst& i) {
                     return i.op == ir::Op::External &&
                            ir::externals()[static_cast<std::size_t>(i.index)].has_effects;
                   });
  per_lane_ = ir::per_lane_locals(k);
  if (std::all_of(k.locals.begin(), k.locals.end(), is_fixed)) {
    const std::vector<std::int64_t> none(static_cast<std::size_t>(k.params));
    scratch_bytes_ = ir::scratch_bytes(k, per_lane_, none.data(), 1);
  }
  kernel_ = std::make_shared<const ir::Kernel>(std::move(k));
}

std::vector<ir::BufferParam> SequentialProgram::arrays() const {
  std::vector<ir::BufferParam> all;
  for (const std::size_t b : arrays_) all.push_back(kernel_->buffers[b]);
  return all;
}

std::size_t SequentialProgram::param_count() const {
  return static_cast<std::size_t>(kernel_->params) - addresses_.size();
}

const jit::Code* SequentialProgram::code() const {
  for (const Tier* t : {&full_, &quick_})
    for (const jit::CodeSlot& s : {std::cref(*t->background), std::cref(t->now)})
      if (const jit::Code* const found = s.get()) return found;
  return interpreter_.get();
}

bool SequentialProgram::optimised() const {
  const jit::Code* const found = code();
  return found && found->effort == jit::Effort::Full;
}

bool SequentialProgram::interpreted() const {
  const jit::Code* const found = code();
  return found ? found == interpreter_.get() : without_jit();
}

double SequentialProgram::seconds() const {
  const jit::Code* const found = code();
  return found ? found->seconds : 0;
}

bool SequentialProgram::compile(jit::Effort effort) {
  if (effort == jit::Effort::Quick ? ready() : optimised()) return true;
  if (without_jit()) {
    interpret();
    return true;
  }
  if (!jit::available() || !jit::supports(*kernel_, nullptr)) return ready();
  std::shared_ptr<const jit::Code> made = jit::compile(*kernel_, config().tier, effort);
  const std::lock_guard held(lock_);
  jit::CodeSlot& slot = tier(effort).now;
  if (!slot.get()) slot.set(std::move(made));
  return true;
}

void SequentialProgram::interpret() {
  const std::lock_guard held(lock_);
  if (interpreter_.get()) return;
  std::shared_ptr<const interp::Program> program = interp::prepare(*kernel_, config().tier);
  if (scratch_bytes_) {
    const std::vector<std::int64_t> none(static_cast<std::size_t>(kernel_->params));
    interpreter_scratch_ = interp::scratch_bytes(*program, {nullptr, none.data(), nullptr});
  }
  jit::Code code{.fn = run_interpreter, .helpers = {program.get()}, .bytes = bytes_of(*program)};
  code.memory = std::const_pointer_cast<interp::Program>(program);
  interpreter_.set(std::make_shared<const jit::Code>(std::move(code)));
}

void SequentialProgram::compile_async(jit::Effort effort) {
  if (without_jit()) return interpret();
  if (effort == jit::Effort::Full && optimised()) return;
  const std::shared_ptr<jit::CodeSlot>& slot = tier(effort).background;
  if (!slot->claim()) return;
  jit::compile_async(kernel_, config().tier, slot, Background::Priority::Normal, effort);
}

// What the code of a run is given: the memory of all buffers, all parameters, and the arguments.
class SequentialProgram::Frame {
 public:
  Frame(const SequentialProgram& p, const Inputs& in, Scalar* results)
      : buffers_(p.kernel_->buffers.size()),
        params_(p.addresses_.empty() ? 0 : static_cast<std::size_t>(p.kernel_->params)),
        given_(in.params),
        args_(in.args) {
    const std::vector<ir::BufferParam>& all = p.kernel_->buffers;
    void** const memory = buffers_.get();
    std::fill_n(memory, p.first_result_, nullptr);  // where heaps begin
    for (std::size_t n = 0; n < p.arrays_.size(); ++n) memory[p.arrays_[n]] = in.arrays[n];
    for (std::size_t n = 0; n < p.result_count_; ++n) {
      results[n].dtype = all[p.first_result_ + n].dtype;
      memory[p.first_result_ + n] = results[n].bytes;
    }
    memory[all.size() - 1] = &complete_;
    if (p.addresses_.empty()) return;
    auto address = p.addresses_.begin();
    const std::int64_t* next = in.params;
    for (std::size_t n = 0; n < static_cast<std::size_t>(p.kernel_->params); ++n)
      params_.get()[n] = address != p.addresses_.end() && address->param == n
                             ? reinterpret_cast<std::intptr_t>(memory[(address++)->buffer])
                             : *next++;
    given_ = params_.get();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const std::int64_t* params() const { return given_; }
  bool complete() const { return complete_; }

  void run(const jit::Code& code, Scratch& scratch, Heap* heap, Interruption& i, int worker) {
    HeedingCall call({buffers_.get(), given_, args_}, i, worker);
    std::optional<Heap::Use> use;
    if (heap) use.emplace(*heap);
    code.fn(&call.args, 0, 1, scratch.get(), code.helpers.data());
  }

 private:
  // Room for as many, which is no work to make where they are few.
  template <class T>
  class Room {
   public:
    explicit Room(std::size_t count) {  // NOLINT: who asks for it fills it
      if (count > std::size(few_)) many_.resize(count);
    }
    T* get() { return many_.empty() ? few_ : many_.data(); }

   private:
    T few_[64];
    std::vector<T> many_;
  };

  Room<void*> buffers_;
  Room<std::int64_t> params_;  // where some are addresses
  const std::int64_t* given_;
  const Scalar* args_;
  bool complete_ = false;
};

std::size_t SequentialProgram::scratch_bytes(const jit::Code& code,
                                             const std::int64_t* params) const {
  if (&code == interpreter_.get())
    return scratch_bytes_
               ? interpreter_scratch_
               : interp::scratch_bytes(*static_cast<const interp::Program*>(code.helpers[0]),
                                       {nullptr, params, nullptr});
  return scratch_bytes_ ? *scratch_bytes_ : ir::scratch_bytes(*kernel_, per_lane_, params, 1);
}

void SequentialProgram::run(const Inputs& in, Scalar* results, Heap* heap,
                            Interrupts interrupts) const {
  Frame frame(*this, in, results);
  const jit::Code& best = *code();
  Scratch scratch(scratch_bytes(best, frame.params()));
  std::optional<Heap> own;
  if (uses_heap_ && !heap) heap = &own.emplace();
  Interruption interruption(interrupts == Interrupts::Heard);
  frame.run(best, scratch, heap, interruption, 0);
  if (!interruption.goes_on(0) || !frame.complete()) throw Interrupted("interrupted");
}

void SequentialProgram::run_parts(void* const* arrays, const std::int64_t* params,
                                  std::span<Part> parts, double seconds) const {
  std::deque<Frame> frames;
  for (Part& part : parts) {
    part.results.resize(result_count_);
    if (uses_heap_) part.heap = std::make_unique<Heap>();
    frames.emplace_back(*this, Inputs{arrays, params, part.args.data()}, part.results.data());
  }
  const jit::Code& best = *code();
  const int threads = parts.size() > 1 ? team_threads(seconds) : 1;
  std::deque<Scratch> scratch;
  for (int t = 0; t < threads && !frames.empty(); ++t)
    scratch.emplace_back(scratch_bytes(best, frames[0].params()));
  Interruption interruption(true);
  const auto run = [&](std::int64_t begin, std::int64_t end, int worker) {
    const auto behind = static_cast<std::size_t>(end);
    for (auto at = static_cast<std::size_t>(begin); at < behind && !interruption.stopped(); ++at)
      frames[at].run(best, scratch[static_cast<std::size_t>(worker)], parts[at].heap.get(),
                     interruption, worker);
    return interruption.goes_on(worker);
  };
  const auto count = static_cast<std::int64_t>(parts.size());
  if (count == 1)
    run(0, 1, 0);
  else
    run_parallel({.extent = count, .seconds = seconds, .threads = threads}, run);
  if (interruption.stopped() ||
      !std::all_of(frames.begin(), frames.end(), [](const Frame& f) { return f.complete(); }))
    throw Interrupted("interrupted");
}

}  // namespace plait::engine
