// Runs a plan on a device: the same plan and the same loop IR as on the host, with memory of the
// device. Nothing waits for the device, unless a step has to be computed on the host.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/array_memory.hpp"
#include "core/config.hpp"
#include "engine/devices/device.hpp"
#include "engine/products/gemm.hpp"
#include "engine/reports/report.hpp"
#include "engine/threads/interruption.hpp"
#include "plan_run.hpp"
#include "state.hpp"
#include "tracer/contraction.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Plan;
using fusion::Step;
using fusion::StepKind;
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

namespace {

// What a plan keeps about a step that was prepared for a device.
struct Prepared {
  std::shared_ptr<DeviceKernel> kernel;  // null: the host computes the step
  std::string why;
};

void run_graph(std::span<Node* const> wanted, DeviceId id);

class DeviceExecutor final : public Executor {
 public:
  DeviceExecutor(Bindings& b, Recording& r, Values& v)
      : bindings_(b), recording_(r), values_(v), device_(device_of(b.device)) {}

  // Regions that were not compiled yet are compiled side by side.
  void prepare(Plan& p) override {
    struct Missing {
      Prepared* kernel;
      KernelExtents extents;
      const std::string& name;
    };
    std::vector<Missing> missing;
    bindings_.each(p, [&](const BoundStep& s) {
      if (s.step.kind == StepKind::Direct) return;
      if (!s.step.compiled) {
        auto made = std::make_shared<Prepared>();
        made->kernel = device_.prepare(s.step.lowered.kernel, &made->why);
        s.step.compiled = made;
      }
      Prepared& of = prepared(s.step);
      if (!of.kernel) return;
      const KernelExtents e = extents_of(s, is_cut(s.step) ? &cut(s) : nullptr);
      if (!device_.is_compiled(*of.kernel, e))
        missing.push_back({&of, e, s.step.lowered.kernel.name});
    });
    auto compile = [this](const Missing& m) {
      timeline::Span span(timeline::Category::Compile);
      if (span) span.name("compile " + m.name + " for " + device_.name());
      try {
        device_.compile(*m.kernel->kernel, m.extents);
      } catch (const CompileError& e) {
        if (logging(Log::Compile)) log(Log::Compile, e.what());
        m.kernel->kernel = nullptr;
        m.kernel->why = "it does not compile";
      }
    };
    std::atomic<std::size_t> next{0};
    auto work = [&] {
      for (std::size_t i = next++; i < missing.size(); i = next++) compile(missing[i]);
    };
    std::vector<std::future<void>> others;
    const auto threads =
        std::min(missing.size(), static_cast<std::size_t>(std::max(1, num_threads())));
    for (std::size_t t = 1; t < threads; ++t)
      others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& f : others) f.get();
  }
  void look_around() override {
    if (interrupt_requested()) throw Interrupted("interrupted");
  }

  Ref<Buffer> allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  Ref<Buffer> allocate(const Dims& shape, DType t) override {
    return device_.allocate(static_cast<std::size_t>(element_count(shape)) * itemsize(t));
  }
  void copy(std::byte* to, const std::byte* from, const Stretches& s) override {
    device_.copy(to, from, static_cast<std::size_t>(s.bytes), static_cast<std::size_t>(s.count),
                 static_cast<std::size_t>(s.pitch));
  }
  void overwrites(Buffer& b) override { static_cast<DeviceBuffer&>(b).mirror.reset(); }

