// What explain() says of an evaluation, gathered from its graph and plan.
#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "core/call_table.hpp"
#include "engine/devices/device.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/plan_run.hpp"
#include "engine/plans/state.hpp"
#include "engine/products/packed_operands.hpp"
#include "engine/threads/team.hpp"
#include "fusion/schedule/cost.hpp"
#include "fusion/traffic.hpp"
#include "ir/analysis.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"
#include "tracer/derived.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Step;
using fusion::StepKind;
using tracer::Node;
using tracer::NodeKind;

namespace {

std::string operation(const Node& n) {
  switch (n.kind) {
    case NodeKind::Data:
      return "data";
    case NodeKind::Scalar:
      return "scalar";
    case NodeKind::Empty:
      return "empty";
    case NodeKind::Fill:
      return "fill";
    case NodeKind::Iota:
      return "arange";
    case NodeKind::Elementwise:
      return std::string(op_info(n.fn).name);
    case NodeKind::Cast:
      return "cast";
    case NodeKind::Reduce:
      return std::string(reduce_info(n.reduce).name);
    case NodeKind::View:
      return "view";
    case NodeKind::Update:
      return "update";
    case NodeKind::Gather:
      return "gather";
    case NodeKind::MatMul:
      return "matmul";
    case NodeKind::Call:
      return std::string(call_info(n.call).name) +
             (n.fn == OpId::Count_ ? "" : " " + std::string(op_info(n.fn).name));
  }
  return "?";
}

std::string typed(const Node& n) {
  const std::string type = std::string(name(n.dtype)) + to_string(n.shape);
  return n.kind == NodeKind::Data ? type : operation(n) + " " + type;
}

// The nest as a tree of loops: what each runs over, and which one the lanes take.
void nest(const ir::Kernel& k, std::int32_t l, const std::string& indent, std::ostringstream& out) {
  const ir::Loop& loop = k.loops[static_cast<std::size_t>(l)];
  std::map<std::string, int> ops;
  for (ir::Val v : loop.body) {
    const ir::Inst& i = k.insts[v];
    if (i.op == ir::Op::Apply) ++ops[std::string(op_info(i.fn).name)];
    if (i.op == ir::Op::Load) ++ops["load"];
    if (i.op == ir::Op::Store) ++ops[i.nontemporal ? "streaming store" : "store"];
    if (i.op == ir::Op::Cast) ++ops["cast"];
    if (i.op == ir::Op::Scatter) ++ops["scatter"];
    if (i.op == ir::Op::Fragment) ++ops["block of a matrix product"];
    if (i.op == ir::Op::LoadLocal || i.op == ir::Op::StoreLocal)
      ++ops["local " + std::string(i.op == ir::Op::LoadLocal ? "load" : "store")];
  }
  out << indent << (l == 0 ? "parallel loop" : loop.reductions.empty() ? "loop" : "reduction");
  for (const ir::Reduction& r : loop.reductions)
    out << " " << reduce_info(r.kind).name << (r.order == ir::Order::Pairwise ? " pairwise" : "")
        << (r.guarded_sqrt ? " of the squares (root left out)" : "");
  if (loop.lanes()) out << ", vector x" << loop.unroll;
  if (loop.prefetch) out << ", prefetch";
  if (loop.aligned) out << ", aligned";
  if (!ops.empty()) {
    out << ":";
    for (const auto& [op, n] : ops) out << " " << op << (n > 1 ? " x" + std::to_string(n) : "");
  }
  out << "\n";
  for (ir::Val v : loop.body) {
    const ir::Inst& i = k.insts[v];
    if (opens_loop(i)) nest(k, i.index, indent + "  ", out);
  }
}

// The kernel at the numbers of this graph, for a target other than the host.
std::string target_text(const Graph& g, const Step& s, const std::vector<std::int64_t>& values,
                        const ExplainOptions& options) {
  const fusion::LoweredKernel& l = s.lowered;
  std::vector<std::int64_t> params;
  for (fusion::ExprId e : l.params) params.push_back(values[e]);
  params.push_back(0);  // never empty
  KernelExtents e{params.data(), values[l.grid_extent], 0};
  if (s.region.order == fusion::FoldOrder::Chunks) {
    const Node& operand = *g[g[s.region.roots[0]].in[0]].node;
    const std::int64_t inner = element_count(operand.shape) / std::max<std::int64_t>(1, e.grid);
    e.split = e.grid;
    e.grid = (l.pairwise_chunks ? tree_chunks(e.split) : even_chunks(e.split, inner)).count();
  }
  return explain_kernel(l.kernel, e, options.target, options.source);
}

std::string direct_text(const Graph& g, const Step& s, const ExplainOptions& options) {
  const Node& n = *g[s.epilogue ? s.epilogue.product : s.region.roots[0]].node;
  if (options.target == kCpuTarget || n.kind != NodeKind::MatMul)
    return "  one operation, computed by the library call or the reference evaluator\n";
  DeviceProduct p{};
  p.dtype = n.dtype;
  p.batch = Dims(n.shape.begin(), n.shape.end() - 2);
  p.m = n.shape[n.shape.size() - 2];
  p.n = n.shape.back();
  p.k = n.inputs[0]->shape.back();
  std::string text = "  one matrix product";
  if (s.epilogue) text += ", to which the same call adds " + typed(*g[s.epilogue.addend].node);
  return text + "\n" + explain_product(p, options.target, options.source);
}

std::string loop_text(const fusion::StepLoop& l) {
  std::ostringstream out;
  out << "  begins a loop of " << l.count << " steps";
  if (l.period > 1) out << " of " << l.period << " regions each";
  out << "\n";
  return out.str();
}

std::string body_text(const Graph& g, const Step& s, const std::vector<std::int64_t>& values,
                      const ExplainOptions& options) {
  if (s.kind == StepKind::Direct) return direct_text(g, s, options);
  std::ostringstream out;
  if (s.region.order == fusion::FoldOrder::Chunks)
    out << "  chunks of the reduced axis, joined in a fixed order\n";
  if (s.region.order == fusion::FoldOrder::ByIndex)
    out << "  pieces of what indices name the rows of, with tables that are joined in a fixed "
           "order\n";
  if (s.update == fusion::UpdateMode::InPlace) out << "  writes in place\n";
  if (s.lowered.rounds > 1)
    out << "  " << s.lowered.rounds << " steps of the program's loop, by a loop in the kernel\n";
  if (s.update == fusion::UpdateMode::Fresh)
    out << (s.trailing
                ? "  writes in place behind the loads that look back (small: to fresh memory)\n"
                : "  writes to fresh memory, because the old contents are still read\n");
  nest(s.lowered.kernel, 0, "  ", out);
  if (options.target != kCpuTarget) out << target_text(g, s, values, options);
  return out.str();
}

// Whose array it is: one of the names' whole storages.
std::string name_of(const Node& n, const Names& names) {
  for (const auto& [name, array] : names)
    if (array.storage && array.storage->version.get() == &n) return name;
  return {};
}

// The operations that a step computes: from its roots to what is in memory.
class Inside {
 public:
  Inside(const Graph& g, const fusion::Plan& plan, const std::vector<bool>& in_memory)
      : g_(g), plan_(plan), in_memory_(in_memory) {}

