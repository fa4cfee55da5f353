// The text of plait.explain: what the plan of a graph looks like and what it costs.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "core/config.hpp"
#include "engine/devices/device.hpp"
#include "engine/direct/direct.hpp"
#include "engine/plans/history.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/wavefront.hpp"
#include "report.hpp"
#include "tracer/context.hpp"

namespace plait::engine {
using fusion::Graph;
using tracer::Node;
using tracer::NodeKind;

namespace {

std::string tier(const CompiledKernel& k) {
  if (k.jitted()) return "machine code";
  return config().jit == JitMode::Off ? "interpreter (PLAIT_JIT=off)"
                                      : "interpreter, machine code when it pays";
}

std::string counted(std::size_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

// "d: sqrt float64(100000)": the caller's name for it, or what its statement calls it.
std::string named(const Value& v, SourceOf source) {
  const std::string name = name_in(v, source);
  return name.empty() ? v.type : name + ": " + v.type;
}

bool is_variable(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) || c < 0;
  });
}

void region_text(const RegionReport& r, const Report& of, int number, SourceOf source,
                 std::ostringstream& out) {
  out << (of.how == Report::Planned ? "\nregion " : "\noperation ") << number << ": ";
  for (std::size_t i = 0; i < r.results.size(); ++i)
    out << (i ? ", " : "") << named(r.results[i], source);
  out << "\n";
  std::vector<std::string> seen;
  for (const std::uint32_t site : r.sites) {
    const SourceLine line = source(site);
    if (line.where.empty() || std::find(seen.begin(), seen.end(), line.where) != seen.end())
      continue;
    seen.push_back(line.where);
    out << "  at " << line.where << (line.text.empty() ? "" : ": " + line.text) << "\n";
  }
  bool first = true;
  for (const Value& v : r.reads) {
    const std::string name = name_in(v, source);
    if (of.how == Report::OneAtATime || !is_variable(name)) continue;
    out << (first ? "  reads " : ", ") << name;
    first = false;
  }
  if (!first) out << "\n";
  out << r.body;
  for (const auto& [value, bytes] : r.packed)
    out << "  packed operand kept: " << named(value, source) << ", "
        << bytes_text(static_cast<double>(bytes)) << "\n";
  for (const RegionReport::Scratch& s : r.scratch)
    out << "  in " << scratch_space(of) << " at " << level_text(s.level) << ": "
        << named(s.value, source) << ", " << bytes_text(static_cast<double>(s.bytes)) << ": "
        << s.why << "\n";
  if (of.how == Report::OneAtATime) return;
  if (r.predicted == 0) {
    if (of.target != kCpuTarget && r.bytes)
      out << "  " << bytes_text(static_cast<double>(r.bytes)) << " moved\n";
    return;
  }
  if (r.schedule) out << schedule_text(r.schedule);
  char text[160];
  std::snprintf(text, sizeof text, "  %s moved; predicted %.3g ms",
                bytes_text(static_cast<double>(r.bytes)).c_str(), r.predicted * 1e3);
  out << text;
  if (!r.compiled) {
    out << "\n";
    return;
  }
  out << ", measured ";
  if (const double seconds = measured_seconds(r); seconds > 0) {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    out << text;
  } else {
    out << "not run yet";
  }
  out << "; tier: " << tier_of(r) << "\n";
}

// The dearest choices: what was taken and what it was held against.
void considered_text(const Report& r, SourceOf source, std::ostringstream& out) {
  constexpr std::size_t kMost = 5;
  std::vector<const Report::Considered*> all;
  for (const Report::Considered& c : r.considered) all.push_back(&c);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::min(a->as_is, a->instead) > std::min(b->as_is, b->instead);
  });
  if (!all.empty()) out << "considered:\n";
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
    const Report::Considered& c = *all[i];
    char text[64];
    std::snprintf(text, sizeof text, "%.3g ms, as it is %.3g ms", c.instead * 1e3, c.as_is * 1e3);
    out << "  " << named(c.value, source) << ": " << c.why << ": " << text
        << (c.taken ? " (taken)" : "") << "\n";
  }
  if (all.size() > kMost) out << "  and " << all.size() - kMost << " more\n";
}

