#include "exporter.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "core/os/pages.hpp"
#include "engine/direct/operation.hpp"
#include "engine/plans/recording.hpp"
#include "engine/plans/run.hpp"
#include "tracer/context.hpp"
#include "tracer/layout.hpp"

namespace plait::engine {
using fusion::GNode;
using tracer::Array;
using tracer::Node;
using tracer::NodeKind;

namespace {

constexpr std::int64_t kUnbounded = std::int64_t{1} << 42;

bool pending(const Node& n) { return !n.data && n.kind != NodeKind::Scalar; }

std::int32_t number_of(const fusion::Graph& g, const Node* n) {
  const auto at = std::ranges::find(g.nodes, n, &GNode::recorded);
  return at == g.nodes.end() ? -1 : static_cast<std::int32_t>(at - g.nodes.begin());
}

}  // namespace

Trace::Trace(const tracer::Capture& capture, std::span<const Array> arguments,
             std::span<const Node* const> nodes, std::span<const Array> results, Refusal& refused) {
  const auto refuse = [&](const char* why, const Node& n) { refused = {why, n.site}; };
  if (const char* obstacle = capture.obstacle()) {
    refused.why = *obstacle ? obstacle : "another thread has computed meanwhile";
    return;
  }
  std::vector<Array> made(results.begin(), results.end());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].storage->version.get() == nodes[i]) continue;
    writes_.push_back(static_cast<std::int32_t>(i));
    made.push_back(arguments[i]);
  }
  std::vector<Node*> wanted;
  for (const Array& a : made) {
    hold_.push_back(a);
    if (a.size() == 0) continue;  // there is nothing to compute
    Node* const n = a.storage->version.get();
    if (!pending(*n) || n->kind == NodeKind::Empty || n->device > kHost)
      refuse("it returns what it does not compute", *n);
    const auto item = static_cast<std::int64_t>(itemsize(a.dtype));
    if (a.offset + a.storage->base != 0 || a.strides != contiguous_strides(a.shape, item) ||
        element_count(a.shape) != element_count(n->shape))
      refuse("it returns a part of an array", *n);
    wanted.push_back(n);
  }
  if (!refused.why.empty()) return;
  graph_ = std::make_unique<fusion::Graph>(wanted);
  for (const Node* n : nodes) arguments_.push_back(number_of(*graph_, n));
  for (const Array& a : hold_)
    wanted_.push_back(a.size() == 0 ? -1 : number_of(*graph_, a.storage->version.get()));
}

Trace::~Trace() = default;

std::shared_ptr<fusion::Plan> Trace::plan() const {
  return fusion::make_plan(*graph_, host_target());
}

bool Trace::has(const fusion::Plan& p, const Trace& planned,
                std::vector<std::int64_t>& values) const {
  return graph_->key() == planned.graph_->key() && fusion::bind(p, *graph_, values);
}

std::vector<std::int64_t> Trace::numbers(const fusion::Plan& p) const {
  std::vector<std::int64_t> numbers;
  for (const fusion::Exprs* e : {&p.exprs, &p.answers.exprs})
    for (const fusion::Source& s : e->sources()) numbers.push_back(graph_->field(s));
  return numbers;
}

std::vector<std::uint32_t> Trace::sites(const fusion::Plan& p) const {
  std::vector<std::uint32_t> sites;
  for (const fusion::Exprs* e : {&p.exprs, &p.answers.exprs})
    for (const fusion::Source& s : e->sources()) sites.push_back((*graph_)[s.node].node->site);
  return sites;
}

std::vector<std::uint32_t> Trace::result_sites() const {
  std::vector<std::uint32_t> sites;
  for (const std::int32_t n : wanted_) sites.push_back(n < 0 ? 0 : (*graph_)[n].node->site);
  return sites;
}

std::vector<Scalar> Trace::scalars(const fusion::Plan& p) const {
  return run_inputs(*graph_, p, {}).scalars;
}

