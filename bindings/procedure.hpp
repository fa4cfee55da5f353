// _plait.Procedure: a sequential kernel (src/ir/ir.hpp), built one instruction at a time, compiled
// and run on arrays. plait.jit makes one of a Python function with loops.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/llvm/jit.hpp"
#include "core/heap.hpp"
#include "engine/devices/device.hpp"
#include "ir/builder.hpp"
#include "tracer/array.hpp"

namespace plait::py {

// Values, variables, buffers and loops are numbers to Python. What is wrong raises, at the call or
// in finish().
class Procedure {
 public:
  using Val = std::int64_t;
  using Index = std::int64_t;

  explicit Procedure(const std::string& name);

  Index buffer(const pybind11::object& dtype, bool written);
  // Memory that the procedure gets while it runs: its offsets are addresses. No array of a run.
  Index heap(const pybind11::object& dtype);
  Val param();
  // Where an array begins, as heap buffers have it: a parameter that a run knows by itself.
  Val address(Index buffer);
  Val arg(const pybind11::object& dtype);
  Index local(const pybind11::object& dtype);
  Val get(Index local);
  void set(Index local, Val v);
  Val constant(const pybind11::object& dtype, const pybind11::object& number);
  std::string type(Val v);
  Val apply(const std::string& ufunc, const pybind11::args& values);
  Val cast(Val v, const pybind11::object& dtype);
  Val load(Index buffer, Val offset);
  void store(Index buffer, Val offset, Val v);
  // Of a function of ir/externals.hpp.
  Val call(const std::string& function, const pybind11::args& values);
  Val overflows(const std::string& ufunc, Val a, Val b);
  std::pair<Index, Val> begin_count(Val begin, Val end);
  // Folds `kind` (sum, max, argmin ...) of what is computed for each number, in NumPy's order.
  std::pair<Index, Val> begin_fold(Val begin, Val end);
  Val end_fold(const std::string& kind, Val v);
  Index begin_if(std::optional<Val> condition);
  void otherwise(bool rare);  // which is hardly reached
  Index begin_repeat();
  void end(std::optional<Val> condition);
  void leave(Index loop, std::optional<Val> condition);
  // The index from 0 on, where a negative one counts from the end; whether there is no such
  // element.
  std::pair<Val, Val> index(Val i, Val extent);
  void result(Val v);

  void finish();
  std::string text() const;
  // Now: whether there is code, of full effort where that is not to be quick. Without the JIT the
  // interpreter runs it, as code of full effort.
  bool compile(bool quick);
  // In the background: code that is soon there, and the same of full effort.
  void compile_async();
  void optimise_async();
  bool ready() const;        // whether there is code
  bool optimised() const;    // of full effort
  bool interpreted() const;  // whether the interpreter runs it, or will
  double seconds() const;    // of the compilation
  double ran() const {
    return ran_;
  }  // seconds of the machine code in run() or run_parts(), the last time
  // Its results, and where it uses a heap that one at last.
  pybind11::tuple run(const pybind11::sequence& arrays, const pybind11::sequence& params,
                      const pybind11::sequence& args);
  // Runs by the team, in any order; each part has first arguments of its own. The results of all.
  pybind11::list run_parts(const pybind11::sequence& arrays, const pybind11::sequence& params,
                           const pybind11::sequence& args, const pybind11::sequence& parts,
                           double seconds);
  // Of a procedure whose first arguments are what is left of a range, on arrays of a device: a
  // thread runs an iteration. Its second result is where an iteration fails, or 0; none but those
  // from `first_left` on are given back, as the last iteration has left them, the others as 0.
  // `shared`: a loop that begin_count() gave, of which threads may share an iteration's (see
  // ir::Iterations), or -1. None where an iteration fails: what the arrays have then is any of what
  // was to be written.
  pybind11::object run_on(const std::string& device, const pybind11::sequence& arrays,
                          const pybind11::sequence& params, const pybind11::sequence& args,
                          std::int64_t count, std::size_t first_left, Index shared);
  // Why it runs on the host alone; empty where it does not.
  std::string why_not_on(const std::string& device, std::size_t first_left, Index shared);
  // The same of one run, for who has checked what it gives: arrays of the right dtypes and numbers.
  // `heap` is its heap, where it has one. The memory of `plaits` goes to pointers[at]. False:
  // may_run, which is asked when all pointers are known, says no. `parked`: without the GIL while
  // the code runs.
  struct Memory {
    std::vector<void*> pointers;
    std::vector<tracer::Array> plaits;
    std::vector<std::size_t> at;
  };
  bool run_once(Memory& arrays, const std::vector<std::int64_t>& params,
                const std::vector<Scalar>& args, const std::function<bool()>& may_run,
                std::vector<Scalar>& results, std::unique_ptr<Heap>& heap, bool parked) const;
  // The same for calls from C, with the GIL or without it, which nothing interrupts: of memory, the
  // parameters that a run is given, and numbers. `results` has room for result_count() of them.
  void run_natively(void* const* arrays, const std::int64_t* params, const Scalar* args,
                    Scalar* results) const;
  // That it can be: there is code, of full effort, and there are not too many of anything.
  bool runs_natively() const;
  std::size_t array_count() const { return arrays_.size(); }
  std::size_t param_count() const;
  std::size_t result_count() const { return results_.size(); }
  const std::vector<DType>& arguments() const { return kernel().scalars; }
  static constexpr std::size_t kMostNative = 64;  // buffers, parameters, results
  // Room for as many numbers, which is no work to make.
  struct Scalars {
    Scalars() {}  // NOLINT
    union {
      Scalar all[kMostNative];
    };
  };