// Whole plans that were held against each other.
void contenders_text(const Report& r, SourceOf source, std::ostringstream& out) {
  if (!r.contenders.empty()) out << "plans compared:\n";
  for (const Report::Contender& c : r.contenders) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g ms", c.seconds * 1e3);
    out << "  ";
    if (c.why.empty())
      out << "each choice by itself";
    else
      out << named(c.value, source) << ": " << c.why << (c.taken ? ": yes" : ": no");
    out << ": " << text << (c.chosen ? " (taken)" : "") << "\n";
  }
}

bool is_of_host(std::span<Node* const> wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [](const Node* n) { return n->device <= kHost; });
}

std::string why_direct(std::span<Node* const> wanted, const Graph& g, bool planned) {
  if (!config().fuse) return "PLAIT_FUSE=0";
  std::vector<Node*> pending;
  for (Node* n : wanted)
    if (!n->materialised()) pending.push_back(n);
  if (direct_is_faster(pending)) return "there is little to do";
  const char* why = Round::why_direct(g, planned);
  return why ? why : "";
}

}  // namespace

std::string name_in(const Value& v, SourceOf source) {
  return v.name.empty() ? source(v.site).name : v.name;
}

const char* level_text(fusion::PlaceLevel level) {
  switch (level) {
    case fusion::PlaceLevel::Row:
      return "a row";
    case fusion::PlaceLevel::Line:
      return "a line";
    case fusion::PlaceLevel::BlockOfIndices:
      return "a block of indices";
    case fusion::PlaceLevel::BlockOfKeys:
      return "a block of keys";
    case fusion::PlaceLevel::BlockOfLines:
      return "a block of lines";
    case fusion::PlaceLevel::BlockOfRows:
      return "a block of rows";
    case fusion::PlaceLevel::BlockOfRowsAndColumns:
      return "a block of rows and columns";
    case fusion::PlaceLevel::BlockOfRowsAndKeys:
      return "a block of rows and keys";
    case fusion::PlaceLevel::BlockOfSums:
      return "a block of sums";
  }
  return "";
}

const char* scratch_space(const Report& r) {
  return r.target == kCpuTarget ? "cache" : "shared memory";
}

double measured_seconds(const RegionReport& r) {
  return r.compiled ? static_cast<const CompiledKernel*>(r.compiled.get())->last_seconds() : 0;
}

std::string tier_of(const RegionReport& r) {
  return r.compiled ? tier(*static_cast<const CompiledKernel*>(r.compiled.get())) : std::string();
}

SourceLine place_of(std::uint32_t site) { return {tracer::site_text(site), {}, {}}; }

std::string target_of(DeviceId device) {
  return device == kHost ? std::string(kCpuTarget) : device_of(device).target();
}

std::string headline(const Report& r) {
  std::ostringstream out;
  if (r.how == Report::OneAtATime)
    out << counted(r.regions.size(), "operation") << ", one at a time ("
        << (config().fuse ? "planning would cost more" : "PLAIT_FUSE=0") << ")";
  else
    out << counted(r.regions.size(), "region") << " from " << r.nodes << " nodes";
  out << "; " << bytes_text(static_cast<double>(r.bytes_moved)) << " moved, at least "
      << bytes_text(static_cast<double>(r.bytes_least)) << " needed";
  if (r.target == kCpuTarget && r.how == Report::Planned)
    out << "; " << counted(num_threads(), "thread");
  return out.str() + "\n";
}

