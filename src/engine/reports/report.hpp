// What explain() knows of an evaluation: gathered under the recorder's lock, before the graph goes,
// and printed afterwards. A Watch has the evaluations of its thread described to it.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/timeline.hpp"
#include "engine/plans/run.hpp"
#include "engine/threads/seconds.hpp"
#include "tracer/array.hpp"

namespace plait::engine {

inline constexpr std::string_view kCpuTarget = "cpu";  // a target, as ExplainOptions name it

// Names of arrays that the caller knows them by.
using Names = std::vector<std::pair<std::string, tracer::Array>>;

// A call site, as far as somebody knows its source.
struct SourceLine {
  std::string where;  // "file:line"
  std::string name;   // of the variable that the statement gives the value, or the expression
  std::string text;   // of the line
};
// What a call site says in a language's source; the default knows the place alone.
using SourceOf = SourceLine (*)(std::uint32_t site);
SourceLine place_of(std::uint32_t site);

struct Value {
  std::string type;  // "sqrt float64(100000)"
  std::string name;  // that the caller knows it by
  std::uint32_t site = 0;
  // Results and reads of regions: the same number for the same memory with the same contents, in
  // all reports; and how much of it.
  std::uint64_t array = 0;
  std::int64_t bytes = 0;
};
struct RegionReport {
  std::vector<Value> results, reads;
  std::vector<std::uint32_t> sites;  // of its operations, each once, in the order of the graph
  std::string body;                  // its loops, and how it stores
  struct Scratch {
    std::int32_t node;
    Value value;
    fusion::PlaceLevel level;
    std::string why;
    std::int64_t bytes = 0;
  };
  std::vector<std::pair<Value, std::size_t>> packed;  // operands of which panels are kept: bytes
  std::vector<Scratch> scratch;  // values that are neither in memory nor in registers alone
  std::int64_t bytes = 0;
  double predicted = 0;            // seconds; 0: of no kernel
  std::shared_ptr<void> compiled;  // CompiledKernel of the host
  std::shared_ptr<void> schedule;  // of it and those behind it that ran together
};
struct Report {
  enum How { Planned, OneAtATime } how = Planned;
  std::vector<RegionReport> regions;
  std::vector<std::pair<Value, std::string>> in_memory;  // with the reason
  std::vector<std::pair<Value, double>> repeated;        // how often it is computed
  struct Considered {
    Value value;
    std::string why;
    double as_is, instead;  // seconds
    bool taken;
  };
  std::vector<Considered> considered;
  struct Contender {
    Value value;
    std::string why;  // empty: every offer was taken or not on its own figures
    bool taken, chosen;
    double seconds;
  };
  std::vector<Contender> contenders;
  std::vector<Value> again;  // computed, and not kept, by an earlier one
  int nodes = 0, fused = 0;
  std::int64_t bytes_moved = 0, bytes_least = 0;
  std::string target;
  std::uint32_t site = 0;  // Watch: what the caller was doing
};

Report gather(const fusion::Graph& g, fusion::Plan& plan, const std::vector<std::int64_t>& values,
              const ExplainOptions& options, const Names& names);
// Of a graph whose operations are run one by one, each through memory.
Report gather_one_at_a_time(const fusion::Graph& g, const Names& names);
Value value_of(const tracer::Node& n, const Names& names);
std::string bytes_text(double b);
// What it is called: by the caller, or by the statement that makes it. May be empty.
std::string name_in(const Value& v, SourceOf source);
// Seconds of the last run; 0: of no kernel, or not run yet.
double measured_seconds(const RegionReport& r);
// Where its regions have scratch.
const char* scratch_space(const Report& r);
// What there is one of a value in scratch for.
const char* level_text(fusion::PlaceLevel level);
// What runs it; empty: no kernel of the host.
std::string tier_of(const RegionReport& r);

std::string headline(const Report& r);
// `first`: number of the first region.
std::string text(const Report& r, int first, SourceOf source);

// What explain() says of arrays: of those in memory that they are, of the rest the plan.
struct Explanation {
  std::vector<Value> computed;
  std::optional<Report> plan;
  // Why they would be computed one operation at a time all the same; empty: they would not.
  std::string one_at_a_time;
};
Explanation explained(std::span<tracer::Node* const> wanted, const ExplainOptions& options,
                      const Names& names);
std::string text(const Explanation& e, int first, SourceOf source);

class Watch {
 public:
  explicit Watch(Names names);
  ~Watch();
  Watch(const Watch&) = delete;
  static Watch* current();                   // of this thread
  static inline std::atomic<int> number{0};  // in all threads

  struct Event {
    enum Kind { Evaluation, Note, AtCall } kind = Evaluation;
    Report report;
    std::string note;  // Note: what happened there; AtCall: what was computed
    // AtCall: how often, and for how long in all. A place has one event for what it repeats.
    std::uint64_t times = 1;
    double seconds = 0;
  };
  std::vector<Event> events;
  const Names names;

 private:
  Watch* outer_;
};

// Describes a plan's run to this thread's watch, if it has one.
class Watched {
 public:
  Watched(const fusion::Graph& g, fusion::Plan& plan, const std::vector<std::int64_t>& values,
          DeviceId device);
  ~Watched();  // takes up what the run has measured
  Watched(const Watched&) = delete;

 private:
  Watch* watch_;
  const fusion::Graph& g_;
  fusion::Plan& plan_;
  std::size_t event_ = 0;
};
// The same of nodes that are about to be computed one by one; the log has it once for a graph.
void watch_one_at_a_time(const fusion::Graph& g);
void watch_one_at_a_time(std::span<tracer::Node* const> wanted);

// Work that is done at its call, without a plan: described to this thread's watch, and, the first
// time at each place, to the log; and to traces.
class AtCall {
 public:
  AtCall() : observed_(observed()) {
    if (observed_) [[unlikely]] {
      started_ = seconds_now();
      traced_ = timeline::now();
    }
  }
  // It gave a result of this type.
  void done(std::string_view operation, DType t, const Dims& shape) const {
    if (observed_) [[unlikely]]
      describe(std::string(operation) + " " + std::string(name(t)) + to_string(shape), 0);
  }
  // The same of a node, whose operation is gone when it has its value.
  std::string before(const tracer::Node& n) const {
    return observed_ ? value_of(n, {}).type : std::string();
  }
  void done(const std::string& what, std::uint32_t site) const {
    if (observed_) [[unlikely]]
      describe(what, site);
  }

 private:
  static bool observed() {
    return Watch::number.load(std::memory_order_relaxed) != 0 || logging(Log::Fusion) ||
           timeline::on();
  }
  // site: 0: the current one.
  void describe(const std::string& what, std::uint32_t site) const;

  bool observed_;
  double started_ = 0;
  std::int64_t traced_ = 0;
};

}  // namespace plait::engine