  bool has_code(const Step& s) const override {
    return s.operation ? s.operation->kind == NodeKind::MatMul : prepared(s).kernel != nullptr;
  }
  const AxisCut& cut(const BoundStep& s) override {
    constexpr std::size_t kMost = 256;
    auto& cuts = state().device_cuts;
    const bool tree = s.step.lowered.pairwise_chunks;
    AxisCut c{s.step.lowered.scatters ? chunks_of(s, true) : Chunks{}, 1, {}};
    const std::tuple key{bindings_.device, tree, s.extent,
                         tree                      ? std::int64_t{0}
                         : s.step.lowered.scatters ? -c.chunks.count()
                                                   : elements_an_iteration(s)};
    if (auto it = cuts.find(key); it != cuts.end()) return it->second;
    if (cuts.size() >= kMost) cuts.clear();
    if (!s.step.lowered.scatters) c.chunks = chunks_of(s);
    for (std::size_t n = 1; n < c.chunks.bounds.size(); ++n)
      c.longest = std::max(c.longest, c.chunks.bounds[n] - c.chunks.bounds[n - 1]);
    const std::size_t bytes = c.chunks.bounds.size() * sizeof c.chunks.bounds[0];
    c.table = device_.upload(c.chunks.bounds.data(), bytes, "chunks of a reduction");
    return cuts.emplace(key, std::move(c)).first->second;
  }
  UpdateMode begin(const Region& r) override { return r.of.step.update; }
  unsigned launch(const Region& r) override {
    if (r.extent > 0)
      device_.launch(*prepared(r.of.step).kernel, r.args(), extents_of(r.of, r.cut), site_of(r.of));
    ++counters().kernels_on_device;
    return 0;
  }
  void join(const Region& r, const PartialResults& p) override {
    DeviceJoin j{};
    j.kind = p.index ? p.root.reduce : p.of.kind;
    j.dtype = p.of.dtype;
    j.tree = r.lowered().pairwise_chunks;
    j.extent = r.of.extent;
    j.chunks = r.extent;
    j.longest = r.cut->longest;
    j.outputs = p.outputs;
    for (const std::int32_t d : r.lowered().kept) {
      j.shape.push_back(p.root.shape[d]);
      j.strides.push_back(p.root.strides[d]);
    }
    if (r.lowered().scatters) {
      j.shape = {p.outputs};
      j.strides = {static_cast<std::int64_t>(itemsize(p.of.dtype))};
    }
    j.rows = p.rows;
    j.indices = p.indices;
    j.bounds = r.cut->table->data;
    j.out = p.out;
    device_.join(j, site_of(r.of));
  }

  unsigned compute(const BoundStep& s) override {
    multiply(s, *s.operation);
    return 0;
  }

  void run_elsewhere(const BoundStep& s) override {
    if (s.operation)
      operation_on_host(s);
    else
      region_on_host(s);
  }

 private:
  static Prepared& prepared(const Step& s) { return *static_cast<Prepared*>(s.compiled.get()); }
  static KernelExtents extents_of(const BoundStep& s, const AxisCut* cut) {
    return cut ? KernelExtents{s.params, cut->chunks.count(), s.extent}
               : KernelExtents{s.params, s.extent, 0};
  }
  LaunchSite site_of(const BoundStep& s) const {
    return {s.step.lowered.kernel.name, recording_.site(s.roots[0].node)};
  }

  // --- matrix products --------------------------------------------------------------------------

  void multiply(const BoundStep& s, const BoundOperation& of) {
    std::vector<Ref<Node>> copies;  // alive until the product was submitted
    const tracer::ProductAxes axes = tracer::product_axes(of.axes, of.shape.size());
    const BoundOperand &a = of.operands[0], &b = of.operands[1];
    DeviceProduct p{};
    p.dtype = of.of.dtype;
    const auto rows = of.shape.begin() + axes.batch, columns = rows + axes.rows;
    p.batch = Dims(of.shape.begin(), rows);
    p.a = factor(a, axes.batch, axes.rows, copies);
    p.b = factor(b, axes.batch, axes.sums, copies);
    p.m = element_count(Dims(rows, columns));
    p.n = element_count(Dims(columns, of.shape.end()));
    p.k = tracer::product_depth(a.shape, axes);
    if (s.step.epilogue) (s.step.epilogue.whole ? p.residual : p.bias) = added(s, copies);
    NodeMemory& result = bindings_.memory(s.roots[0].node);
    p.c = result.at();
    const LaunchSite site{"matmul", recording_.site(of.of.node)};
    if (!device_.multiply(p, site)) {
      p.bias = nullptr;
      device_.multiply(p, site);
      result = sum(s.roots[0], of, std::move(result));
    }
    ++counters().kernels_on_device;
  }

