// What is asked of numbers is recorded with its answer; whoever gives the same answers has the
// plan.
#include "fusion/graph/facts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "../../record.hpp"
#include "core/config.hpp"
#include "fusion/graph/plan_graph.hpp"

using namespace plait;
using namespace plait::test;
using fusion::ExprId;
using fusion::Field;
using fusion::Number;

namespace {

Array unwritten(const Dims& shape) { return tracer::empty(shape, DType::Float64); }

// A graph of one operation on such arrays.
struct Recording {
  explicit Recording(const Array& a)
      : node(tracer::read(a)), graph(std::vector<tracer::Node*>{node.get()}) {}
  Ref<tracer::Node> node;
  fusion::Graph graph;
};

Recording exponential(const Dims& shape) {
  config().eager_limit = 0;
  return Recording(apply(OpId::Exp, unwritten(shape)));
}

// Whether a graph of such an array gives the answers to what `ask` asks of the first.
template <class Ask>
bool same_answers(const Dims& asked, const Dims& other, Ask&& ask) {
  const Recording a = exponential(asked), b = exponential(other);
  const fusion::PlanGraph g(a.graph);
  ask(g);
  return g.answers().hold(b.graph);
}

}  // namespace

TEST_CASE("comparisons of numbers are answers that others have to give") {
  const auto compares = [](const fusion::PlanGraph& g) {
    CHECK(g[0].node->extents[0] == g[0].node->extents[2]);
    CHECK(g[0].node->extents[1] > 6);
  };
  CHECK(same_answers({6, 7, 6}, {6, 7, 6}, compares));
  CHECK(same_answers({6, 7, 6}, {60, 700, 60}, compares));
  CHECK_FALSE(same_answers({6, 7, 6}, {6, 7, 5}, compares));
  CHECK_FALSE(same_answers({6, 7, 6}, {6, 6, 6}, compares));
}

TEST_CASE("an estimate asks for the magnitude, a known number for itself") {
  const auto estimates = [](const fusion::PlanGraph& g) {
    CHECK(g[0].node->extents[0].estimate() == 100);
  };
  CHECK(same_answers({100, 3}, {512, 300}, estimates));
  CHECK_FALSE(same_answers({100, 3}, {513, 3}, estimates));
  CHECK_FALSE(same_answers({100, 3}, {8, 3}, estimates));
  const auto knows = [](const fusion::PlanGraph& g) {
    CHECK(g[0].node->extents[0].known() == 100);
  };
  CHECK(same_answers({100, 3}, {100, 300}, knows));
  CHECK_FALSE(same_answers({100, 3}, {101, 3}, knows));
}

TEST_CASE("sums, products, quotients and magnitudes of numbers are asked about as such") {
  const auto asks = [](const fusion::PlanGraph& g) {
    const Number &a = g[0].node->extents[0], &b = g[0].node->extents[1];
    CHECK(a * b <= 160);
    CHECK(a + b > 20);
    CHECK(a / b == 2);
    CHECK(a % b == 4);
  };
  CHECK(same_answers({20, 8}, {20, 8}, asks));
  CHECK_FALSE(same_answers({20, 8}, {23, 8}, asks));
  CHECK_FALSE(same_answers({20, 8}, {20, 7}, asks));
  CHECK_FALSE(same_answers({20, 8}, {19, 8}, [](const fusion::PlanGraph& g) {
    CHECK(abs(g[0].node->extents[1] - g[0].node->extents[0]) == 12);
  }));
}

TEST_CASE("what follows from the operations is no question") {
  const Array x = unwritten({60, 1}), y = unwritten({60, 70});
  config().eager_limit = 0;
  const Recording r(apply(OpId::Sqrt, apply(OpId::Add, apply(OpId::Exp, x), y)));
  const fusion::PlanGraph g(r.graph);
  const std::size_t before = g.answers().given().size();
  const fusion::Numbers& last = g[g.size() - 1].node->extents;
  for (std::int32_t i = 0; i < g.size(); ++i)
    if (g[i].node->extents.size() == 2 && !g[i].leaf && g[i].node->fn != OpId::Exp)
      CHECK(g[i].node->extents == last);
  CHECK(last[0] != 1);
  CHECK(g.answers().given().size() == before);
}

