// Runs a plan on a device: the same plan and the same loop IR as on the host, with memory of the
// device. Nothing waits for the device, unless a step has to be computed on the host.
#include <algorithm>
#include <future>
#include <map>
#include <mutex>
#include <tuple>

#include "core/config.hpp"
#include "device.hpp"

namespace plait::engine {
using fusion::BufferSource;
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
};
const Cut& cut_for(Device& device, DeviceId id, bool tree, std::int64_t extent,
                   std::int64_t inner) {
  using Key = std::tuple<DeviceId, bool, std::int64_t, std::int64_t>;
  constexpr std::size_t kMost = 256;
  static auto& cuts = *new std::map<Key, Cut>;  // guarded by the recorder's lock
  const Key key{id, tree, extent, tree ? 0 : inner};
  if (auto it = cuts.find(key); it != cuts.end()) return it->second;
  if (cuts.size() >= kMost) cuts.clear();
  Cut c{tree ? tree_chunks(extent) : even_chunks(extent, inner), {}};
  const std::size_t bytes = c.chunks.bounds.size() * sizeof c.chunks.bounds[0];
  c.table = device.allocate(bytes);
  device.upload(c.table->data, c.chunks.bounds.data(), bytes, "chunks of a reduction");
  return cuts.emplace(key, std::move(c)).first->second;
}

class DeviceRun {
 public:
  DeviceRun(const Graph& g, Plan& p, const std::vector<std::int64_t>& values, DeviceId id)
      : g_(g), plan_(p), values_(values), device_(device_of(id)), id_(id), memory_(g.nodes.size()) {
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (g[i].leaf && g[i].node->data) memory_[i] = {g[i].node->data, g[i].node->data_offset};
  }

  void run() {
    compile_all();
    for (Step& s : plan_.steps) {
      if (interrupt_requested()) throw Interrupted("interrupted");
      if (s.kind == StepKind::Kernel && prepared(s).kernel)
        kernel(s);
      else
        on_host(s);
      for (std::int32_t n : s.dies) memory_[n] = {};
    }
  }

 private:
  // The numbers of one launch.
  struct Call {
    std::vector<std::int64_t> params;
    KernelExtents extents{};
    const Cut* cut = nullptr;
  };

  static Prepared& prepared(Step& s) { return *static_cast<Prepared*>(s.compiled.get()); }

  Call call_of(const Step& s) {
    const fusion::LoweredKernel& l = s.lowered;
    Call c;
    c.params.reserve(l.params.size() + 1);
    for (fusion::ExprId e : l.params) c.params.push_back(values_[e]);
    c.extents = {c.params.data(), values_[l.grid_extent], 0};
    if (s.region.kind == RegionKind::Blocked) {
      const Node& operand = *g_[g_[s.region.roots[0]].in[0]].node;
      const std::int64_t extent = c.extents.grid;
      const std::int64_t inner = element_count(operand.shape) / std::max<std::int64_t>(1, extent);
      c.cut = &cut_for(device_, id_, l.pairwise_chunks, extent, inner);
      c.extents.split = extent;
      c.extents.grid = c.cut->chunks.count();
    }
    return c;
  }

  // Regions that were not compiled yet are compiled side by side before anything runs.
  void compile_all() {
    std::vector<std::pair<Prepared*, Call>> missing;
    for (Step& s : plan_.steps) {
      if (s.kind == StepKind::Direct) continue;
      if (!s.compiled) {
        auto p = std::make_shared<Prepared>();
        p->kernel = device_.prepare(s.lowered.kernel, &p->why);
        s.compiled = p;
      }
      Prepared& p = prepared(s);
      if (!p.kernel) continue;
      Call c = call_of(s);
      if (!device_.is_compiled(*p.kernel, c.extents)) missing.emplace_back(&p, std::move(c));
    }
    std::vector<std::future<void>> others;
    auto compile = [this](Prepared& p, const Call& c) {
      try {
        device_.compile(*p.kernel, c.extents);
      } catch (const CompileError& e) {
        if (logging(Log::Compile)) log(Log::Compile, e.what());
        p.kernel = nullptr;
        p.why = "it does not compile";
      }
    };
    for (std::size_t i = 1; i < missing.size(); ++i)
      others.push_back(std::async(std::launch::async,
                                  [&, i] { compile(*missing[i].first, missing[i].second); }));
    if (!missing.empty()) compile(*missing[0].first, missing[0].second);
    for (std::future<void>& f : others) f.get();
  }