std::string text(const Report& r, int first, SourceOf source) {
  std::ostringstream out;
  for (std::size_t i = 0; i < r.regions.size(); ++i)
    region_text(r.regions[i], r, first + static_cast<int>(i), source, out);
  if (!r.in_memory.empty()) out << "\nin memory:\n";
  for (const auto& [value, why] : r.in_memory)
    out << "  " << named(value, source) << ": " << why << "\n";
  considered_text(r, source, out);
  contenders_text(r, source, out);
  if (!r.again.empty()) out << "computed before, and not kept:\n";
  for (const Value& value : r.again) out << "  " << named(value, source) << "\n";
  if (!r.repeated.empty()) out << "computed more than once:\n";
  for (const auto& [value, times] : r.repeated) {
    char count[32];
    std::snprintf(count, sizeof count, "%.3g", times);
    out << "  " << named(value, source) << ": " << count << " times\n";
  }
  if (r.how == Report::Planned)
    out << "fused: " << r.fused << (r.fused == 1 ? " node needs" : " nodes need") << " no memory\n";
  return out.str();
}

std::string plan_text(const Graph& g, fusion::Plan& plan, const std::vector<std::int64_t>& values,
                      const ExplainOptions& options) {
  const Report r = gather(g, plan, values, options, {});
  return headline(r) + text(r, 1, place_of);
}

Explanation explained(std::span<Node* const> asked_for, const ExplainOptions& asked,
                      const Names& names) {
  const std::lock_guard held(tracer::lock());
  // What an evaluation computes is the array that a view shows.
  std::vector<Node*> wanted(asked_for.begin(), asked_for.end());
  for (Node*& n : wanted)
    while (n->kind == NodeKind::View && !n->materialised()) n = n->inputs[0].get();
  ExplainOptions options = asked;
  if (options.target.empty()) {
    DeviceId device = kHost;
    for (const Node* n : wanted) device = std::max(device, n->device);
    options.target = target_of(device);
  }
  Explanation e;
  for (const Node* n : wanted)
    if (n->materialised()) e.computed.push_back(value_of(*n, names));
  std::vector<std::int64_t> values;
  const Graph g(wanted);
  if (g.nodes.empty()) return e;
  const bool here = options.target == kCpuTarget;
  std::shared_ptr<fusion::Plan> plan = here ? known_plan(g, values) : nullptr;
  if (here && is_of_host(wanted)) e.one_at_a_time = why_direct(wanted, g, plan != nullptr);
  // What the next evaluation finds stays as it is.
  if (!plan && here) plan = plan_for(g, values, kLookedAtHere);
  if (!plan) {
    const Machine machine = machine_of(options.target);
    plan = plan_for(g, values, kLookedAt, device_target(machine));
  }
  e.plan = gather(g, *plan, values, options, names);
  return e;
}

std::string transfers_text() {
  if (!devices_in_use()) return {};
  const TransferStats& t = transfer_stats();
  return "copies so far: " + std::to_string(t.to_device) + " to devices (" +
         bytes_text(static_cast<double>(t.bytes_to_device)) + "), " + std::to_string(t.to_host) +
         " to the host (" + bytes_text(static_cast<double>(t.bytes_to_host)) + ")\n";
}

std::string text(const Explanation& e, int first, SourceOf source) {
  std::ostringstream out;
  for (const Value& v : e.computed) {
    const SourceLine line = source(v.site);
    out << "already in memory: " << named(v, source);
    if (!line.where.empty())
      out << ", made at " << line.where << (line.text.empty() ? "" : ": " + line.text);
    out << "\n";
  }
  if (!e.one_at_a_time.empty())
    out << "evaluated now, one operation at a time: " << e.one_at_a_time << "\n";
  if (e.plan) out << text(*e.plan, first, source);
  return out.str() + transfers_text();
}

std::string explain(std::span<Node* const> wanted, const ExplainOptions& asked) {
  const Explanation e = explained(wanted, asked, {});
  return (e.plan ? headline(*e.plan) : std::string()) + text(e, 1, place_of);
}

}  // namespace plait::engine
