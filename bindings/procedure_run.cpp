// Compiling a procedure and running it on arrays.
#include "ndarray.hpp"  // Python's headers first

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "codegen/interp/interp.hpp"
#include "core/config.hpp"
#include "core/heap.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"
#include "functions.hpp"
#include "interrupt.hpp"
#include "ir/analysis.hpp"
#include "ir/sequential_call.hpp"
#include "loop_span.hpp"
#include "procedure.hpp"
#include "procedure_memory.hpp"
#include "tracer/context.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

// Runs of one procedure on the same arrays: what each is given, gives back, and whether it came to
// its end.
struct Runs {
  std::vector<std::vector<Scalar>> arguments;
  std::vector<std::vector<void*>> pointers;
  std::vector<std::unique_ptr<Heap>> heaps;  // none: they use none
  std::unique_ptr<bool[]> complete;
  double seconds = 0;  // that all of them take on one thread, roughly
};

Scalar packed(const pb::handle& a, DType t) {
  const std::optional<Scalar> s = pack(a.ptr(), t);
  if (!s) throw DTypeError("an argument is not a number of its dtype");
  return *s;
}

// A call whose code asks what a handler says to the signal that it has seen, and goes on if that is
// nothing.
struct HeedingCall : ir::SequentialCall {
  HeedingCall(const ir::CallArgs& call, engine::Interruption& i, int worker)
      : ir::SequentialCall{call}, interruption(i) {
    args.stop = &i.flag(worker);
    if (worker != 0) return;
    returns = [](ir::SequentialCall& self) {
      return !static_cast<HeedingCall&>(self).interruption.goes_on(0);
    };
  }
  engine::Interruption& interruption;
};

void run_code(const jit::Code& code, std::size_t scratch_bytes,
              const std::vector<std::int64_t>& numbers, Runs& runs) {
  const auto n = static_cast<std::int64_t>(runs.arguments.size());
  const int threads = n > 1 ? engine::team_threads(runs.seconds) : 1;
  std::vector<Ref<Buffer>> scratch;
  for (int t = 0; t < threads; ++t) scratch.push_back(allocate(scratch_bytes));
  const GilParked released;
  engine::Interruption interruption(true);
  const auto run = [&](std::int64_t begin, std::int64_t end, int worker) {
    const auto behind = static_cast<std::size_t>(end);
    for (auto at = static_cast<std::size_t>(begin); at < behind && !interruption.stopped(); ++at) {
      HeedingCall call({runs.pointers[at].data(), numbers.data(), runs.arguments[at].data()},
                       interruption, worker);
      std::optional<Heap::Use> use;
      if (!runs.heaps.empty()) use.emplace(*runs.heaps[at]);
      code.fn(&call.args, 0, 1, scratch[static_cast<std::size_t>(worker)]->data,
              code.helpers.data());
    }
    return interruption.goes_on(worker);
  };
  if (n == 1)
    run(0, 1, 0);
  else
    engine::run_parallel({.extent = n, .seconds = runs.seconds, .threads = threads}, run);
  if (interruption.stopped() ||
      !std::all_of(&runs.complete[0], &runs.complete[0] + n, std::identity()))
    throw engine::Interrupted("interrupted");
}

}  // namespace

const jit::Code* Procedure::machine_code() const {
  for (const jit::Code* c : {full_->get(), full_code_.get(), quick_code_.get(), quick_->get()})
    if (c) return c;
  return interpreted_.get();
}

namespace {

bool is_interpreted() { return config().jit == JitMode::Off || !jit::expected(); }

// What the helpers of a procedure's interpreter are.
void run_interpreter(const ir::CallArgs* args, std::int64_t begin, std::int64_t end, void* scratch,
                     const void* const* helpers) {
  interp::run(*static_cast<const interp::Program*>(helpers[0]), *args, begin, end, scratch);
}

}  // namespace

void Procedure::interpret() {
  if (interpreted_) return;
  std::shared_ptr<const interp::Program> program = interp::prepare(kernel(), config().tier);
  const std::vector<std::int64_t> none(static_cast<std::size_t>(kernel_->params));
  interpreted_scratch_ = interp::scratch_bytes(*program, {nullptr, none.data(), nullptr});
  jit::Code code{.fn = run_interpreter, .helpers = {program.get()}, .bytes = bytes_of(*program)};
  code.memory = std::const_pointer_cast<interp::Program>(program);
  interpreted_ = std::make_shared<const jit::Code>(std::move(code));
}

std::size_t Procedure::scratch_of(const jit::Code& code) const {
  return &code == interpreted_.get() ? interpreted_scratch_ : scratch_bytes_;
}

bool Procedure::ready() const { return machine_code(); }

bool Procedure::optimised() const { return ready() && machine_code()->effort == jit::Effort::Full; }

bool Procedure::interpreted() const {
  return ready() ? machine_code() == interpreted_.get() : is_interpreted();
}

double Procedure::seconds() const { return ready() ? machine_code()->seconds : 0; }