  std::set<std::int32_t> of(const Step& s) {
    found_.clear();
    for (std::int32_t r : s.region.roots) {
      found_.insert(r);
      inputs(r);
      if (s.epilogue && s.epilogue.product != r) inputs(s.epilogue.product);
    }
    return found_;
  }

 private:
  void inputs(std::int32_t n) {
    std::vector<std::int32_t> open{n};
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      for (std::int32_t in : g_[at].in) {
        if (in < 0) continue;
        in = plan_.canon[static_cast<std::size_t>(in)];
        if (in_memory_[static_cast<std::size_t>(in)] || g_[in].leaf) continue;
        if (found_.insert(in).second) open.push_back(in);
      }
    }
  }

  const Graph& g_;
  const fusion::Plan& plan_;
  const std::vector<bool>& in_memory_;
  std::set<std::int32_t> found_;
};

// Of some nodes those that no other of them reads.
std::vector<std::int32_t> outermost(const Graph& g, const std::vector<std::int32_t>& nodes) {
  std::set<std::int32_t> read;
  for (std::int32_t n : nodes) {
    std::vector<std::int32_t> open{n};
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      for (std::int32_t in : g[at].in)
        if (in >= 0 && !g[in].leaf && read.insert(in).second) open.push_back(in);
    }
  }
  std::vector<std::int32_t> result;
  for (std::int32_t n : nodes)
    if (!read.contains(n)) result.push_back(n);
  return result;
}

bool computes(const Node& n) {
  return n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast ||
         n.kind == NodeKind::Reduce || n.kind == NodeKind::Gather || n.kind == NodeKind::MatMul ||
         n.kind == NodeKind::Call;
}