TEST_CASE("that strides are C's is one question") {
  const Recording r = exponential({6, 7, 8, 9});
  const fusion::PlanGraph g(r.graph);
  // Of the array, whether each extent is 1, too.
  CHECK(g.answers().given().size() == 4 + 2);
  const fusion::Numbers& strides = g[1].node->byte_strides;
  CHECK(strides == fusion::contiguous_strides(g[1].node->extents, 8));
  CHECK(strides == g[0].node->byte_strides);
  CHECK(g.answers().given().size() == 4 + 2);
  CHECK(g.answers().hold(exponential({60, 70, 80, 90}).graph));
  const Array transposed = tracer::transpose(unwritten({9, 8, 7, 6}));
  CHECK_FALSE(g.answers().hold(Recording(apply(OpId::Exp, transposed)).graph));
}

TEST_CASE("a view's strides follow from its index map") {
  using tracer::Slice;
  const auto part = [](std::int64_t step) {
    const Array base = apply(OpId::Exp, unwritten({60, 70}));
    const Slice rows{2, 40, step}, columns{1, 50, {}};
    return Recording(apply(OpId::Sqrt, view(base, {rows, columns})));
  };
  config().eager_limit = 0;
  for (const std::int64_t step : {1, 3}) {
    const Recording r = part(step);
    const fusion::PlanGraph g(r.graph);
    const auto view = std::ranges::find_if(
        g.nodes, [](const auto& n) { return n.node->kind == tracer::NodeKind::View; });
    REQUIRE(view != g.nodes.end());
    REQUIRE(view->map);
    const std::size_t before = g.answers().given().size();
    const fusion::Numbers &strides = view->node->byte_strides,
                          &of_base = view->node->inputs[0]->byte_strides;
    CHECK(strides[0] == of_base[0] * view->map->step[0]);
    CHECK(strides[1] == of_base[1]);
    CHECK(g.answers().given().size() == before);
    CHECK(strides[0].known() == 560 * step);
    CHECK(g.answers().hold(part(step).graph));
    CHECK_FALSE(g.answers().hold(part(2).graph));
  }
}

TEST_CASE("expressions of a plan are asked about over the graph's numbers") {
  const Recording r = exponential({6, 7, 6});
  const fusion::PlanGraph g(r.graph);
  fusion::Exprs exprs;
  fusion::Facts facts(g, exprs);
  const auto extent = [&](int d) { return exprs.source({1, Field::Shape, d}); };
  CHECK(facts.estimate(extent(1)) == 7);
  CHECK_FALSE(facts.equal(extent(0), extent(1)));
  CHECK(facts.equal(extent(0), extent(0)));
  CHECK(facts.equal(extent(0), extent(2)));
  const ExprId seven = facts.known(extent(1));
  CHECK(exprs.is_constant(seven));
  CHECK(exprs.value(seven) == 7);
  CHECK(facts.known(seven) == seven);
  CHECK_FALSE(facts.at_most(extent(1), 5));
  CHECK(facts.at_most(exprs.mul(extent(1), extent(0)), 42));
  CHECK(g.answers().hold(r.graph));
  CHECK_FALSE(g.answers().hold(exponential({6, 8, 6}).graph));
  CHECK_FALSE(g.answers().hold(exponential({6, 7, 5}).graph));
  CHECK_FALSE(g.answers().hold(exponential({7, 7, 7}).graph));
}

TEST_CASE("each field of a plan's node has the value that was recorded") {
  using tracer::All;
  using tracer::Slice;
  config().eager_limit = 0;
  const Array base = apply(OpId::Exp, unwritten({6, 1, 9}));
  const Array part = view(base, {Slice{1, -1, {}}, All{}, Slice{{}, {}, 2}});
  const Array to = tracer::copy(unwritten({6, 1, 9}));
  tracer::assign(view(to, {Slice{2, {}, {}}, All{}, Slice{4, {}, {}}}), part);
  const Recording r(to);
  const fusion::PlanGraph g(r.graph);
  bool has_view = false, has_update = false;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const fusion::Node& n = *g[i].node;
    const auto same = [&](Field f, int dim) {
      CHECK(g.number({i, f, dim}).known() == r.graph.field({i, f, dim}));
    };
    for (int d = 0; d < n.extents.size(); ++d)
      for (const Field f : {Field::Shape, Field::Stride, Field::Layout}) same(f, d);
    for (const Field f : {Field::Offset, Field::Origin, Field::Dense}) same(f, 0);
    for (int d = 0; d < n.view_extents.size(); ++d)
      for (const Field f : {Field::ViewShape, Field::ViewStride}) same(f, d);
    if (g[i].map)
      for (int d = 0; d < g[i].map->start.size(); ++d)
        for (const Field f : {Field::MapStart, Field::MapStep}) same(f, d);
    has_view |= n.kind == tracer::NodeKind::View;
    has_update |= n.kind == tracer::NodeKind::Update;
  }
  CHECK(has_view);
  CHECK(has_update);
}
