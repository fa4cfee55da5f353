// Runs a plan on a device: the same plan and the same loop IR as on the host, with memory of the
// device. Nothing waits for the device, unless a step has to be computed on the host.
#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/call_table.hpp"
#include "core/config.hpp"
#include "device.hpp"
#include "gemm.hpp"
#include "interruption.hpp"
#include "plan_run.hpp"
#include "report.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Plan;
using fusion::RegionKind;
using fusion::Step;
using fusion::StepKind;
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

namespace {

std::size_t bytes_of(const Node& n) {
  return static_cast<std::size_t>(element_count(n.shape)) * itemsize(n.dtype);
}

// What a plan keeps about a step that was prepared for a device.
struct Prepared {
  std::shared_ptr<DeviceKernel> kernel;  // null: the host computes the step
  std::string why;
};

// How a long reduction is cut, with the table of its chunks in the device's memory.
struct Cut {
  Chunks chunks;
  Ref<Buffer> table;
  std::int64_t longest = 1;  // chunk
};

void run_graph(std::span<Node* const> wanted, DeviceId id);

class DeviceRun : PlanRun {
 public:
  DeviceRun(const Graph& g, Plan& p, const std::vector<std::int64_t>& values, DeviceId id)
      : PlanRun(g, p, values), device_(device_of(id)), id_(id) {}

  void run() {
    compile_all();
    for (Step& s : plan_.steps) {
      if (interrupt_requested()) throw Interrupted("interrupted");
      if (s.kind == StepKind::Kernel && prepared(s).kernel)
        kernel(s);
      else if (!product(s))
        on_host(s);
      for (std::int32_t n : s.dies) memory_[n] = {};
    }
  }

 private:
  // How a step's kernel is launched; `extents` points into a Call's params.
  struct Extents {
    KernelExtents kernel{};
    const Cut* cut = nullptr;
  };

  static Prepared& prepared(Step& s) { return *static_cast<Prepared*>(s.compiled.get()); }

  Extents extents_of(const Step& s, const Call& c) const {
    const fusion::LoweredKernel& l = s.lowered;
    Extents e{{c.params.data(), values_[l.grid_extent], 0}, nullptr};
    if (s.region.kind == RegionKind::Blocked) {
      e.kernel.split = e.kernel.grid;
      e.cut = &cut_for(s, e.kernel.split);
      e.kernel.grid = e.cut->chunks.count();
    }
    return e;
  }

  const Cut& cut_for(const Step& s, std::int64_t extent) const {
    using Key = std::tuple<DeviceId, bool, std::int64_t, std::int64_t>;
    constexpr std::size_t kMost = 256;
    static auto& cuts = *new std::map<Key, Cut>;  // guarded by the recorder's lock
    const bool tree = s.lowered.pairwise_chunks;
    const Key key{id_, tree, extent, tree ? 0 : elements_an_iteration(s, extent)};
    if (auto it = cuts.find(key); it != cuts.end()) return it->second;
    if (cuts.size() >= kMost) cuts.clear();
    Cut c{chunks_of(s, extent), {}, 1};
    for (std::size_t n = 1; n < c.chunks.bounds.size(); ++n)
      c.longest = std::max(c.longest, c.chunks.bounds[n] - c.chunks.bounds[n - 1]);
    const std::size_t bytes = c.chunks.bounds.size() * sizeof c.chunks.bounds[0];
    c.table = device_.upload(c.chunks.bounds.data(), bytes, "chunks of a reduction");
    return cuts.emplace(key, std::move(c)).first->second;
  }