bool Procedure::compile(bool quick) {
  const ir::Kernel& k = kernel();
  if (quick ? ready() : optimised()) return true;
  if (is_interpreted()) {
    interpret();
    return true;
  }
  std::shared_ptr<const jit::Code> made;
  without_gil([&] {
    if (jit::available() && jit::supports(k, nullptr))
      made = jit::compile(k, config().tier, quick ? jit::Effort::Quick : jit::Effort::Full);
  });
  std::shared_ptr<const jit::Code>& place = quick ? quick_code_ : full_code_;
  if (!place) place = std::move(made);
  return ready();
}

namespace {
void ask(const std::shared_ptr<const ir::Kernel>& k, const std::shared_ptr<jit::CodeSlot>& slot,
         jit::Effort effort) {
  if (slot->claim())
    jit::compile_async(k, config().tier, slot, Background::Priority::Normal, effort);
}
}  // namespace

void Procedure::compile_async() {
  (void)kernel();
  if (is_interpreted()) return interpret();
  ask(kernel_, quick_, jit::Effort::Quick);
}

void Procedure::optimise_async() {
  (void)kernel();
  if (is_interpreted()) return interpret();
  if (!optimised()) ask(kernel_, full_, jit::Effort::Full);
}

void Procedure::point(void** all, const std::vector<void*>& arrays, std::vector<Scalar>& results,
                      bool* complete) const {
  const std::vector<ir::BufferParam>& buffers = kernel_->buffers;
  for (std::size_t n = 0; n < arrays.size(); ++n) all[arrays_[n]] = arrays[n];
  results.resize(results_.size());
  for (std::size_t n = 0; n < results.size(); ++n) {
    results[n].dtype = buffers[first_result_ + n].dtype;
    all[first_result_ + n] = results[n].bytes;
  }
  all[buffers.size() - 1] = complete;
}

std::vector<void*> Procedure::pointers(const std::vector<void*>& arrays,
                                       std::vector<Scalar>& results, bool* complete) const {
  std::vector<void*> all(kernel_->buffers.size());
  point(all.data(), arrays, results, complete);
  return all;
}

std::vector<std::int64_t> Procedure::numbers(const std::vector<std::int64_t>& given,
                                             void* const* pointers) const {
  std::vector<std::int64_t> all = given;
  for (const auto& [param, buffer] : addresses_)  // in ascending order
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(param),
               reinterpret_cast<std::intptr_t>(pointers[buffer]));
  return all;
}

pb::tuple Procedure::run(const pb::sequence& arrays, const pb::sequence& params,
                         const pb::sequence& args) {
  return run_parts(arrays, params, args, pb::tuple(), 0)[0];
}

Procedure::RunNumbers Procedure::run_numbers(const pb::sequence& arrays, const pb::sequence& params,
                                             const pb::sequence& args) const {
  const ir::Kernel& k = kernel();
  check_count(arrays, arrays_.size(), "arrays");
  check_count(params, static_cast<std::size_t>(k.params) - addresses_.size(), "parameters");
  check_count(args, k.scalars.size(), "arguments");
  RunNumbers all;
  for (const pb::handle& p : params) all.params.push_back(integer(p.ptr()));
  for (const pb::handle& a : args) all.args.push_back(packed(a, k.scalars[all.args.size()]));
  return all;
}

pb::list Procedure::run_parts(const pb::sequence& arrays, const pb::sequence& params,
                              const pb::sequence& args, const pb::sequence& parts, double seconds) {
  const ir::Kernel& k = kernel();
  if (!ready() && !compile(false))
    throw CompileError("procedure " + name_ + " cannot be compiled here");

  const RunNumbers given = run_numbers(arrays, params, args);
  Runs runs{.seconds = seconds};
  for (const pb::handle& part : parts) {
    std::vector<Scalar>& own = runs.arguments.emplace_back(given.args);
    const auto first = pb::reinterpret_borrow<pb::sequence>(part);
    for (std::size_t n = 0; n < first.size() && n < own.size(); ++n)
      own[n] = packed(first[n], k.scalars[n]);
  }
  if (runs.arguments.empty()) runs.arguments.push_back(given.args);
  const std::size_t count = runs.arguments.size();
  std::vector<std::vector<Scalar>> results(count);
  runs.complete = std::make_unique<bool[]>(count);
  if (uses_heap_)
    for (std::size_t n = 0; n < count; ++n) runs.heaps.push_back(std::make_unique<Heap>());
  {
    std::vector<ir::BufferParam> buffers;
    std::vector<void*> places;
    std::vector<std::size_t> at;  // of those that are Plait's
    pb::list plaits;
    for (const pb::handle& a : arrays) {
      const ir::BufferParam& b = k.buffers[arrays_[places.size()]];
      places.push_back(unaligned_memory(a.ptr(), b));
      if (places.back()) continue;
      at.push_back(places.size() - 1);
      buffers.push_back(b);
      plaits.append(a);
    }
    const ArrayMemory memory(arrays_of(plaits, buffers), buffers);
    for (std::size_t n = 0; n < at.size(); ++n) places[at[n]] = memory.pointers()[n];
    for (std::size_t n = 0; n < count; ++n)
      runs.pointers.push_back(pointers(places, results[n], &runs.complete[n]));
    const auto begun = std::chrono::steady_clock::now();
    const LoopSpan span;
    const jit::Code& code = *machine_code();
    run_code(code, scratch_of(code), numbers(given.params, runs.pointers[0].data()), runs);
    ran_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }
  pb::list all;
  for (std::size_t part = 0; part < count; ++part) {
    const std::vector<Scalar>& of_part = results[part];
    pb::tuple found(of_part.size() + (uses_heap_ ? 1 : 0));
    for (std::size_t n = 0; n < of_part.size(); ++n)
      found[n] = pb::reinterpret_steal<pb::object>(check(python_number(of_part[n])));
    if (uses_heap_) found[of_part.size()] = pb::cast(std::move(runs.heaps[part]));
    all.append(std::move(found));
  }
  return all;
}