std::vector<std::uint32_t> sites_of(const Graph& g, const std::set<std::int32_t>& nodes) {
  std::vector<std::uint32_t> sites;
  for (std::int32_t i : nodes) {
    const std::uint32_t site = g[i].node->site;
    if (site && std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(site);
  }
  return sites;
}

// How a stored value lies, and why; nothing of vectors. `chosen`: its axes, where that was planned.
std::string layout_text(const Node& n, const Dims& chosen) {
  const std::vector<int> order = fusion::by_width(n.shape, fusion::own_strides(n));
  if (order.size() < 2 || n.kind == NodeKind::Update) return {};
  std::vector<int> axes(chosen.begin(), chosen.end());
  std::erase_if(axes, [&](int d) { return n.shape[d] == 1; });
  const std::vector<int>& lies = chosen.empty() ? order : axes;
  std::string text = "; ";
  if (std::is_sorted(lies.begin(), lies.end())) {
    text += "in C order";
  } else {
    text += "axes";
    for (const int d : lies) text += " " + std::to_string(d);
    text += ", the widest first";
  }
  return text +
         (chosen.empty() ? ", as NumPy lays it out" : ", as the array that it is written to");
}

std::int64_t scratch_bytes(const fusion::LoweredKernel& l, std::int32_t local,
                           const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> params;
  for (const fusion::ExprId e : l.params) params.push_back(values[static_cast<std::size_t>(e)]);
  const ir::Local& of = l.kernel.locals[static_cast<std::size_t>(local)];
  return ir::local_count(of, params.data()) * static_cast<std::int64_t>(itemsize(of.dtype));
}

// Of a kernel that moves so many bytes; its work grows as they do. `here`: on the host's threads.
double predicted(const Machine& m, bool here, const fusion::LoweredKernel& l, double bytes) {
  const double planned = static_cast<double>(l.bytes);
  const double work = planned > 0 ? l.work * bytes / planned : l.work;
  const double seconds = fusion::region_seconds(m, bytes, work);
  return here ? seconds / team_threads(seconds) : m.operation + seconds + l.serial_seconds;
}

}  // namespace

std::string bytes_text(double b) {
  const char* unit[] = {"B", "KiB", "MiB", "GiB"};
  int u = 0;
  while (b >= 1024 && u < 3) {
    b /= 1024;
    ++u;
  }
  char text[32];
  std::snprintf(text, sizeof text, u ? "%.1f %s" : "%.0f %s", b, unit[u]);
  return text;
}

Value value_of(const Node& n, const Names& names) { return {typed(n), name_of(n, names), n.site}; }

namespace {

Value value_of(const fusion::GNode& n, const Names& names) {
  return {typed(*n.node), name_of(*n.recorded, names), n.recorded->site};
}

// The array that a region stores or reads: of a view the one that it shows.
class Arrays {
 public:
  Arrays(const Graph& g, const Names& names)
      : g_(g), names_(names), report_(++state().reports << 32 | std::uint64_t{1} << 63) {}
  Value operator()(std::int32_t i) const {
    while (!g_[i].leaf && g_[i].node->kind == NodeKind::View && g_[i].in[0] >= 0) i = g_[i].in[0];
    const fusion::GNode& n = g_[i];
    Value v = value_of(n, names_);
    v.array = tracer::contents_of(*n.recorded);
    if (v.array == 0) v.array = report_ | static_cast<std::uint64_t>(i);
    v.bytes = element_count(n.node->shape) * static_cast<std::int64_t>(itemsize(n.node->dtype));
    return v;
  }

 private:
  const Graph& g_;
  const Names& names_;
  const std::uint64_t report_;
};

void note_packed(RegionReport& to, const fusion::GNode& n, const Names& names) {
  const Node* of = n.node;
  while (of->kind == NodeKind::View && !of->data) of = of->inputs[0].get();
  if (of->contents == 0) return;
  if (const std::size_t bytes = packed_operands().kept(of->contents))
    to.packed.emplace_back(engine::value_of(*of, names), bytes);
}

}  // namespace

