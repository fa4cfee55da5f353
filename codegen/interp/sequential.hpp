// Sequential kernels (ir.hpp): a list of steps, one after the other, which jump. A step reads and
// writes slots, of 16 bytes, one for each value; constants, parameters and variables have slots,
// too.
#pragma once
#include <utility>
#include <vector>

#include "folds.hpp"
#include "ir/externals.hpp"

namespace plait::interp {

using Slot = std::int32_t;
inline constexpr std::size_t kSlotBytes = sizeof(Scalar::bytes);

struct SequentialFrame {
  char* slots;
  char** memory;  // where buffers begin, and work memory behind them
  const ir::CallArgs& args;
  const Fold* folds;
  const Frame& registers;  // the slots, as folds know them

  char* at(Slot s) const { return slots + static_cast<std::size_t>(s) * kSlotBytes; }
  template <class T>
  T get(Slot s) const {
    T v;
    std::memcpy(&v, at(s), sizeof v);
    return v;
  }
  template <class T>
  void set(Slot s, T v) const {
    std::memcpy(at(s), &v, sizeof v);
  }
};

struct Step;
// Runs the step; returns the next one, nullptr at the end.
using StepFn = const Step* (*)(const SequentialFrame&, const Step*);
struct Step {
  StepFn run = nullptr;
  Slot out = 0;
  Slot in[3] = {};
  std::int32_t index = 0;  // of a memory or a fold
  std::int32_t jump = 0;   // how many steps on
  loops::LoopFn loop = nullptr;
  ScatterFn scatter = nullptr;
  const ir::ExternalFunction* external = nullptr;
};

// How the steps do it; `out` and `in` are what an instruction defines and reads.
namespace steps {

StepFn operation(OpId fn, DType in);  // of what is common; nullptr: by the precompiled loop
StepFn conversion(DType from, DType to);
bool same_bits(DType from, DType to);         // needs no step
StepFn branch(OpId fn, DType in, bool when);  // jumps where a comparison is that; nullptr: in two
StepFn loop(int arity);
StepFn move(DType t);
StepFn overflow(OpId fn);
StepFn load(DType t);   // out = memory[index] at in[0] + in[1] * in[2] bytes
StepFn store(DType t);  // there, of `out`
const Step* scatter(const SequentialFrame& f, const Step* s);       // the same of a ScatterFn
const Step* multiply_add(const SequentialFrame& f, const Step* s);  // in[0] + in[1] * in[2]
// Index in[0] of in[1] elements, a negative one from the end.
const Step* index(const SequentialFrame& f, const Step* s);
const Step* external(const SequentialFrame& f, const Step* s);
const Step* jump(const SequentialFrame& f, const Step* s);
const Step* jump_if(const SequentialFrame& f, const Step* s);  // in[0]
const Step* jump_if_not(const SequentialFrame& f, const Step* s);
// `out` counts from in[0] to in[1]: jumps where that is nothing; jumps where there is more.
const Step* enter(const SequentialFrame& f, const Step* s);
const Step* next(const SequentialFrame& f, const Step* s);
const Step* again(const SequentialFrame& f, const Step* s);  // a loop that repeats
// Of a loop that counts so.
const Step* start_fold(const SequentialFrame& f, const Step* s);
const Step* fold(const SequentialFrame& f, const Step* s);
const Step* end(const SequentialFrame& f, const Step* s);

}  // namespace steps

// Parameters have the first slots, then arguments, then variables.
class Sequential {
 public:
  std::vector<Step> steps;
  std::vector<Fold> folds;
  std::vector<std::pair<Slot, Scalar>> constants;
  std::int32_t params = 0, arguments = 0, variables = 0, slots = 0, buffers = 0, trees = 0;
  std::vector<ir::Local> work;  // memory
};

Sequential compile_sequential(const ir::Kernel& k, CpuTier tier);
std::size_t bytes_of(const Sequential& p);
std::size_t scratch_bytes(const Sequential& p, const ir::CallArgs& args);
void run(const Sequential& p, const ir::CallArgs& args, void* scratch);

}  // namespace plait::interp
