// A kernel as a pass gets it: lowered from a recorded graph, or built by hand. Before and after the
// pass it is read by the reference (one scalar iteration at a time), and the bytes it stores are
// compared.
#pragma once
#include <catch2/catch.hpp>
#include <random>

#include "../../record.hpp"
#include "../interp/reference.hpp"
#include "codegen/interp/interp.hpp"
#include "core/buffer.hpp"
#include "fusion/graph/nonnegative.hpp"
#include "fusion/passes/passes.hpp"
#include "fusion/schedule/problem.hpp"
#include "ir/builder.hpp"

namespace plait::test {
using Bytes = std::vector<std::vector<unsigned char>>;

inline Array array(const Dims& shape) { return tracer::empty(shape, DType::Float64); }

// Memory for every buffer, the same for equal seeds: random doubles.
inline Bytes memory(const std::vector<std::size_t>& sizes) {
  Bytes b;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::mt19937 gen(static_cast<unsigned>(i));
    b.emplace_back(sizes[i]);
    for (std::size_t at = 0; at + 8 <= sizes[i]; at += 8) {
      const double v = static_cast<double>(gen() % 2000) / 64 - 15;
      std::memcpy(b.back().data() + at, &v, 8);
    }
  }
  return b;
}

inline Bytes results(const ir::Kernel& k, Bytes buffers, const std::vector<std::int64_t>& params,
                     std::int64_t grid, const std::vector<Scalar>& scalars = {}) {
  // Passes leave what they made useless to compact().
  ir::Kernel tidy = k;
  fusion::compact(tidy);
  ir::verify(tidy);
  std::vector<void*> pointers;
  for (auto& b : buffers) pointers.push_back(b.data());
  reference::run(k, {pointers.data(), params.data(), scalars.data()}, 0, grid);
  return buffers;
}

// The one region of a recorded value, lowered and untouched by passes.
class Recorded {
 public:
  explicit Recorded(const Array& a, fusion::FoldOrder order = fusion::FoldOrder::Whole)
      : node_(tracer::read(a)), recorded_(std::vector<tracer::Node*>{node_.get()}) {
    canon_ = fusion::common_subexpressions(graph_);
    non_negative_ = fusion::non_negative(graph_, canon_);
    for (std::int32_t i = 0; i < graph_.size(); ++i) in_memory_.push_back(graph_[i].leaf);
    const fusion::RegionSpec region{order, {graph_.size() - 1}};
    REQUIRE(fusion::survey(input(), region).needs.empty());
    fusion::lower(input(), region, lowered);
    ir::verify(lowered.kernel);
  }
  fusion::LoweringInput input() {
    return {graph_, exprs_, canon_, non_negative_, in_memory_, facts_, fusion::kNoBounds};
  }
  std::int64_t trips(std::int32_t loop) {
    return fusion::concrete(input(), loop == 0 ? lowered.grid_extent : lowered.extents[loop]);
  }
  std::size_t answers() const { return graph_.answers().given().size(); }

  Bytes run() {
    const Call c = call();
    return results(lowered.kernel, c.buffers, c.params, c.grid, scalars());
  }
  Bytes interpreted() {
    ir::Kernel tidy = lowered.kernel;
    fusion::compact(tidy);
    const auto program = interp::prepare(tidy, config().tier);
    Call c = call();
    std::vector<void*> pointers;
    for (auto& b : c.buffers) pointers.push_back(b.data());
    const std::vector<Scalar> given = scalars();
    const ir::CallArgs args{pointers.data(), c.params.data(), given.data()};
    const Ref<Buffer> scratch = allocate(interp::scratch_bytes(*program, args));
    interp::run(*program, args, 0, c.grid, scratch->data);
    return c.buffers;
  }

  fusion::LoweredKernel lowered;

 private:
  struct Call {
    Bytes buffers;
    std::vector<std::int64_t> params;
    std::int64_t grid;
  };
  std::vector<Scalar> scalars() const {
    std::vector<Scalar> of;
    for (const std::int32_t n : lowered.scalars) of.push_back(recorded_[n].node->scalar);
    return of;
  }
  Call call() {
    std::vector<std::size_t> sizes;
    for (const fusion::BufferSource& b : lowered.buffers) {
      const tracer::Node& n = *recorded_[b.index].node;
      sizes.push_back(static_cast<std::size_t>(element_count(n.shape)) * itemsize(n.dtype));
    }
    std::vector<std::int64_t> values, params;
    exprs_.evaluate(recorded_, values);
    for (fusion::ExprId e : lowered.params) params.push_back(values[e]);
    return {memory(sizes), params, values[lowered.grid_extent]};
  }

  Ref<tracer::Node> node_;
  fusion::Graph recorded_;
  fusion::PlanGraph graph_{recorded_};
  fusion::Exprs exprs_;
  std::vector<std::int32_t> canon_;
  std::vector<bool> non_negative_, in_memory_;
  fusion::Facts facts_{graph_, exprs_};
};

inline int count(const ir::Kernel& k, ir::Op op) {
  int n = 0;
  ir::for_each_inst(k, 0, [&](ir::Val v, std::int32_t) { n += k.insts[v].op == op; });
  return n;
}
inline int loop_count(const ir::Kernel& k) {
  return 1 + count(k, ir::Op::For) + count(k, ir::Op::Reduce);
}

}  // namespace plait::test
