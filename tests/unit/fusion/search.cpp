// Rules offer, the cost decides, and what lost stays to be explained. The rule here is this file's.
#include "fusion/schedule/search.hpp"

#include <catch2/catch.hpp>

#include "../../record.hpp"
#include "core/config.hpp"
#include "fusion/schedule/cost.hpp"

using namespace plait;
using namespace plait::test;
using fusion::Edit;
using tracer::NodeKind;

namespace {

// A function that several nodes read may be stored.
class StoreShared final : public fusion::Rule {
 public:
  StoreShared() : Rule(fusion::of_kind(NodeKind::Elementwise)) {}

  void visit(const fusion::Candidate& c, std::int32_t node, fusion::Offers& o) const override {
    const fusion::PlanNode& gn = c.problem().graph[node];
    if (gn.uses < 2) return;
    const double elements = gn.node->elements.cost();
    const fusion::RecomputeCost r =
        fusion::recompute_cost(*c.problem().target.machine, elements,
                               static_cast<double>(op_info(gn.node->fn).cost), elements * gn.uses);
    o.make({{{Edit::Store, node, "several read it"}}, r.again, r.stored});
  }
};

Array pending(const Dims& shape) { return tracer::empty(shape, DType::Float64); }

struct Graph {
  explicit Graph(const Array& a)
      : node(tracer::read(a)), graph(std::vector<tracer::Node*>{node.get()}) {}
  Ref<tracer::Node> node;
  fusion::Graph graph;
};
struct Numbered : Graph {
  explicit Numbered(const Graph& g) : Graph(g), numbered(graph) {}
  fusion::PlanGraph numbered;
};

// exp(x), which two sums read.
Graph shared_exponential() {
  config().eager_limit = 0;
  const Array e = apply(OpId::Exp, pending({100, 50}));
  return Graph(apply(OpId::Add, reduce(ReduceKind::Sum, apply(OpId::Add, e, weak(1)), 1),
                     reduce(ReduceKind::Sum, apply(OpId::Multiply, e, e), 1)));
}

}  // namespace

TEST_CASE("a rule of its own changes the plan where that costs less") {
  const StoreShared store_shared;
  const fusion::Rule* const rules[] = {&store_shared};
  const Graph g = shared_exponential();
  for (const double store : {1., 1000.}) {
    Machine machine;
    machine.store = store;
    fusion::Target target;
    target.machine = &machine;
    const auto plan = fusion::make_plan(g.graph, target, fusion::Reuse::Recompute, rules);
    const bool stored = store == 1;
    CHECK(plan->steps.size() == (stored ? 2 : 1));
    REQUIRE(plan->considered.size() == 1);
    const fusion::Choice& c = plan->considered[0];
    CHECK(std::string(c.why) == "several read it");
    CHECK((c.instead < c.as_is) == stored);
    CHECK(plan->notes.size() == (stored ? 2 : 1));
    CHECK(std::string(plan->notes[0].text) == (stored ? "several read it" : "wanted"));
  }
}

TEST_CASE("without rules nothing is in memory but what the graph asks for") {
  const Graph g = shared_exponential();
  const auto plan = fusion::make_plan(g.graph, {}, fusion::Reuse::Recompute, {});
  CHECK(plan->steps.size() == 1);
  CHECK(plan->considered.empty());
  REQUIRE(plan->notes.size() == 1);
  CHECK(std::string(plan->notes[0].text) == "wanted");
}

namespace {

// The value of one function, which several read, may be stored: so says one rule, at figures that
// leave it open. What is made of it may be stored by another, but only of what is in memory.
class StoreFunction final : public fusion::Rule {
 public:
  StoreFunction(OpId fn, double as_is, double instead)
      : Rule(fusion::of_kind(NodeKind::Elementwise)), fn_(fn), as_is_(as_is), instead_(instead) {}