bool Procedure::run_once(Memory& arrays, const std::vector<std::int64_t>& params,
                         const std::vector<Scalar>& args, const std::function<bool()>& may_run,
                         std::vector<Scalar>& results, std::unique_ptr<Heap>& heap,
                         bool parked) const {
  const ir::Kernel& k = kernel();
  const jit::Code& code = *machine_code();
  std::optional<ArrayMemory> memory;
  if (!arrays.plaits.empty()) {
    std::vector<ir::BufferParam> buffers;
    for (const std::size_t at : arrays.at) buffers.push_back(k.buffers[arrays_[at]]);
    memory.emplace(arrays.plaits, buffers);
    for (std::size_t n = 0; n < arrays.at.size(); ++n)
      arrays.pointers[arrays.at[n]] = memory->pointers()[n];
  }
  if (!may_run()) return false;
  bool complete = false;
  void* few[kMostNative] = {};
  std::vector<void*> many(k.buffers.size() > kMostNative ? k.buffers.size() : 0);
  void** const memories = many.empty() ? few : many.data();
  point(memories, arrays.pointers, results, &complete);
  std::vector<std::int64_t> all;
  if (!addresses_.empty()) all = numbers(params, memories);
  const std::int64_t* const given = addresses_.empty() ? params.data() : all.data();
  constexpr std::size_t kSmall = 2048;
  alignas(64) std::byte small[kSmall];
  const std::size_t scratch = scratch_of(code);
  const Ref<Buffer> large = scratch > kSmall ? allocate(scratch) : Ref<Buffer>();
  std::optional<GilParked> released;
  if (parked) released.emplace();
  engine::Interruption interruption(true);
  HeedingCall call({memories, given, args.data()}, interruption, 0);
  std::optional<Heap::Use> use;
  if (uses_heap_) use.emplace(*(heap = std::make_unique<Heap>()));
  code.fn(&call.args, 0, 1, large ? large->data : small, code.helpers.data());
  if (!interruption.goes_on(0) || !complete) throw engine::Interrupted("interrupted");
  return true;
}

std::size_t Procedure::param_count() const {
  return static_cast<std::size_t>(kernel().params) - addresses_.size();
}

bool Procedure::runs_natively() const {
  return optimised() && kernel_->buffers.size() <= kMostNative &&
         static_cast<std::size_t>(kernel_->params) <= kMostNative;
}

void Procedure::run_natively(void* const* arrays, const std::int64_t* params, const Scalar* args,
                             Scalar* results) const {
  const ir::Kernel& k = *kernel_;
  const jit::Code& code = *machine_code();
  void* memories[kMostNative];
  for (const std::size_t heap : heap_buffers_) memories[heap] = nullptr;
  for (std::size_t n = 0; n < arrays_.size(); ++n) memories[arrays_[n]] = arrays[n];
  for (std::size_t n = 0; n < results_.size(); ++n) {
    results[n].dtype = k.buffers[first_result_ + n].dtype;
    memories[first_result_ + n] = results[n].bytes;
  }
  bool complete = false;
  memories[k.buffers.size() - 1] = &complete;
  std::int64_t all[kMostNative];
  auto address = addresses_.begin();  // in ascending order
  for (std::size_t n = 0; n < static_cast<std::size_t>(k.params); ++n)
    all[n] = address != addresses_.end() && address->first == n
                 ? reinterpret_cast<std::intptr_t>(memories[(address++)->second])
                 : *params++;
  constexpr std::size_t kSmall = 2048;
  alignas(64) std::byte small[kSmall];
  const std::size_t scratch = scratch_of(code);
  const Ref<Buffer> large = scratch > kSmall ? allocate(scratch) : Ref<Buffer>();
  ir::SequentialCall call{{memories, all, args}};
  std::optional<Heap> heap;
  std::optional<Heap::Use> use;
  if (uses_heap_) use.emplace(heap.emplace());
  code.fn(&call.args, 0, 1, large ? large->data : small, code.helpers.data());
}

}  // namespace plait::py
