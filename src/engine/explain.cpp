// The text of plait.explain: what the plan of a graph looks like and what it costs.
#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "device.hpp"
#include "kernel.hpp"
#include "run.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Step;
using fusion::StepKind;
using tracer::Node;
using tracer::NodeKind;

namespace {

constexpr std::string_view kCpu = "cpu";

// For predicted times only: bytes and rough operations a second and thread.
constexpr double kBytesPerSecond = 15e9;
constexpr double kOperationsPerSecond = 6e9;

std::string operation(const Node& n) {
  switch (n.kind) {
    case NodeKind::Data:
      return "data";
    case NodeKind::Scalar:
      return "scalar";
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
    case NodeKind::MatMul:
      return "matmul";
  }
  return "?";
}

std::string typed(const Node& n) {
  return operation(n) + " " + std::string(name(n.dtype)) + to_string(n.shape);
}

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
    if (i.op == ir::Op::LoadLocal || i.op == ir::Op::StoreLocal)
      ++ops["local " + std::string(i.op == ir::Op::LoadLocal ? "load" : "store")];
  }
  out << indent << (l == 0 ? "parallel loop" : loop.reductions.empty() ? "loop" : "reduction");
  for (const ir::Reduction& r : loop.reductions)
    out << " " << reduce_info(r.kind).name << (r.order == ir::Order::Pairwise ? " pairwise" : "")
        << (r.guarded_sqrt ? " of the squares (root left out)" : "");
  if (loop.vector) out << ", vector x" << loop.unroll;
  if (loop.prefetch) out << ", prefetch";
  if (!ops.empty()) {
    out << ":";
    for (const auto& [op, n] : ops) out << " " << op << (n > 1 ? " x" + std::to_string(n) : "");
  }
  out << "\n";
  for (ir::Val v : loop.body) {
    const ir::Inst& i = k.insts[v];
    if (i.op == ir::Op::For || i.op == ir::Op::Reduce) nest(k, i.index, indent + "  ", out);
  }
}

std::string tier(const CompiledKernel& k) {
  if (k.jitted()) return "machine code";
  return config().jit == JitMode::Off ? "interpreter (PLAIT_JIT=off)"
                                      : "interpreter, machine code when it pays";
}

// The kernel at the numbers of this graph, for a target other than the host.
std::string target_text(const Graph& g, const Step& s, const std::vector<std::int64_t>& values,
                        const ExplainOptions& options) {
  const fusion::LoweredKernel& l = s.lowered;
  std::vector<std::int64_t> params;
  for (fusion::ExprId e : l.params) params.push_back(values[e]);
  params.push_back(0);  // never empty
  KernelExtents e{params.data(), values[l.grid_extent], 0};
  if (s.region.kind == fusion::RegionKind::Blocked) {
    const Node& operand = *g[g[s.region.roots[0]].in[0]].node;
    const std::int64_t inner = element_count(operand.shape) / std::max<std::int64_t>(1, e.grid);
    e.split = e.grid;
    e.grid = (l.pairwise_chunks ? tree_chunks(e.split) : even_chunks(e.split, inner)).count();
  }
  return explain_kernel(l.kernel, e, options.target, options.source);
}