  const std::byte* at(const BoundOperand& o) const {
    return bindings_.memory(o.node).at() + o.offset;
  }

  // A factor as it lies in memory, or a copy for the library when no axis of its matrices is
  // contiguous, or where `rows` axes behind those of the batch, or what is left, are not one.
  DeviceProduct::Operand factor(const BoundOperand& o, int batch, int rows,
                                std::vector<Ref<Node>>& copies) {
    const int d = o.shape.size();
    const auto lies = [=](const std::byte* memory, const Dims& strides) {
      return DeviceProduct::Operand{memory, strides[batch + rows - 1], strides[d - 1],
                                    Dims(strides.begin(), strides.begin() + batch)};
    };
    const bool plain = d == batch + 2;
    if (plain && (!device_.multiplies(o.dtype) ||
                  blas_layout(static_cast<std::int64_t>(itemsize(o.dtype)), o.strides[d - 2],
                              o.strides[d - 1], o.shape[d - 2], o.shape[d - 1])))
      return lies(at(o), o.strides);
    const Node& copy = *copies.emplace_back(dense(o));
    return lies(copy.data->data + copy.data_offset, copy.strides);
  }

  // A bias is contiguous, and a residual lies as the product does.
  const std::byte* added(const BoundStep& s, std::vector<Ref<Node>>& copies) {
    const BoundOperand& o = s.operation->operands.back();
    if (s.step.epilogue.whole || o.shape.back() == 1 ||
        o.strides.back() == static_cast<std::int64_t>(itemsize(o.dtype)))
      return at(o);
    const Node& copy = *copies.emplace_back(dense(o));
    return copy.data->data + copy.data_offset;
  }

  // Computed by a graph of its own, outside the recorded one.
  Ref<Node> node(NodeKind kind, DType t, const Dims& shape, const Dims& strides) const {
    Ref<Node> n = tracer::new_node(kind);
    n->dtype = t;
    n->shape = shape;
    n->strides = strides;
    n->device = bindings_.device;
    return n;
  }
  Ref<Node> leaf(const BoundOperand& o) const {
    Ref<Node> n = node(NodeKind::Data, o.dtype, o.shape, o.strides);
    n->data = bindings_.memory(o.node).buffer;
    n->data_offset = bindings_.memory(o.node).offset + o.offset;
    return n;
  }

  // What is in memory, in C order.
  Ref<Node> dense(const BoundOperand& o) const {
    Ref<Node> copy =
        node(NodeKind::Cast, o.dtype, o.shape,
             contiguous_strides(o.shape, static_cast<std::int64_t>(itemsize(o.dtype))));
    copy->n_inputs = 1;
    copy->inputs[0] = leaf(o);
    Node* const wanted[] = {copy.get()};
    run_graph(wanted, bindings_.device);
    return copy;
  }

  NodeMemory sum(const Root& r, const BoundOperation& of, NodeMemory product) const {
    Ref<Node> n = node(NodeKind::Elementwise, r.dtype, r.shape, r.strides);
    n->site = recording_.site(r.node);
    n->fn = OpId::Add;
    n->n_inputs = 2;
    n->inputs[0] = node(NodeKind::Data, of.of.dtype, of.shape, of.strides);
    n->inputs[0]->data = std::move(product.buffer);
    n->inputs[1] = leaf(of.operands.back());
    Node* const wanted[] = {n.get()};
    run_graph(wanted, bindings_.device);
    return {n->data, n->data_offset};
  }

  // --- steps that the device has no code for ----------------------------------------------------

  // From the host's copies of what the step reads; the values go back to the device.
  NodeMemory uploaded(const Buffer& host, std::int64_t offset) {
    return {device_.upload(host.data, host.bytes, "computed on the host"), offset};
  }
  static const Ref<Buffer>& on_the_host(const Ref<Buffer>& b) {
    host_mirror(*b);
    return static_cast<DeviceBuffer&>(*b).mirror;
  }
  void note_fallback(const Step& s, const Root& r) const {
    if (logging(Log::Fallback)) log(Log::Fallback, fallback_text(s, r));
    ++counters().steps_moved_to_host;
  }

