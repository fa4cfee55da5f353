// Building a sequential program from outside of the library, one instruction at a time: values,
// variables, buffers and loops are numbers, and what is wrong with them throws, at the call or in
// finish().
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sequential_program.hpp"

namespace plait::engine {

class SequentialBuilder {
 public:
  using Val = std::int64_t;
  using Index = std::int64_t;

  explicit SequentialBuilder(const std::string& name) : b_(name) { b_.sequential(); }

  Index buffer(DType dtype, bool written) { return b_.buffer({dtype, written}); }
  // Memory that the program gets while it runs: its offsets are addresses. No array of a run.
  Index heap(DType dtype) { return b_.buffer({.dtype = dtype, .written = true, .heap = true}); }
  Val param() { return b_.number({.op = ir::Op::Param, .index = b_.new_param()}); }
  // Where an array begins, as heap buffers have it: a parameter that a run knows by itself.
  Val address(Index buffer);
  Val arg(DType dtype) { return b_.new_arg(dtype); }
  Index local(DType dtype) { return b_.variable(dtype); }
  Val get(Index local);
  void set(Index local, Val v);
  Val constant(const Scalar& s);
  DType type(Val v) const { return value(v).type; }
  Val apply(std::string_view ufunc, const std::vector<Val>& operands);
  Val cast(Val v, DType dtype);
  Val load(Index buffer, Val offset);
  void store(Index buffer, Val offset, Val v);
  // Of a function of ir/externals.hpp.
  Val call(const std::string& function, const std::vector<Val>& operands);
  Val overflows(std::string_view ufunc, Val a, Val b);
  std::pair<Index, Val> begin_count(Val begin, Val end);
  // Folds `kind` (sum, max, argmin ...) of what is computed for each number, in NumPy's order.
  std::pair<Index, Val> begin_fold(Val begin, Val end);
  Val end_fold(std::string_view kind, Val v);
  Index begin_if(std::optional<Val> condition) { return b_.open_if(checked(condition)); }
  void otherwise(bool rare);  // which is hardly reached
  Index begin_repeat() { return b_.open_repeat(); }
  void end(std::optional<Val> condition);
  void leave(Index loop, std::optional<Val> condition);
  // The index from 0 on, where a negative one counts from the end; whether there is no such
  // element.
  std::pair<Val, Val> index(Val i, Val extent);
  void result(Val v) { results_.push_back(checked(v)); }

  std::unique_ptr<SequentialProgram> finish() &&;

 private:
  const std::string& name() const { return b_.kernel().name; }
  const ir::Inst& value(Val v) const;
  ir::Val checked(Val v) const;
  ir::Val checked(std::optional<Val> v) const { return v ? checked(*v) : ir::kNone; }
  std::int32_t known_buffer(Index buffer) const;
  std::int32_t known_local(Index local) const;
  Val push(ir::Inst i, const std::vector<Val>& operands);

  ir::Builder b_;
  std::vector<ir::Val> results_;
  std::vector<SequentialProgram::Address> addresses_;
};

}  // namespace plait::engine