  LaunchSite site_of(const Step& s) const {
    return {s.lowered.kernel.name, g_[s.region.roots[0]].node->site};
  }

  void kernel(Step& s) {
    const fusion::LoweredKernel& l = s.lowered;
    const Call c = call_of(s);
    std::vector<Scalar> scalars;
    scalars.reserve(l.scalars.size());
    for (std::int32_t n : l.scalars) scalars.push_back(g_[n].node->scalar);
    const std::int64_t outputs = values_[l.outputs];
    std::vector<Ref<Buffer>> partials;
    if (c.cut)
      for (const fusion::Partial& p : l.partials)
        partials.push_back(device_.allocate(static_cast<std::size_t>(c.extents.grid * outputs) *
                                            itemsize(p.dtype)));
    for (std::int32_t r : s.region.roots) allocate_root(r, s.update);
    std::vector<void*> buffers;
    buffers.reserve(l.buffers.size());
    for (const BufferSource& b : l.buffers) switch (b.kind) {
        case BufferSource::NodeMemory:
          buffers.push_back(memory_[b.index].at());
          break;
        case BufferSource::Partial:
          buffers.push_back(partials[static_cast<std::size_t>(b.index)]->data);
          break;
        case BufferSource::ChunkTable:
          buffers.push_back(c.cut->table->data);
          break;
      }
    if (c.extents.grid > 0)
      device_.launch(*prepared(s).kernel, {buffers.data(), c.params.data(), scalars.data()},
                     c.extents, site_of(s));
    if (c.cut) join(s, c, partials, outputs);
    ++counters().kernels_on_device;
    counters().bytes_moved += static_cast<std::uint64_t>(l.bytes);
    settle_roots(s);
  }