  // Regions that were not compiled yet are compiled side by side before anything runs.
  void compile_all() {
    struct Missing {
      Prepared* kernel;
      Call call;
      KernelExtents extents;
    };
    std::vector<Missing> missing;
    for (Step& s : plan_.steps) {
      if (s.kind == StepKind::Direct) continue;
      if (!s.compiled) {
        auto p = std::make_shared<Prepared>();
        p->kernel = device_.prepare(s.lowered.kernel, &p->why);
        s.compiled = p;
      }
      Prepared& p = prepared(s);
      if (!p.kernel) continue;
      Call c = numbers_of(s.lowered);
      const KernelExtents e = extents_of(s, c).kernel;
      if (!device_.is_compiled(*p.kernel, e)) missing.push_back({&p, std::move(c), e});
    }
    auto compile = [this](const Missing& m) {
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

  LaunchSite site_of(const Step& s) const {
    return {s.lowered.kernel.name, g_[s.region.roots[0]].node->site};
  }

  void kernel(Step& s) {
    const fusion::LoweredKernel& l = s.lowered;
    Call call = numbers_of(l);
    const Extents e = extents_of(s, call);
    std::vector<Ref<Buffer>> partials;
    if (e.cut)
      for (const fusion::Partial& p : l.partials)
        partials.push_back(device_.allocate(
            static_cast<std::size_t>(e.kernel.grid * values_[p.outputs]) * itemsize(p.dtype)));
    for (std::int32_t r : s.region.roots) allocate_root(r, s.update);
    bind_buffers(l, partials, e.cut ? e.cut->table->data : nullptr, call);
    if (e.kernel.grid > 0) device_.launch(*prepared(s).kernel, call.args(), e.kernel, site_of(s));
    if (e.cut) join(s, e, partials);
    ++counters().kernels_on_device;
    counters().bytes_moved += static_cast<std::uint64_t>(l.bytes);
    settle_roots(s, s.update);
  }

  void allocate_root(std::int32_t r, UpdateMode mode) {
    const Node& n = *g_[r].node;
    if (n.kind != NodeKind::Update) {
      memory_[r] = {device_.allocate(bytes_of(n)), 0};
      return;
    }
    const NodeMemory& old = memory_[g_[r].in[0]];
    if (mode == UpdateMode::InPlace) {
      memory_[r] = old;
      static_cast<DeviceBuffer&>(*old.buffer).mirror.reset();
      return;
    }
    const UpdateCopy c = surviving(n, g_[r].in[2] >= 0);
    NodeMemory fresh{device_.allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
    for (const Stretches& k : c.kept)
      device_.copy(fresh.at() + k.begin, old.at() + k.begin, static_cast<std::size_t>(k.bytes),
                   static_cast<std::size_t>(k.count), static_cast<std::size_t>(k.pitch));
    memory_[r] = std::move(fresh);
  }

  void join(const Step& s, const Extents& e, const std::vector<Ref<Buffer>>& partials) {
    const fusion::LoweredKernel& l = s.lowered;
    for (std::size_t p = 0; p < l.partials.size(); ++p) {
      const fusion::Partial& part = l.partials[p];
      const Node& n = *g_[part.root].node;
      const bool arg = n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax;
      DeviceJoin j{};
      j.kind = arg ? n.reduce : part.kind;
      j.dtype = part.dtype;
      j.tree = l.pairwise_chunks;
      j.extent = e.kernel.split;
      j.chunks = e.kernel.grid;
      j.longest = e.cut->longest;
      j.outputs = values_[part.outputs];
      for (std::int32_t d : l.kept) {
        j.shape.push_back(n.shape[d]);
        j.strides.push_back(n.strides[d]);
      }
      j.rows = partials[p]->data;
      if (arg) j.indices = partials[++p]->data;
      j.bounds = e.cut->table->data;
      j.out = memory_[part.root].at();
      device_.join(j, site_of(s));
    }
  }

  // --- matrix products --------------------------------------------------------------------------

  // False when the step is none.
  bool product(const Step& s) {
    const std::int32_t r = s.region.roots[0];
    const std::int32_t m = s.epilogue ? s.epilogue.product : r;
    const Node& n = *g_[m].node;
    if (n.kind != NodeKind::MatMul) return false;
    std::vector<Ref<Node>> copies;  // alive until the product was submitted
    DeviceProduct p{};
    p.dtype = n.dtype;
    p.batch = Dims(n.shape.begin(), n.shape.end() - 2);
    p.a = factor(g_[m].in[0], copies);
    p.b = factor(g_[m].in[1], copies);
    p.m = n.shape[n.shape.size() - 2];
    p.n = n.shape.back();
    p.k = g_[g_[m].in[0]].node->shape.back();
    if (s.epilogue.whole)
      p.residual = residual(s.epilogue.addend);
    else if (s.epilogue)
      p.bias = bias(s.epilogue.addend, copies);
    memory_[r] = {device_.allocate(bytes_of(n)), 0};
    p.c = memory_[r].at();
    const LaunchSite site{"matmul", n.site};
    if (!device_.multiply(p, site)) {
      p.bias = nullptr;
      device_.multiply(p, site);
      memory_[m] = std::exchange(memory_[r], {});
      memory_[r] = sum(r, m, s.epilogue.addend);
      memory_[m] = {};
    }
    ++counters().kernels_on_device;
    counters().bytes_moved += static_cast<std::uint64_t>(s.lowered.bytes);
    settle_roots(s, UpdateMode::None);
    return true;
  }

  // A factor as it lies in memory, or a copy for the library when no axis of its matrices is
  // contiguous.
  DeviceProduct::Operand factor(std::int32_t i, std::vector<Ref<Node>>& copies) {
    const Node& n = *g_[i].node;
    Ref<Node> in_memory = leaf_of(i);
    const int d = n.shape.size();
    const Dims& lies = in_memory->strides;
    if (device_.multiplies(n.dtype) &&
        !blas_layout(static_cast<std::int64_t>(itemsize(n.dtype)), lies[d - 2], lies[d - 1],
                     n.shape[d - 2], n.shape[d - 1]))
      in_memory = copies.emplace_back(dense(std::move(in_memory)));
    const Dims& strides = in_memory->strides;
    return {in_memory->data->data + in_memory->data_offset, strides[d - 2], strides[d - 1],
            Dims(strides.begin(), strides.end() - 2)};
  }

  const std::byte* bias(std::int32_t i, std::vector<Ref<Node>>& copies) {
    Ref<Node> in_memory = leaf_of(i);
    if (in_memory->shape.back() != 1 &&
        in_memory->strides.back() != static_cast<std::int64_t>(itemsize(in_memory->dtype)))
      in_memory = copies.emplace_back(dense(std::move(in_memory)));
    return in_memory->data->data + in_memory->data_offset;
  }

  const std::byte* residual(std::int32_t i) const {
    const Ref<Node> in_memory = leaf_of(i);
    return in_memory->data->data + in_memory->data_offset;
  }

  // What is in memory, in C order.
  Ref<Node> dense(Ref<Node> from) const {
    Ref<Node> copy = here(NodeKind::Cast, *from);
    copy->strides =
        contiguous_strides(from->shape, static_cast<std::int64_t>(itemsize(from->dtype)));
    copy->n_inputs = 1;
    copy->inputs[0] = std::move(from);
    Node* const wanted[] = {copy.get()};
    run_graph(wanted, id_);
    return copy;
  }

  // Node r's value, the sum of two that are in memory.
  NodeMemory sum(std::int32_t r, std::int32_t x, std::int32_t y) const {
    Ref<Node> n = here(NodeKind::Elementwise, *g_[r].node);
    n->fn = OpId::Add;
    n->strides = g_[r].node->strides;
    n->n_inputs = 2;
    n->inputs[0] = leaf_of(x);
    n->inputs[1] = leaf_of(y);
    Node* const wanted[] = {n.get()};
    run_graph(wanted, id_);
    return {n->data, n->data_offset};
  }

  // Node i, or the view that it is, as what is in memory.
  Ref<Node> leaf_of(std::int32_t i) const {
    const Node& n = *g_[i].node;
    Ref<Node> leaf = here(NodeKind::Data, n);
    NodeMemory m = memory_[i];
    leaf->strides = m ? fusion::own_strides(n) : n.strides;
    if (!m) {
      std::int64_t offset = 0;
      std::int32_t base = i;
      for (; g_[base].node->kind == NodeKind::View && !g_[base].leaf; base = g_[base].in[0])
        offset += g_[base].node->offset;
      m = memory_[base];
      m.offset += offset;
    }
    leaf->data = m.buffer;
    leaf->data_offset = m.offset;
    return leaf;
  }

  // A node of n's dtype and shape on this device, outside the recorded graph.
  Ref<Node> here(NodeKind kind, const Node& n) const {
    Ref<Node> c = tracer::new_node(kind);
    c->dtype = n.dtype;
    c->shape = n.shape;
    c->device = id_;
    c->site = n.site;
    return c;
  }

  // --- steps that the device has no code for ----------------------------------------------------

  // Every root of the step is computed by the reference evaluator from the host's copies of what
  // the step reads, and goes back to the device.
  void on_host(Step& s) {
    for (std::int32_t r : s.region.roots) {
      Node& n = *g_[r].node;
      if (n.kind == NodeKind::View && memory_[g_[r].in[0]]) {
        const NodeMemory& base = memory_[g_[r].in[0]];
        memory_[r] = {base.buffer, base.offset + n.offset};
      } else {
        if (logging(Log::Fallback)) log(Log::Fallback, fallback_text(s, n));
        ++counters().steps_moved_to_host;
        const Ref<Node> computed = shadow(r, [](const Ref<Buffer>& b) {
          host_mirror(*b);
          return static_cast<DeviceBuffer&>(*b).mirror;
        });
        Node* wanted[] = {computed.get()};
        evaluate_direct(wanted);
        const Ref<Buffer> buffer =
            device_.upload(computed->data->data, computed->data->bytes, "computed on the host");
        memory_[r] = {buffer, computed->data_offset};
      }
      tracer::settle(n, memory_[r].buffer, memory_[r].offset);
    }
  }

  std::string fallback_text(const Step& s, const Node& n) const {
    std::string what = n.kind == NodeKind::Elementwise ? std::string(op_info(n.fn).name)
                       : n.kind == NodeKind::Reduce    ? std::string(reduce_info(n.reduce).name)
                       : n.kind == NodeKind::Call      ? std::string(call_info(n.call).name)
                                                       : "a region";
    if (s.compiled && !prepared(const_cast<Step&>(s)).why.empty())
      what += " (" + prepared(const_cast<Step&>(s)).why + ")";
    return device_.name() + ": " + what + " runs on the host";
  }

  Device& device_;
  const DeviceId id_;
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
  const std::shared_ptr<Plan> plan = plan_for(g, values, id, kDeviceTarget);
  note_plan(*plan);
  const Watched watched(g, *plan, values, id);
  DeviceRun(g, *plan, values, id).run();
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

void evaluate_on_device(std::span<Node* const> wanted, DeviceId id) {
  const std::lock_guard held(tracer::lock());
  ++counters().evaluations;
  if (config().fuse)
    run_graph(wanted, id);
  else
    run_one_at_a_time(wanted, id);
}

}  // namespace plait::engine
