// A plan: the steps that give the wanted nodes of a graph their values. It is made once for a key
// and run with the buffers, numbers and scalars of every graph that has it and gives the same
// answers (graph/answers.hpp).
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fusion/lower/equal_regions.hpp"
#include "operation.hpp"
#include "trailing.hpp"

namespace plait::fusion {

enum class StepKind : std::uint8_t {
  Kernel,  // one region
  Direct,  // one operation, as the reference evaluator computes it (products through a BLAS, calls)
};

// Where the memory of a region's Update root comes from.
enum class UpdateMode : std::uint8_t { None, InPlace, Fresh };

struct Step {
  StepKind kind = StepKind::Kernel;
  RegionSpec region;  // roots; Direct: the one node
  // Steps of one class have equal kernels (equal_regions.hpp).
  std::int32_t region_class = kNoClass;
  LoweredKernel lowered;
  std::vector<ResultSpec> results;         // one a root
  std::optional<OperationSpec> operation;  // Direct
  Epilogue epilogue;                       // Direct: what the root is the sum of
  UpdateMode update = UpdateMode::None;
  std::optional<Trailing> trailing;  // Fresh: how the old memory could be written after all
  std::vector<std::int32_t> dies;    // nodes whose memory nobody needs after this step
  std::shared_ptr<void> compiled;    // the engine's handle, set at the first run
  std::shared_ptr<void> schedule;  // the engine's, of steps that are run together from this one on
};

// Steps that come again, as those of a caller's loop do: `period` steps, `count` times, each with
// the kernel of the one a period before. What the loop makes is read at the same place in each of
// its iterations; what it begins with, and what it goes past, may be anything.
struct StepLoop {
  std::size_t first, period, count;
  // What an iteration makes and later ones read or write over, in the first one.
  std::vector<std::int32_t> carried;
  std::size_t end() const { return first + period * count; }
};

struct Note {
  std::int32_t node;
  const char* text;  // why this node is in memory
};
// A choice, with what the nodes concerned cost either way: seconds of one thread.
struct Choice {
  std::int32_t node;
  const char* why;  // a candidate was offered
  double as_is, instead;
  bool taken;
};
// A whole plan beside others: by seconds, and by the choice that makes it another one, taken or not
// against its figures. -1: each is as its figures say.
struct Contender {
  std::int32_t node = -1;
  const char* why = "";
  bool taken = false, chosen = false;
  double seconds = 0;
};

struct Plan {
  Exprs exprs;
  Answers answers;  // of its graph's numbers: whoever gives the same has this plan
  std::vector<Step> steps;
  std::vector<StepLoop> loops;  // in order, none in another
  std::vector<std::int32_t> canon;
  std::vector<Note> notes;
  std::vector<Dims> layouts;  // of each node that is not laid out as it was recorded: its axes
  std::vector<Choice> considered;
  std::vector<Contender> contenders;  // empty: there was one
  bool logged = false;                // under PLAIT_LOG=fusion
  int surveys = 0, lowerings = 0;     // of regions: what planning costs
  int workers = 0;                    // of its target
  std::int64_t bytes_least = 0;       // leaves read once and wanted nodes written once
  std::int64_t bytes_moved = 0;
};

class Rule;
using Rules = std::span<const Rule* const>;
// Those of fusion/rules, in the order in which they look.
Rules all_rules();
// Never fails on a valid graph: what cannot be lowered becomes a Direct step. Throws
// PlanningStopped where the budget says so.
std::shared_ptr<Plan> make_plan(const Graph& g, const Target& target = {},
                                Reuse reuse = Reuse::ByCost, Rules rules = all_rules(),
                                const Budget& budget = kNoBounds);
// Whether this graph gives the plan's answers; fills the values of all its expressions.
bool bind(const Plan& p, const Graph& g, std::vector<std::int64_t>& values);
// Of memory, roughly; the kernels that its steps run are the engine's.
std::size_t bytes_of(const Plan& p);

}  // namespace plait::fusion