std::string direct_text(const Graph& g, const Step& s, const ExplainOptions& options) {
  const Node& n = *g[s.epilogue ? s.epilogue.product : s.region.roots[0]].node;
  if (options.target == kCpu || n.kind != NodeKind::MatMul)
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

void step_text(const Graph& g, Step& s, std::size_t number, const std::vector<std::int64_t>& values,
               const ExplainOptions& options, std::ostringstream& out) {
  out << "\nregion " << number << ": ";
  for (std::size_t r = 0; r < s.region.roots.size(); ++r)
    out << (r ? ", " : "") << typed(*g[s.region.roots[r]].node);
  out << "\n";
  if (s.kind == StepKind::Direct) {
    out << direct_text(g, s, options);
    return;
  }
  if (s.region.kind == fusion::RegionKind::Blocked)
    out << "  chunks of the reduced axis, joined in a fixed order\n";
  if (s.update == fusion::UpdateMode::InPlace) out << "  writes in place\n";
  if (s.update == fusion::UpdateMode::Fresh)
    out << (s.trailing
                ? "  writes in place behind the loads that look back (small: to fresh memory)\n"
                : "  writes to fresh memory, because the old contents are still read\n");
  nest(s.lowered.kernel, 0, "  ", out);
  if (options.target != kCpu) {
    out << target_text(g, s, values, options) << "  "
        << bytes_text(static_cast<double>(s.lowered.bytes)) << " moved\n";
    return;
  }
  if (!s.compiled) s.compiled = compiled(s.lowered.kernel);
  const auto& k = *static_cast<CompiledKernel*>(s.compiled.get());
  const double threads = num_threads();
  const double predicted = std::max(static_cast<double>(s.lowered.bytes) / kBytesPerSecond,
                                    s.lowered.work / kOperationsPerSecond) /
                           threads;
  char text[160];
  std::snprintf(text, sizeof text, "  %s moved; predicted %.3g ms, measured ",
                bytes_text(static_cast<double>(s.lowered.bytes)).c_str(), predicted * 1e3);
  out << text;
  if (k.last_seconds() > 0) {
    std::snprintf(text, sizeof text, "%.3g ms", k.last_seconds() * 1e3);
    out << text;
  } else {
    out << "not run yet";
  }
  out << "; tier: " << tier(k) << "\n";
}

}  // namespace

std::string target_of(DeviceId device) {
  return device == kHost ? std::string(kCpu) : device_of(device).target();
}

std::string plan_text(const Graph& g, fusion::Plan& plan, const std::vector<std::int64_t>& values,
                      const ExplainOptions& options) {
  std::ostringstream out;
  const std::size_t n = plan.steps.size();
  out << n << (n == 1 ? " region" : " regions") << " from " << g.size() << " nodes; "
      << bytes_text(static_cast<double>(plan.bytes_moved)) << " moved, at least "
      << bytes_text(static_cast<double>(plan.bytes_least)) << " needed";
  if (options.target == kCpu)
    out << "; " << num_threads() << (num_threads() == 1 ? " thread" : " threads");
  out << "\n";
  for (std::size_t s = 0; s < n; ++s) step_text(g, plan.steps[s], s + 1, values, options, out);
  if (!plan.notes.empty()) out << "\nin memory:\n";
  for (const fusion::Note& note : plan.notes)
    out << "  " << typed(*g[note.node].node) << ": " << note.text << "\n";
  int inlined = 0;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const bool root = std::any_of(plan.notes.begin(), plan.notes.end(),
                                  [&](const fusion::Note& t) { return t.node == i; });
    inlined += !g[i].leaf && !root;
  }
  out << "fused: " << inlined << " nodes need no memory\n";
  if (devices_in_use()) {
    const TransferStats& t = transfer_stats();
    out << "copies so far: " << t.to_device << " to devices ("
        << bytes_text(static_cast<double>(t.bytes_to_device)) << "), " << t.to_host
        << " to the host (" << bytes_text(static_cast<double>(t.bytes_to_host)) << ")\n";
  }
  return out.str();
}

std::string explain(std::span<Node* const> wanted, const ExplainOptions& asked) {
  const std::lock_guard held(tracer::lock());
  ExplainOptions options = asked;
  if (options.target.empty()) {
    DeviceId device = kHost;
    for (const Node* n : wanted) device = std::max(device, n->device);
    options.target = target_of(device);
  }
  std::vector<std::int64_t> values;
  const Graph g(wanted);
  if (g.nodes.empty()) return "0 regions: everything is in memory\n";
  const std::shared_ptr<fusion::Plan> plan =
      options.target == kCpu ? plan_for(g, values) : plan_for(g, values, kLookedAt, kDeviceTarget);
  return plan_text(g, *plan, values, options);
}

}  // namespace plait::engine