tracer::Array untouched(DType t, const Dims& shape) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const auto bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(1, element_count(shape) * item));
  struct Mapping {
    void* begin;
    std::size_t bytes;
  };
  auto mapping = std::make_unique<Mapping>(Mapping{os::reserve_pages(bytes), bytes});
  if (!mapping->begin) throw std::bad_alloc();
  const Ref<Buffer> b = adopt(
      mapping->begin, bytes, true,
      [](void* m) {
        const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(m));
        os::unmap_pages(mapping->begin, mapping->bytes);
      },
      mapping.get());
  mapping.release();
  return tracer::from_buffer(b, t, shape, contiguous_strides(shape, item), 0);
}

WatchedCall::WatchedCall(std::vector<Array> arguments) : arguments_(std::move(arguments)) {
  tracer::evaluate(arguments_);
  const std::lock_guard held(tracer::lock());
  for (const Array& a : arguments_) nodes_.push_back(a.storage->version.get());
  capture_.emplace(arguments_, true);
}

void WatchedCall::end(std::span<const Array> results) {
  capture_->end();
  std::vector<Array> arrays(results.begin(), results.end());
  for (const Array& a : results) results_.push_back({a.dtype, a.ndim()});
  for (const tracer::Capture::Demand& d : capture_->demands()) arrays.push_back(d.holds);
  const std::lock_guard held(tracer::lock());
  trace_.emplace(*capture_, arguments_, nodes_, arrays, refused_);
}

WatchedCall::~WatchedCall() {
  const std::lock_guard held(tracer::lock());
  trace_.reset();
  capture_.reset();
}

std::vector<Trace::Leaf> Trace::leaves() const {
  std::vector<Leaf> leaves;
  for (std::int32_t i = 0; i < graph_->size(); ++i) {
    const GNode& g = (*graph_)[i];
    const Node& n = *g.node;
    if (!g.leaf || n.kind == NodeKind::Scalar) continue;
    Leaf leaf{Variant::Leaf::Kind::Unwritten, i, -1, n.dtype, n.shape, g.exclusive, {}};
    const auto argument = std::ranges::find(arguments_, i);
    if (argument != arguments_.end()) {
      leaf.kind = Variant::Leaf::Kind::Argument;
      leaf.number = static_cast<std::int32_t>(argument - arguments_.begin());
    } else if (n.data) {
      leaf.kind = Variant::Leaf::Kind::Constant;
      // As it lies there: from the element at the origin on.
      const auto [first, last] =
          tracer::extent(n.shape, n.strides, static_cast<std::int64_t>(itemsize(n.dtype)));
      if (first < 0) throw ValueError("an array that it reads lies backwards in memory");
      leaf.bytes = {reinterpret_cast<const char*>(n.data->data + n.data_offset),
                    static_cast<std::size_t>(last)};
    }
    leaves.push_back(leaf);
  }
  return leaves;
}

std::vector<std::string> operations_of(const fusion::Plan& p) {
  std::vector<std::string> names;
  for (const fusion::Step& s : p.steps) {
    if (!s.operation) continue;
    const fusion::OperationSpec& o = *s.operation;
    names.emplace_back(o.kind == NodeKind::Call          ? call_info(o.call).name
                       : o.kind == NodeKind::Elementwise ? op_info(o.fn).name
                       : o.kind == NodeKind::MatMul      ? "matmul"
                       : o.kind == NodeKind::Reduce      ? "a reduction"
                                                         : "a copy");
  }
  return names;
}

std::vector<std::int32_t> add_kernels(ProgramData& p, const fusion::Plan& plan,
                                      std::span<const CpuTier> tiers) {
  std::vector<std::int32_t> numbers;
  for (const fusion::Step& s : plan.steps) {
    if (s.kind != fusion::StepKind::Kernel) {
      numbers.push_back(-1);
      continue;
    }
    std::string ir = ir::serialize(s.lowered.kernel);
    auto known = std::ranges::find(p.kernels, ir, &ProgramKernel::ir);
    if (known == p.kernels.end()) {
      ProgramKernel k{std::move(ir), {}};
      for (const CpuTier tier : tiers) k.code.push_back(jit::packed_code(s.lowered.kernel, tier));
      known = p.kernels.insert(p.kernels.end(), std::move(k));
    }
    numbers.push_back(static_cast<std::int32_t>(known - p.kernels.begin()));
  }
  return numbers;
}

}  // namespace plait::engine