  void operation_on_host(const BoundStep& s) {
    const Root& r = s.roots[0];
    note_fallback(s.step, r);
    const auto here = [&](std::int32_t node) {
      const NodeMemory& m = bindings_.memory(node);
      return NodeMemory{on_the_host(m.buffer), m.offset};
    };
    Ref<Buffer> out;
    std::int64_t first = 0;
    if (r.update) {
      const UpdateCopy c = surviving(r);
      first = c.first;
      out = plait::allocate(static_cast<std::size_t>(c.last - first));
      std::memcpy(out->data, here(r.update->old).at() + first, out->bytes);
    } else {
      out = allocate_array(r.shape, r.dtype);
    }
    const unsigned flags = compute_operation(*s.operation, out->data - first, true, here);
    bindings_.memory(r.node) = uploaded(*out, -first);
    values_.stored(s.roots, UpdateMode::Fresh);
    report_operation(s, flags, recording_);
  }

  void region_on_host(const BoundStep& s) {
    for (const Root& r : s.roots) {
      NodeMemory& memory = bindings_.memory(r.node);
      memory = recording_.viewed(r.node);
      if (!memory) {
        note_fallback(s.step, r);
        const NodeMemory computed = recording_.evaluate_apart(r.node, on_the_host);
        memory = uploaded(*computed.buffer, computed.offset);
      }
      recording_.keep_as_recorded(r, memory);
    }
  }

  std::string fallback_text(const Step& s, const Root& r) const {
    std::string what(recording_.operation(r.node));
    if (s.compiled && !prepared(s).why.empty()) what += " (" + prepared(s).why + ")";
    return device_.name() + ": " + what + " runs on the host";
  }

  Bindings& bindings_;
  Recording& recording_;
  Values& values_;
  Device& device_;
};

void run_graph(std::span<Node* const> wanted, DeviceId id) {
  for (Node* n : wanted)
    if (!n->materialised() && element_count(n->shape) == 0)
      tracer::settle(*n, device_of(id).allocate(0), 0);
  const Graph g(wanted);
  if (g.nodes.empty()) return;
  std::vector<Ref<Node>> keep;
  keep.reserve(g.nodes.size());
  for (const fusion::GNode& n : g.nodes) keep.emplace_back(n.node);
  std::vector<std::int64_t> values;
  const std::shared_ptr<Plan> plan =
      plan_for(g, values, id, device_target(device_of(id).machine()));
  note_plan(*plan);
  const Watched watched(g, *plan, values, id);
  run_plan(g, *plan, std::move(values), id);
}

// Views and constants stay part of the operation that reads them.
void run_one_at_a_time(std::span<Node* const> wanted, DeviceId id) {
  std::vector<Ref<Node>> order;
  const Graph g(wanted);
  for (const fusion::GNode& n : g.nodes) {
    const NodeKind k = n.node->kind;
    const bool read_where_used = k == NodeKind::View || k == NodeKind::Fill || k == NodeKind::Iota;
    if (!n.leaf && (n.wanted || !read_where_used)) order.emplace_back(n.node);
  }
  for (const Ref<Node>& n : order) {
    Node* const one[] = {n.get()};
    run_graph(one, id);
  }
}

}  // namespace

void run_on_device(Plan& p, Bindings& b, Recording& r) {
  Values values(b, r);
  DeviceExecutor device(b, r, values);
  PlanRun(p, b, device, r, values).run();
}

void evaluate_on_device(std::span<Node* const> wanted, DeviceId id) {
  const std::lock_guard held(tracer::lock());
  ++counters().evaluations;
  if (config().fuse)
    run_graph(wanted, id);
  else
    run_one_at_a_time(wanted, id);
}

}  // namespace plait::engine