  void visit(const fusion::Candidate& c, std::int32_t node, fusion::Offers& o) const override {
    const fusion::PlanNode& gn = c.problem().graph[node];
    if (gn.node->fn != fn_) return;
    const std::int32_t in = gn.in[0];
    if (!c.problem().graph[in].leaf && !c.is_root(in)) return;
    o.make({{{Edit::Store, node, op_info(fn_).name.data()}}, as_is_, instead_});
  }

 private:
  const OpId fn_;
  const double as_is_, instead_;
};

}  // namespace

TEST_CASE("an offer that pays with another one's edit only is found by whole costs") {
  config().eager_limit = 0;
  // Sums along either axis, each a region, of f(x) and g(f(x)).
  const auto plan = [](std::span<const fusion::Rule* const> rules, double per_byte) {
    const Array f = apply(OpId::Sqrt, pending({400, 300}));
    const Array g = apply(OpId::Tanh, f);
    const Array sums[] = {reduce(ReduceKind::Sum, apply(OpId::Add, f, g), 0),
                          reduce(ReduceKind::Sum, apply(OpId::Multiply, f, g), 1)};
    const Ref<tracer::Node> nodes[] = {tracer::read(sums[0]), tracer::read(sums[1])};
    tracer::Node* const wanted[] = {nodes[0].get(), nodes[1].get()};
    const fusion::Graph graph(wanted);
    Machine machine;
    for (MemoryLevel& level : machine.memory) level.byte = per_byte * machine.cycle;
    fusion::Target target;
    target.machine = &machine;
    return fusion::make_plan(graph, target, fusion::Reuse::Recompute, rules);
  };
  const auto stored = [](const fusion::Plan& p) { return p.notes.size() - 2; };
  const StoreFunction open(OpId::Sqrt, 1, 1.1), far(OpId::Sqrt, 1, 2), second(OpId::Tanh, 2, 1);
  const fusion::Rule* const one[] = {&open};
  const fusion::Rule* const both[] = {&open, &second};
  const fusion::Rule* const apart[] = {&far, &second};

  // A load takes as long as a fifth of the second function and more than the first.
  const double kByte = .6;
  const auto alone = plan(one, kByte);
  CHECK(stored(*alone) == 0);
  REQUIRE(alone->contenders.size() == 2);
  CHECK(alone->contenders[0].chosen);
  CHECK(alone->contenders[0].seconds < alone->contenders[1].seconds);

  const auto found = plan(both, kByte);
  CHECK(stored(*found) == 2);
  REQUIRE(found->contenders.size() == 2);
  const fusion::Contender &greedy = found->contenders[0], &other = found->contenders[1];
  CHECK(greedy.seconds == alone->contenders[0].seconds);
  CHECK(other.seconds < greedy.seconds);
  CHECK(other.chosen);
  CHECK(other.taken);
  CHECK(std::string(other.why) == "sqrt");
  REQUIRE(found->considered.size() == 2);
  CHECK(found->considered[0].taken);
  CHECK(found->considered[0].as_is < found->considered[0].instead);

  // Where the figures are clear nobody looks further.
  const auto clear = plan(apart, kByte);
  CHECK(stored(*clear) == 0);
  CHECK(clear->contenders.empty());
  // Where memory costs nothing, what is stored does not either.
  CHECK(stored(*plan(one, 0)) == 1);
}

namespace {

// What the graph decides, dearer than the other way; its costs may ask about the extents.
class StoreExactly final : public fusion::Rule {
 public:
  explicit StoreExactly(bool asks) : Rule(fusion::of_kind(NodeKind::Elementwise)), asks_(asks) {}

  void visit(const fusion::Candidate& c, std::int32_t node, fusion::Offers& o) const override {
    const fusion::PlanGraph& g = c.problem().graph;
    if (g[node].uses < 2) return;
    const fusion::Node& n = *g[node].node;
    o.make_exact({Edit::Store, node, "asked exactly"}, g.unasked([&] {
      const bool equal = asks_ && n.elements == 5000;
      return fusion::Costs{equal ? fusion::bytes_of(n) : 0, 1e6};
    }));
  }

