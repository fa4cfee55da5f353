// Rules offer, the cost decides, and what lost stays to be explained. The rule here is this file's.
#include "fusion/schedule/search.hpp"

#include <catch2/catch.hpp>

#include "../../record.hpp"
#include "core/config.hpp"
#include "fusion/cost.hpp"

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
    const fusion::GNode& gn = c.problem().graph[node];
    if (gn.uses < 2) return;
    const auto elements = static_cast<double>(element_count(gn.node->shape));
    const fusion::Reading r =
        fusion::reading(*c.problem().target.machine, elements,
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

TEST_CASE("a product is a region where that spares memory, and else a library call") {
  config().eager_limit = 0;
  const auto of = [](const Array& a, int regions) {
    const Graph g(a);
    const fusion::Target target{.product_depth = 64};
    const auto plan = fusion::make_plan(g.graph, target);
    CHECK(plan->steps.size() == 1);
    CHECK((plan->steps[0].kind == fusion::StepKind::Kernel) == (regions == 1));
    REQUIRE(plan->considered.size() == 1);
    const fusion::Choice& c = plan->considered[0];
    CHECK(std::string(c.why) == "computed by a library call");
    CHECK((c.instead < c.as_is) == (regions == 0));
  };
  const Array product = tracer::matmul(pending({300, 200}), pending({200, 100}));
  of(product, 0);
  of(apply(OpId::Add, product, weak(1)), 1);
  // A temporary, which nobody holds when it is planned.
  const auto behind_exp = [] {
    return tracer::matmul(apply(OpId::Exp, pending({300, 200})), pending({200, 100}));
  };
  of(behind_exp(), 1);
}

TEST_CASE("candidates are values: a copy is edited alone") {
  const Graph g = shared_exponential();
  const std::vector<std::int32_t> canon = fusion::common_subexpressions(g.graph);
  const fusion::Problem problem(g.graph, canon, {});
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
