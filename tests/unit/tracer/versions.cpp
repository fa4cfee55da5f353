#include <catch2/catch.hpp>

#include "core/config.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {
Array plus(const Array& a, double v) {
  const Operand o[] = {a, Operand(scalar_float(v), Weak::Float)};
  return elementwise(OpId::Add, o);
}
}  // namespace

TEST_CASE("a write through a view is an update of the old version") {
  const Array a = empty({4, 4}, DType::Float64);
  const Ref<Node> before = read(a);
  const Index row[] = {std::int64_t{1}};
  const Array v = slice(a, row);
  assign(v, Operand(plus(v, 1)));
  const Ref<Node> after = read(a);
  REQUIRE(after->kind == NodeKind::Update);
  CHECK(after->inputs[0] == before);
  CHECK(after->offset == 32);
  CHECK(before->handles == 0);
  CHECK(after->handles == 1);
  verify(*after);
}

TEST_CASE("a full overwrite drops the old version") {
  const Array a = empty({config().eager_limit + 1}, DType::Float64);
  assign(a, Operand(scalar_int(3), Weak::Int));
  CHECK(read(a)->kind == NodeKind::Fill);
  ElementwiseOptions opt;
  opt.out = &a;
  const Operand o[] = {a, a};
  elementwise(OpId::Add, o, opt);
  CHECK(read(a)->kind == NodeKind::Elementwise);
}

TEST_CASE("assigning one array to another does not make them one value") {
  for (const std::int64_t n : {std::int64_t{4}, config().eager_limit + 1}) {
    const Array a = empty({n}, DType::Float64), b = empty({n}, DType::Float64);
    assign(a, Operand(b));
    CHECK(read(a) != read(b));
  }
}

TEST_CASE("few elements that nobody else sees are stored without a node") {
  const Array a = empty({3, 4}, DType::Float64), row = empty({4}, DType::Float64);
  auto* const to = static_cast<double*>(data(a));
  for (int i = 0; i < 4; ++i) static_cast<double*>(data(row))[i] = i + 1;
  std::fill(to, to + 12, 9.0);
  const Node* const before = read(a).get();
  const Index last[] = {std::int64_t{2}}, column[] = {All{}, std::int64_t{1}};
  assign(slice(a, last), Operand(row));
  assign(slice(a, column), Operand(scalar_int(0), Weak::Int));
  CHECK(read(a).get() == before);
  CHECK(std::vector<double>(to, to + 12) ==
        std::vector<double>{9, 0, 9, 9, 9, 0, 9, 9, 1, 0, 3, 4});

  // What waits for the old contents gets them: the write is recorded.
  const Ref<Node> waits = read(plus(a, 1));
  assign(slice(a, last), Operand(row));
  CHECK(read(a).get() != before);
  CHECK(waits->inputs[0].get() == before);
}

TEST_CASE("a view that is assigned to itself is no write") {
  const Array a = empty({4, 4}, DType::Float64);
  const Ref<Node> before = read(a);
  const Index row[] = {std::int64_t{1}}, other[] = {std::int64_t{2}};
  assign(slice(a, row), Operand(slice(a, row)));
  CHECK(read(a) == before);
  assign(slice(a, row), Operand(slice(a, other)));
  CHECK(read(a) != before);
}

TEST_CASE("what was read stays what it was") {
  const Array a = empty({4}, DType::Float64);
  const Array sum = plus(a, 1);
  const Ref<Node> operand = read(sum)->inputs[0];
  assign(a, Operand(scalar_int(0), Weak::Int));
  CHECK(read(sum)->inputs[0] == operand);
  CHECK(read(a) != operand);
}

TEST_CASE("the node count goes back to where it was, chains of any length included") {
  const std::size_t before = graph_stats().pending_nodes;
  set_graph_limit(std::size_t{1} << 40, std::size_t{1} << 60);
  {
    Array a = empty({4000}, DType::Float64);
    for (int i = 0; i < 300000; ++i) a = plus(a, 1);
    CHECK(graph_stats().pending_nodes >= before + 300000);
  }
  CHECK(graph_stats().pending_nodes == before);
  set_graph_limit(4096, std::size_t{1} << 30);
}

TEST_CASE("freed nodes are used again") {
  const Node* first = new_node(NodeKind::Data).get();
  CHECK(new_node(NodeKind::Data).get() == first);
}

TEST_CASE("the verifier finds a node that breaks the rules") {
  const Array a = empty({4}, DType::Float64);
  const Ref<Node> n = read(plus(a, 1));
  n->shape = Dims{5};
  CHECK_THROWS_AS(verify(*n), InternalError);
  n->shape = Dims{4};
  CHECK_NOTHROW(verify(*n));
}

TEST_CASE("an integer out of range compares as the number it is") {
  const Array a = empty({2}, DType::UInt8);
  const Operand o[] = {a, Operand(scalar_int(300), Weak::Int)};
  const Ref<Node> n = read(elementwise(OpId::Less, o));
  REQUIRE(n->kind == NodeKind::Fill);
  CHECK(n->inputs[0]->scalar.as<bool>());
}

TEST_CASE("weak exponents choose NumPy's shortcuts") {
  const Array f = empty({2}, DType::Float32), i = empty({2}, DType::Int32);
  CHECK(read(power_operator(f, Operand(scalar_int(2), Weak::Int)))->fn == OpId::Square);
  CHECK(read(power_operator(f, Operand(scalar_float(0.5), Weak::Float)))->fn == OpId::Sqrt);
  CHECK(read(power_operator(i, Operand(scalar_float(2.0), Weak::Float)))->fn == OpId::Power);
}