 private:
  const bool asks_;
};

}  // namespace

TEST_CASE("an exact offer is taken whatever it costs, and its costs ask nothing of a graph") {
  const Graph g = shared_exponential();
  const auto plan = [&](bool asks) {
    const StoreExactly store_exactly(asks);
    const fusion::Rule* const rules[] = {&store_exactly};
    return fusion::make_plan(g.graph, {}, fusion::Reuse::Recompute, rules);
  };
  const auto asked = plan(true), unasked = plan(false);
  REQUIRE(asked->considered.size() == 1);
  const fusion::Choice& c = asked->considered[0];
  CHECK(c.as_is == 5000 * 8);
  CHECK(c.instead == 1e6);
  CHECK(c.taken);
  CHECK(asked->steps.size() == 2);
  CHECK(asked->answers.given().size() == unasked->answers.given().size());
}

namespace {

// The exponential of what has one, offered at no cost; what reads it cannot have it in memory.
class StoreExponential final : public fusion::Rule {
 public:
  explicit StoreExponential(bool stays) : stays_(stays) {}

  void begin(const fusion::Candidate& c, fusion::Offers& o) const override {
    o.make_exact({Edit::Store, exponential(c), "offered"}, {1, 0});
  }
  void revise(const fusion::Candidate& c, fusion::Offers& o) const override {
    o.require({Edit::Store, c.problem().graph[exponential(c)].in[0], "asked for"});
  }
  void revise_regions(const fusion::Candidate& c, std::span<const fusion::Step>,
                      fusion::Offers& o) const override {
    if (!stays_ && c.is_root(exponential(c))) o.withdraw({Edit::Store, exponential(c), ""});
  }

 private:
  static std::int32_t exponential(const fusion::Candidate& c) {
    const fusion::PlanGraph& g = c.problem().graph;
    std::int32_t found = -1;
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (!g[i].leaf && g[i].node->kind == NodeKind::Elementwise && g[i].node->fn == OpId::Exp)
        found = i;
    return found;
  }
  const bool stays_;
};

}  // namespace

TEST_CASE("what a plan is no plan without is taken, what it is none with is given up") {
  config().eager_limit = 0;
  for (const bool stays : {true, false}) {
    const StoreExponential rule(stays);
    const fusion::Rule* const rules[] = {&rule};
    const Array of = apply(OpId::Sqrt, pending({100, 50}));
    const Graph g(apply(OpId::Negative, apply(OpId::Exp, of)));
    const auto plan = fusion::make_plan(g.graph, {}, fusion::Reuse::Recompute, rules);
    const auto stored = [&](const std::string& why) {
      return std::count_if(plan->notes.begin(), plan->notes.end(),
                           [&](const fusion::Note& n) { return n.text == why; });
    };
    CHECK(stored("offered") == stays);
    CHECK(stored("asked for") == 1);
  }
}

TEST_CASE("candidates are values: a copy is edited alone") {
  const Numbered g(shared_exponential());
  const std::vector<std::int32_t> canon = fusion::common_subexpressions(g.numbered);
  const fusion::Problem problem(g.numbered, canon, {});
  fusion::Search search(problem, {});
  fusion::Candidate other = search.candidate();
  std::int32_t exponential = -1;
  for (std::int32_t i = 0; i < g.graph.size(); ++i)
    if (!g.graph[i].leaf && g.graph[i].node->kind == NodeKind::Elementwise &&
        g.graph[i].node->fn == OpId::Exp)
      exponential = i;
  CHECK(other.add_root(exponential, "to see"));
  CHECK_FALSE(other.add_root(exponential, "again"));
  CHECK(other.regions().size() == 2);
  CHECK(search.candidate().regions().size() == 1);
  CHECK(search.candidate().inlined(exponential));
}
