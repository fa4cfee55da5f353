// _plait.Procedure: a sequential program (engine/sequential), built one instruction at a time,
// compiled and run on arrays. plait.jit makes one of a Python function with loops.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/sequential/sequential_builder.hpp"
#include "engine/sequential/sequential_program.hpp"

namespace plait::py {

// What is wrong raises, at the call or in finish().
class Procedure {
 public:
  explicit Procedure(const std::string& name) : name_(name), builder_(name) {}

  engine::SequentialBuilder& builder();        // of a procedure that is not finished
  engine::SequentialProgram& program() const;  // of one that is

  void finish();
  bool compile(bool quick);
  void compile_async() { program().compile_async(jit::Effort::Quick); }
  void optimise_async() { program().compile_async(jit::Effort::Full); }
  double ran() const { return ran_; }  // seconds of the machine code in run_parts(), the last time
  // Its results, and where it uses a heap that one at last.
  pybind11::tuple run(const pybind11::sequence& arrays, const pybind11::sequence& params,
                      const pybind11::sequence& args);
  // Runs by the team, in any order; each part has first arguments of its own. The results of all.
  pybind11::list run_parts(const pybind11::sequence& arrays, const pybind11::sequence& params,
                           const pybind11::sequence& args, const pybind11::sequence& parts,
                           double seconds);
  // None where an iteration fails, see SequentialProgram::run_on(). Results before `first_left` are
  // to no use.
  pybind11::object run_on(const std::string& device, const pybind11::sequence& arrays,
                          const pybind11::sequence& params, const pybind11::sequence& args,
                          std::int64_t count, std::size_t first_left, std::int32_t shared);
  std::string why_not_on(const std::string& device, std::size_t first_left, std::int32_t shared);

 private:
  std::string name_;
  std::optional<engine::SequentialBuilder> builder_;
  std::unique_ptr<engine::SequentialProgram> program_;
  double ran_ = 0;
};

// Of the results of one that lowering.py has made: what was heard, and where it failed; the head of
// all.
constexpr std::size_t kHeard = 0, kSite = 1, kHead = 5;
// Whether it has heard of something, or failed, which Python tells.
inline bool has_to_tell(const Scalar* results) {
  return results[kHeard].as<std::int64_t>() != 0 || results[kSite].as<std::int64_t>() != 0;
}

void add_procedures(pybind11::module_& m);

}  // namespace plait::py
