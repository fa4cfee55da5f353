// A recorded graph kept with its plan, to be run again on other memory without being recorded.
// Callers hold the recorder's lock.
#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "launches.hpp"
#include "plan_ahead.hpp"
#include "plan_run.hpp"

namespace plait::engine {

inline bool same_bits(const Scalar& a, const Scalar& b) {
  return a.dtype == b.dtype && std::memcmp(a.bytes, b.bytes, itemsize(a.dtype)) == 0;
}

class Executable {
 public:
  using Result = LaunchResult;

  // Of what computes the wanted nodes, which are pending, from the inputs, which are in memory, on
  // the host: else null. Null, too, where planning takes long, and `ahead` is empty and becomes the
  // plan that the background makes.
  static std::shared_ptr<Executable> make(std::span<tracer::Node* const> wanted,
                                          std::span<const tracer::Node* const> inputs,
                                          PlanAhead& ahead);

  // What the graph reads that is no input: constants.
  const std::vector<const tracer::Node*>& constants() const { return constants_; }
  std::size_t results() const { return wanted_.size(); }
  bool reads(std::size_t input) const { return inputs_[input] >= 0; }
  // Whether memory of an input is written to.
  bool in_place() const { return in_place_; }

  // Numbers of a caller's, at two recordings of one function.
  struct Numbers {
    std::span<const Scalar> here, there;
  };
  // Whether the graph of another recording differs from this one in scalars alone which are numbers
  // of the caller's, here and there. From then on they are arguments: see run().
  bool take_numbers(const Executable& other, const Numbers& n);
  // Whether scalars that are numbers of the caller's would be those, rounded as it is recorded.
  bool holds(std::span<const Scalar> numbers) const;

  // `inputs`, laid out as those that the graph was recorded with; `numbers`: of the caller's, where
  // scalars are; `results`: one for each node that was wanted. Throws std::bad_alloc and, unless it
  // writes in place, Interrupted; the inputs are as they were then.
  void run(std::span<const NodeMemory> inputs, std::span<const Scalar> numbers,
           std::span<Result> results);

  ~Executable();  // takes the lock
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

 private:
  class Taken;
  // A scalar of the plan's that is a number of the caller's.
  struct Taker {
    std::size_t scalar, number;
    bool exact;  // it was in all recordings, which a pass may have relied on
  };
  bool same_constants(const Executable& other) const;
  bool is_exponent(std::size_t scalar) const;
  void give(std::span<const Scalar> numbers);
  explicit Executable(std::span<tracer::Node* const> wanted) : graph_(wanted) {}
  void detach();
  // Of a plan of short regions, from a run that has machine code on.
  bool launches_alone() const;
  // False: the run has to be made as a walk over the steps.
  bool run_launches(std::span<const NodeMemory> inputs, std::span<Result> results);
  void keep_launches(LaunchRecorder&& recorded, std::span<const NodeMemory> inputs,
                     std::span<const Result> results, const RecordedGraph& of);

  fusion::Graph graph_;  // of nodes of its own: nothing of it is pending
  std::vector<Ref<tracer::Node>> own_;
  std::shared_ptr<fusion::Plan> plan_;
  RunInputs given_;
  std::vector<std::int32_t> inputs_;  // nodes; -1: not read
  std::vector<std::int32_t> wanted_;  // nodes
  std::vector<const tracer::Node*> constants_;
  std::vector<Taker> takers_;
  bool in_place_ = false, seen_again_ = false;
  std::vector<std::unique_ptr<Bindings>> idle_;  // of runs that have ended
  Ref<Launches> launches_;
  int tries_ = 8;       // to make them; no more where a run raised what is heard
  unsigned heard_ = 0;  // floating-point exceptions that somebody listens to
};

}  // namespace plait::engine
