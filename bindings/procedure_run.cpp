// Running a procedure on arrays of Python's.
#include "ndarray.hpp"  // Python's headers first

#include <chrono>
#include <memory>

#include "engine/sequential/array_memory.hpp"
#include "functions.hpp"
#include "interrupt.hpp"
#include "loop_span.hpp"
#include "procedure.hpp"
#include "tracer/device.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

using engine::SequentialProgram;

Scalar packed(const pb::handle& a, DType t) {
  const std::optional<Scalar> s = pack(a.ptr(), t);
  if (!s) throw DTypeError("an argument is not a number of its dtype");
  return *s;
}

void check_count(const pb::sequence& given, std::size_t wanted, const char* what) {
  if (given.size() != wanted)
    throw ValueError(std::to_string(given.size()) + " " + what + " for " + std::to_string(wanted));
}

// What a run is given beside arrays.
struct RunNumbers {
  std::vector<std::int64_t> params;
  std::vector<Scalar> args;
};
RunNumbers run_numbers(const SequentialProgram& p, const pb::sequence& arrays,
                       const pb::sequence& params, const pb::sequence& args) {
  check_count(arrays, p.array_count(), "arrays");
  check_count(params, p.param_count(), "parameters");
  check_count(args, p.arguments().size(), "arguments");
  RunNumbers all;
  for (const pb::handle& n : params) all.params.push_back(integer(n.ptr()));
  for (const pb::handle& a : args) all.args.push_back(packed(a, p.arguments()[all.args.size()]));
  return all;
}

const tracer::Array& array_for(const ir::BufferParam& b, PyObject* o) {
  if (!is_array(o) || as_array(o)->host) throw DTypeError("a procedure takes arrays of plait");
  const tracer::Array& a = as_array(o)->array;
  if (a.dtype != b.dtype)
    throw DTypeError("array of " + std::string(name(a.dtype)) + " for a buffer of " +
                     std::string(name(b.dtype)));
  if (b.written && !a.writeable) throw ValueError("assignment destination is read-only");
  return a;
}

// NumPy's memory of an array of theirs, whose elements are not aligned; nullptr of any other.
void* unaligned_memory(PyObject* o, const ir::BufferParam& b) {
  if (!is_array(o) || !as_array(o)->host) return nullptr;
  auto* const a = reinterpret_cast<PyArrayObject*>(as_array(o)->host);
  if (native_dtype(PyArray_DESCR(a)) != b.dtype || (b.written && !PyArray_ISWRITEABLE(a)))
    return nullptr;
  return PyArray_DATA(a);
}

// The memory of a run's arrays while this lives: Plait's, and NumPy's that is not aligned.
class Places {
 public:
  Places(const SequentialProgram& p, const pb::sequence& arrays) {
    std::vector<ir::BufferParam> buffers;
    std::vector<tracer::Array> plaits;
    std::vector<std::size_t> at;
    for (const pb::handle& a : arrays) {
      const ir::BufferParam& b = p.array(all_.size());
      all_.push_back(unaligned_memory(a.ptr(), b));
      if (all_.back()) continue;
      at.push_back(all_.size() - 1);
      buffers.push_back(b);
      plaits.push_back(array_for(b, a.ptr()));
    }
    without_gil([&] { memory_.emplace(plaits, buffers); });
    for (std::size_t n = 0; n < at.size(); ++n) all_[at[n]] = memory_->pointers()[n];
  }
  void* const* get() const { return all_.data(); }

 private:
  std::vector<void*> all_;
  std::optional<engine::ArrayMemory> memory_;
};

pb::object number(const Scalar& s) {
  return pb::reinterpret_steal<pb::object>(check(python_number(s)));
}

pb::tuple results_of(SequentialProgram::Part& part) {
  const std::size_t count = part.results.size();
  pb::tuple all(count + (part.heap ? 1 : 0));
  for (std::size_t n = 0; n < count; ++n) all[n] = number(part.results[n]);
  if (part.heap) all[count] = pb::cast(std::move(part.heap));
  return all;
}

}  // namespace

bool Procedure::compile(bool quick) {
  bool made = false;
  engine::SequentialProgram& p = program();
  without_gil([&] { made = p.compile(quick ? jit::Effort::Quick : jit::Effort::Full); });
  return made;
}

pb::tuple Procedure::run(const pb::sequence& arrays, const pb::sequence& params,
                         const pb::sequence& args) {
  return run_parts(arrays, params, args, pb::tuple(), 0)[0];
}

pb::list Procedure::run_parts(const pb::sequence& arrays, const pb::sequence& params,
                              const pb::sequence& args, const pb::sequence& parts, double seconds) {
  const SequentialProgram& p = program();
  if (!p.ready() && !compile(false))
    throw CompileError("procedure " + name_ + " cannot be compiled here");
  const RunNumbers given = run_numbers(p, arrays, params, args);
  std::vector<SequentialProgram::Part> runs;
  for (const pb::handle& part : parts) {
    std::vector<Scalar>& own = runs.emplace_back(SequentialProgram::Part{given.args}).args;
    const auto first = pb::reinterpret_borrow<pb::sequence>(part);
    for (std::size_t n = 0; n < first.size() && n < own.size(); ++n)
      own[n] = packed(first[n], p.arguments()[n]);
  }
  if (runs.empty()) runs.push_back({given.args});
  {
    const Places places(p, arrays);
    const auto begun = std::chrono::steady_clock::now();
    const LoopSpan span;
    const GilParked released;
    p.run_parts(places.get(), given.params.data(), runs, seconds);
    ran_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }
  pb::list all;
  for (SequentialProgram::Part& part : runs) all.append(results_of(part));
  return all;
}

pb::object Procedure::run_on(const std::string& device, const pb::sequence& arrays,
                             const pb::sequence& params, const pb::sequence& args,
                             std::int64_t count, std::size_t first_left, std::int32_t shared) {
  SequentialProgram& p = program();
  const DeviceId id = devices().open(device);
  const RunNumbers numbers = run_numbers(p, arrays, params, args);
  std::vector<tracer::Array> given;
  for (const pb::handle& a : arrays) given.push_back(array_for(p.array(given.size()), a.ptr()));
  std::optional<std::vector<Scalar>> results;
  without_gil([&] {
    results = p.run_on(id, given, numbers.params.data(), numbers.args.data(), count,
                       {first_left, shared});
  });
  if (!results) return pb::none();
  pb::list left;
  for (const Scalar& s : *results) left.append(number(s));
  return left;
}

std::string Procedure::why_not_on(const std::string& device, std::size_t first_left,
                                  std::int32_t shared) {
  SequentialProgram& p = program();
  std::string why;
  without_gil([&] { why = p.why_not_on(devices().open(device), {first_left, shared}); });
  return why;
}

}  // namespace plait::py
