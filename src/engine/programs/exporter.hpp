// What becomes a program: calls of a function that were watched (tracer/capture.hpp), with arrays
// of several extents. Where graphs are alike, they share a plan, and their numbers follow from the
// extents.
#pragma once
#include <memory>
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

  // Of all arrays in it, one after the other.
  Extents extents() const;
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
  std::vector<std::int32_t> wanted_;     // nodes
  std::vector<std::int32_t> writes_;
  std::vector<Ref<Buffer>> constants_;
};

// Extents that are planned for as this one is.
Variant::Bound bounds_of_class(std::int64_t extent);
// The operations of the plan that are no regions, by name.
std::vector<std::string> operations_of(const fusion::Plan& p);
// Where each step's kernel is in the program's table, to which it may add.
std::vector<std::int32_t> add_kernels(ProgramData& p, const fusion::Plan& plan,
                                      std::span<const CpuTier> tiers);

}  // namespace plait::engine