Report gather(const Graph& g, fusion::Plan& plan, const std::vector<std::int64_t>& values,
              const ExplainOptions& options, const Names& names) {
  Report r;
  r.target = options.target;
  r.nodes = g.size();
  const fusion::PlanGraph planned(g);
  const fusion::Traffic traffic = fusion::traffic_of(planned, plan.steps);
  r.bytes_moved = traffic.all;
  r.bytes_least = traffic.least;
  std::vector<bool> in_memory(static_cast<std::size_t>(g.size()));
  for (const Step& s : plan.steps)
    for (std::int32_t root : s.region.roots) in_memory[static_cast<std::size_t>(root)] = true;
  for (std::int32_t i = 0; i < g.size(); ++i)
    r.fused += !g[i].leaf && !in_memory[static_cast<std::size_t>(i)];
  Inside inside(g, plan, in_memory);
  const Arrays array(g, names);
  std::map<std::int32_t, double> times;
  const bool here = options.target == kCpuTarget;
  const Machine machine = here ? host_machine() : machine_of(options.target);
  if (here) take_kernels(plan);
  const fusion::StepLoop* loop = plan.loops.data();
  const fusion::StepLoop* const last_loop = loop + plan.loops.size();
  for (Step& s : plan.steps) {
    RegionReport region;
    for (std::int32_t root : s.region.roots) region.results.push_back(array(root));
    const std::set<std::int32_t> nodes = inside.of(s);
    region.sites = sites_of(g, nodes);
    region.body = body_text(g, s, values, options);
    if (loop != last_loop && loop->first == r.regions.size())
      region.body = loop_text(*loop++) + region.body;
    region.bytes = traffic.moved[r.regions.size()];
    std::set<std::int32_t> read;
    for (const fusion::Read& in : s.lowered.reads) read.insert(in.node);
    if (s.kind == StepKind::Direct)
      for (std::int32_t in : fusion::operands(planned, s.region.roots[0], s.epilogue))
        read.insert(in);
    for (std::int32_t in : read) {
      region.reads.push_back(array(in));
      note_packed(region, g[in], names);
    }
    for (const fusion::Place& p : s.lowered.places) {
      const std::int64_t bytes = scratch_bytes(s.lowered, p.local, values);
      const auto known = std::find_if(
          region.scratch.begin(), region.scratch.end(), [&](const RegionReport::Scratch& other) {
            return other.node == p.node && other.level == p.level && other.why == p.why;
          });
      if (known == region.scratch.end())
        region.scratch.push_back({p.node, value_of(g[p.node], names), p.level, p.why, bytes});
      else
        known->bytes += bytes;
    }
    if (s.kind == StepKind::Kernel) {
      if (here) region.compiled = s.compiled;
      region.predicted = predicted(machine, here, s.lowered, static_cast<double>(region.bytes));
    }
    for (std::int32_t n : nodes)
      if (computes(*g[n].node)) {
        const auto found = s.lowered.repeated.find(n);
        times[n] += found == s.lowered.repeated.end() ? 1 : found->second;
      }
    r.regions.push_back(std::move(region));
  }
  std::vector<std::int32_t> repeated, again;
  for (const auto& [n, count] : times) {
    if (count >= 1.5) repeated.push_back(n);
    if (tracer::computed_before(*g[n].recorded)) again.push_back(n);
  }
  for (std::int32_t n : outermost(g, repeated))
    r.repeated.emplace_back(value_of(g[n], names), times[n]);
  for (std::int32_t n : outermost(g, again)) r.again.push_back(value_of(g[n], names));
  for (const fusion::Note& note : plan.notes)
    r.in_memory.emplace_back(array(note.node),
                             note.text + layout_text(*g[note.node].node, plan.layouts[note.node]));
  for (const fusion::Choice& c : plan.considered)
    r.considered.push_back({value_of(g[c.node], names), c.why, c.as_is, c.instead, c.taken});
  for (const fusion::Contender& c : plan.contenders)
    r.contenders.push_back(
        {c.node < 0 ? Value{} : value_of(g[c.node], names), c.why, c.taken, c.chosen, c.seconds});
  return r;
}

Report gather_one_at_a_time(const Graph& g, const Names& names) {
  Report r;
  r.how = Report::OneAtATime;
  r.target = kCpuTarget;
  r.nodes = g.size();
  const Arrays array(g, names);
  const auto bytes = [](const Node& n) {
    return element_count(n.shape) * static_cast<std::int64_t>(itemsize(n.dtype));
  };
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const Node& n = *g[i].node;
    if (g[i].leaf) {
      r.bytes_least += n.kind == NodeKind::Scalar ? 0 : bytes(n);
      continue;
    }
    if (g[i].wanted) r.bytes_least += bytes(n);
    if (n.kind == NodeKind::View) continue;
    RegionReport region;
    region.results.push_back(array(i));
    region.sites = sites_of(g, {i});
    region.bytes = bytes(n);
    for (std::int32_t in : g[i].in) {
      if (in < 0 || g[in].node->kind == NodeKind::Scalar) continue;
      region.bytes += bytes(*g[in].node);
      region.reads.push_back(array(in));
      if (n.kind == NodeKind::MatMul) note_packed(region, g[in], names);
    }
    r.bytes_moved += region.bytes;
    r.regions.push_back(std::move(region));
  }
  return r;
}

}  // namespace plait::engine
