// What becomes a program: calls of a function that were watched (tracer/capture.hpp), with arrays
// of several extents. Where graphs are alike, they share a plan, and their numbers follow from the
// extents.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program.hpp"
#include "tracer/capture.hpp"

namespace plait::engine {

// Why it cannot be exported, and where that was recorded; "": it can.
struct Refusal {
  std::string why;
  std::uint32_t site = 0;
};

// The function cannot be exported.
struct Refused : ValueError {
  Refused(const std::string& why, std::uint32_t where) : ValueError(why), site(where) {}
  std::uint32_t site;  // 0: nowhere in particular
};

// One call, as it was recorded. The recorder's lock is held by who uses it.
class Trace {
 public:
  // The capture has ended, and nothing of `results` has been computed.
  Trace(const tracer::Capture& capture, std::span<const tracer::Array> arguments,
        std::span<const tracer::Node* const> nodes, std::span<const tracer::Array> results,
        Refusal& refused);
  ~Trace();

  std::shared_ptr<fusion::Plan> plan() const;
  // Whether the plan of another is this one's. Fills `values` of its expressions.
  bool has(const fusion::Plan& p, const Trace& planned, std::vector<std::int64_t>& values) const;

  // Of the plan: its sources, and the scalars that its steps name.
  std::vector<std::int64_t> numbers(const fusion::Plan& p) const;
  std::vector<std::uint32_t> sites(const fusion::Plan& p) const;  // of those, each
  std::vector<std::uint32_t> result_sites() const;
  std::vector<Scalar> scalars(const fusion::Plan& p) const;

  struct Leaf {
    Variant::Leaf::Kind kind;
    std::int32_t node, number;  // of the argument
    DType dtype;
    Dims shape;
    bool exclusive;
    std::string_view bytes;  // Constant
  };
  std::vector<Leaf> leaves() const;
  std::int32_t nodes() const { return graph_->size(); }
  const std::vector<std::int32_t>& results() const { return wanted_; }
  Dims shape_of(std::size_t result) const { return hold_[result].shape; }
  // Arguments that it writes to: their contents are the last results.
  const std::vector<std::int32_t>& writes() const { return writes_; }

 private:
  std::vector<tracer::Array> hold_;
  std::unique_ptr<fusion::Graph> graph_;
  std::vector<std::int32_t> arguments_;  // nodes; -1: not read
  std::vector<std::int32_t> wanted_;     // nodes; -1: it has no elements
  std::vector<std::int32_t> writes_;
  std::vector<Ref<Buffer>> constants_;
};

// An array that a function may be recorded with, of any size: its memory is never touched, and
// takes none. Throws std::bad_alloc where this process has not so many addresses.
tracer::Array untouched(DType t, const Dims& shape);

// The call of a function that is being exported: from here to end() this thread is watched. Nobody
// holds the recorder's lock.
class WatchedCall {
 public:
  explicit WatchedCall(std::vector<tracer::Array> arguments);
  ~WatchedCall();
  // Only where the call has ended is there a trace. Not called: the function has thrown.
  void end(std::span<const tracer::Array> results);
  // Why the call cannot be exported.
  const Refusal& refusal() const { return refused_; }
  // What has ended the call before the function did, or null.
  const char* obstacle() const { return capture_->obstacle(); }
  void stop() { capture_->end(); }

  const std::vector<tracer::Capture::Demand>& demands() const { return capture_->demands(); }
  // Of the program's results, without what it demands and writes.
  const std::vector<ProgramData::Result>& results() const { return results_; }
  const Trace& trace() const { return *trace_; }

 private:
  std::vector<tracer::Array> arguments_;
  std::vector<const tracer::Node*> nodes_;
  std::optional<tracer::Capture> capture_;
  std::vector<ProgramData::Result> results_;
  std::optional<Trace> trace_;
  Refusal refused_;
};

// The operations of the plan that are no regions, by name.
std::vector<std::string> operations_of(const fusion::Plan& p);
// Where each step's kernel is in the program's table, to which it may add.
std::vector<std::int32_t> add_kernels(ProgramData& p, const fusion::Plan& plan,
                                      std::span<const CpuTier> tiers);

}  // namespace plait::engine