 private:
  const jit::Code* machine_code() const;
  void interpret();
  std::size_t scratch_of(const jit::Code& code) const;
  ir::Builder& builder();  // of a procedure that is not finished
  const ir::Kernel& kernel() const;
  const ir::Inst& value(Val v);
  std::vector<ir::Val> operands(const pybind11::args& values);
  Val push(const ir::Inst& i);
  std::int32_t known_buffer(Index buffer);
  Index new_buffer(const ir::BufferParam& b);
  // The memory of all buffers of a run.
  void point(void** all, const std::vector<void*>& arrays, std::vector<Scalar>& results,
             bool* complete) const;
  std::vector<void*> pointers(const std::vector<void*>& arrays, std::vector<Scalar>& results,
                              bool* complete) const;
  // All parameters of a run: those that it is given, and the addresses of its arrays.
  std::vector<std::int64_t> numbers(const std::vector<std::int64_t>& given,
                                    void* const* pointers) const;
  const ir::Local& known_local(Index local);
  ir::Val condition(std::optional<Val> v);
  struct RunNumbers {
    std::vector<std::int64_t> params;
    std::vector<Scalar> args;
  };
  RunNumbers run_numbers(const pybind11::sequence& arrays, const pybind11::sequence& params,
                         const pybind11::sequence& args) const;
  engine::DeviceKernel* on_device(DeviceId id, std::size_t first_left, Index shared,
                                  std::string* why);

  std::string name_;
  std::optional<ir::Builder> builder_;
  std::shared_ptr<const ir::Kernel> kernel_;
  std::vector<ir::Val> results_;
  // By compile(). A run may be in the quick one when the other comes.
  std::shared_ptr<const jit::Code> quick_code_, full_code_;
  // Of the interpreter, which is called as machine code is.
  std::shared_ptr<const jit::Code> interpreted_;
  std::size_t interpreted_scratch_ = 0;
  double ran_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> addresses_;  // parameters, buffers
  std::vector<bool> per_lane_;                                  // of the kernel's locals
  std::size_t first_result_ = 0;     // buffer of the results and of what says that it ended
  std::vector<std::size_t> arrays_;  // buffers that run() is given
  std::vector<std::size_t> heap_buffers_;
  std::size_t scratch_bytes_ = 0;
  bool uses_heap_ = false;
  std::shared_ptr<jit::CodeSlot> full_ = std::make_shared<jit::CodeSlot>();
  std::map<DeviceId, std::shared_ptr<engine::DeviceKernel>> device_kernels_;
  std::shared_ptr<jit::CodeSlot> quick_ = std::make_shared<jit::CodeSlot>();
};

void add_procedures(pybind11::module_& m);

}  // namespace plait::py