  void allocate_root(std::int32_t r, UpdateMode mode) {
    const Node& n = *g_[r].node;
    if (n.kind != NodeKind::Update) {
      memory_[r] = {device_.allocate(bytes_of(n)), 0};
      return;
    }
    const Memory& old = memory_[g_[r].in[0]];
    if (mode == UpdateMode::InPlace) {
      memory_[r] = old;
      static_cast<DeviceBuffer&>(*old.buffer).mirror.reset();
      return;
    }
    const UpdateCopy c = surviving(n, g_[r].in[2] >= 0);
    Memory fresh{device_.allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
    copy(fresh, old, c.first, c.hole_begin);
    copy(fresh, old, c.hole_end, c.last);
    memory_[r] = std::move(fresh);
  }
  void copy(const Memory& to, const Memory& from, std::int64_t begin, std::int64_t end) {
    if (begin < end)
      device_.copy(to.at() + begin, from.at() + begin, static_cast<std::size_t>(end - begin));
  }

  void join(const Step& s, const Call& c, const std::vector<Ref<Buffer>>& partials,
            std::int64_t outputs) {
    const fusion::LoweredKernel& l = s.lowered;
    for (std::size_t p = 0; p < l.partials.size(); ++p) {
      const fusion::Partial& part = l.partials[p];
      const Node& n = *g_[part.root].node;
      const bool arg = n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax;
      DeviceJoin j{};
      j.kind = arg ? n.reduce : part.kind;
      j.dtype = part.dtype;
      j.tree = l.pairwise_chunks;
      j.extent = c.extents.split;
      j.chunks = c.extents.grid;
      j.outputs = outputs;
      for (std::int32_t d : l.kept) {
        j.shape.push_back(n.shape[d]);
        j.strides.push_back(n.strides[d]);
      }
      j.rows = partials[p]->data;
      if (arg) j.indices = partials[++p]->data;
      j.bounds = c.cut->table->data;
      j.out = memory_[part.root].at();
      device_.join(j, site_of(s));
    }
  }

  // --- steps that the device has no code for ----------------------------------------------------

  // Every root of the step is computed by the reference evaluator from the host's copies of what
  // the step reads, and goes back to the device.
  void on_host(Step& s) {
    for (std::int32_t r : s.region.roots) {
      Node& n = *g_[r].node;
      if (n.kind == NodeKind::View && memory_[g_[r].in[0]]) {
        const Memory& base = memory_[g_[r].in[0]];
        memory_[r] = {base.buffer, base.offset + n.offset};
      } else {
        if (logging(Log::Fallback)) log(Log::Fallback, fallback_text(s, n));
        ++counters().steps_moved_to_host;
        std::map<std::int32_t, Ref<Node>> copies;
        const Ref<Node> computed = shadow(r, r, copies);
        Node* wanted[] = {computed.get()};
        evaluate_direct(wanted);
        const Ref<Buffer> buffer = device_.allocate(computed->data->bytes);
        device_.upload(buffer->data, computed->data->data, computed->data->bytes,
                       "computed on the host");
        memory_[r] = {buffer, computed->data_offset};
      }
      tracer::settle(n, memory_[r].buffer, memory_[r].offset);
    }
  }

  std::string fallback_text(const Step& s, const Node& n) const {
    std::string what = n.kind == NodeKind::MatMul        ? "matmul"
                       : n.kind == NodeKind::Elementwise ? std::string(op_info(n.fn).name)
                       : n.kind == NodeKind::Reduce      ? std::string(reduce_info(n.reduce).name)
                                                         : "a region";
    if (s.compiled && !prepared(const_cast<Step&>(s)).why.empty())
      what += " (" + prepared(const_cast<Step&>(s)).why + ")";
    return device_.name() + ": " + what + " runs on the host";
  }

  // A copy of the graph behind node i, down to what is in memory, with that memory on the host.
  Ref<Node> shadow(std::int32_t root, std::int32_t i, std::map<std::int32_t, Ref<Node>>& copies) {
    const Node& n = *g_[i].node;
    if (n.kind == NodeKind::Scalar) return Ref<Node>(g_[i].node);
    if (auto it = copies.find(i); it != copies.end()) return it->second;
    Ref<Node> c = tracer::new_node(n.kind);
    c->dtype = n.dtype;
    c->shape = n.shape;
    c->strides = n.strides;
    if (i != root && memory_[i]) {
      c->strides = fusion::own_strides(n);
      c->kind = NodeKind::Data;
      host_mirror(*memory_[i].buffer);
      c->data = static_cast<DeviceBuffer&>(*memory_[i].buffer).mirror;
      c->data_offset = memory_[i].offset;
    } else {
      c->fn = n.fn;
      c->reduce = n.reduce;
      c->n_inputs = n.n_inputs;
      c->errstate = n.errstate;
      c->site = n.site;
      c->offset = n.offset;
      c->axes = n.axes;
      c->view_shape = n.view_shape;
      c->view_strides = n.view_strides;
      c->view_dtype = n.view_dtype;
      for (int k = 0; k < 3; ++k)
        if (g_[i].in[k] >= 0) c->inputs[k] = shadow(root, g_[i].in[k], copies);
    }
    return copies[i] = c;
  }

  void settle_roots(const Step& s) {
    for (std::int32_t r : s.region.roots) {
      const fusion::GNode& gn = g_[r];
      const bool in_place = s.update == UpdateMode::InPlace;
      // What was overwritten cannot be computed again, and what others can ask for is kept.
      if (gn.wanted || gn.held || !gn.exclusive || in_place) {
        gn.node->strides = fusion::own_strides(*gn.node);
        tracer::settle(*gn.node, memory_[r].buffer, memory_[r].offset);
      }
      if (in_place) {
        const std::int32_t old = gn.in[0];
        memory_[old] = {};
        tracer::surrender(*g_[old].node);
      }
    }
  }

  const Graph& g_;
  Plan& plan_;
  const std::vector<std::int64_t>& values_;
  Device& device_;
  const DeviceId id_;
  std::vector<Memory> memory_;
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
  const std::shared_ptr<Plan> plan = plan_for(g, values, id, {.lanes = false});
  note_plan(*plan);
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
