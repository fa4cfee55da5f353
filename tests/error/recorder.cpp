// The type and NumPy's text of every error that the recorder raises.
#include <catch2/catch.hpp>

#include "engine/engine.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {

Array zeros(const Dims& shape, DType t = DType::Float64) {
  return full(shape, cast(scalar_int(0), t));
}
Array binary(OpId fn, Operand a, Operand b, const ElementwiseOptions& opt = {}) {
  const Operand o[] = {a, b};
  return elementwise(fn, o, opt);
}
Array fold(ReduceKind k, const Array& a, Dims axes) {
  ReduceOptions opt;
  opt.axes = axes;
  return reduce(k, a, opt);
}
Operand weak(std::int64_t v) { return Operand(scalar_int(v), Weak::Int); }

template <class E, class F>
void raises(F&& f, const std::string& text) {
  engine::start();
  const std::size_t before = graph_stats().pending_nodes;
  try {
    f();
    FAIL("no error: " << text);
  } catch (const E& e) {
    CHECK(e.what() == text);
  }
  CHECK(graph_stats().pending_nodes == before);  // the graph is as it was
}

}  // namespace

TEST_CASE("broadcasting") {
  const Array a = zeros({2, 3}), b = zeros({2}), c = zeros({3});
  raises<ShapeError>([&] { binary(OpId::Add, a, b); },
                     "operands could not be broadcast together with shapes (2,3) (2,) ");
  raises<ShapeError>(
      [&] {
        ElementwiseOptions opt;
        opt.out = &c;
        binary(OpId::Add, a, a, opt);
      },
      "non-broadcastable output operand with shape (3,) doesn't match the broadcast shape (2,3)");
  raises<ShapeError>([&] { assign(c, Operand(b)); },
                     "could not broadcast input array from shape (2,) into shape (3,)");
  raises<ShapeError>([&] { broadcast_to(a, {3, 3}); },
                     "operands could not be broadcast together with remapped shapes "
                     "[original->remapped]: (2,3)  and requested shape (3,3)");
}

TEST_CASE("shapes of more elements or bytes than int64 counts") {
  const std::int64_t big = std::int64_t{1} << 32;
  const std::string bytes =
      "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.";
  const Array one = zeros({1}), none = zeros({0}), byte = zeros({1}, DType::Int8);
  raises<ValueError>([&] { broadcast_to(one, {big, big}); }, "iterator is too large");
  raises<ValueError>([&] { broadcast_to(one, {big, big / 4}); }, bytes);
  raises<ValueError>([&] { broadcast_to(one, {0, big, big}); }, bytes);
  raises<ValueError>([&] { as_strided(one, DType::Float64, {big, big}, {0, 0}, 0); }, bytes);
  raises<ValueError>([&] { as_strided(one, DType::Float64, {-1}, {0}, 0); },
                     "negative dimensions are not allowed");
  raises<ShapeError>([&] { reshape(none, {4, big / 4 * big}); },
                     "cannot reshape array of size 0 into shape (4,4611686018427387904)");
  raises<ValueError>([&] { reshape(none, {0, big, big / 4}); }, bytes);
  raises<ShapeError>([&] { reshape(none, {big, big, -1}); },
                     "cannot reshape array of size 0 into shape (4294967296,4294967296,newaxis)");
  const Array row = broadcast_to(one, {big}), column = broadcast_to(one, {big, 1});
  raises<ValueError>([&] { binary(OpId::Add, row, column); }, "iterator is too large");
  raises<ValueError>(
      [&] { binary(OpId::Add, broadcast_to(one, {big / 4}), broadcast_to(one, {big / 4, 1})); },
      bytes);
  raises<ValueError>([&] { matmul(column, broadcast_to(one, {1, big})); }, bytes);
  raises<ValueError>([&] { astype(broadcast_to(byte, {big, big / 4}), DType::Float64); }, bytes);
  raises<ValueError>([&] { fold(ReduceKind::Sum, broadcast_to(byte, {big, 1, big / 4}), {1}); },
                     bytes);
}

TEST_CASE("dtypes and casts") {
  const Array a = zeros({3}), i = zeros({3}, DType::Int64), u = zeros({3}, DType::UInt8);
  const Array frozen = broadcast_to(a, {2, 3});
  raises<DTypeError>(
      [&] {
        ElementwiseOptions opt;
        opt.out = &i;
        binary(OpId::Add, a, a, opt);
      },
      "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with casting rule "
      "'same_kind'");
  raises<DTypeError>([&] { fold(ReduceKind::BitAnd, a, {0}); },
                     "ufunc 'bitwise_and' not supported for the input types, and the inputs could "
                     "not be safely coerced to any supported types according to the casting rule "
                     "''safe''");
  raises<OverflowError>([&] { binary(OpId::Add, u, weak(300)); },
                        "Python integer 300 out of bounds for uint8");
  raises<OverflowError>([&] { assign(u, weak(-1)); }, "Python integer -1 out of bounds for uint8");
  raises<ValueError>([&] { assign(frozen, weak(1)); }, "assignment destination is read-only");
  raises<ValueError>(
      [&] {
        ElementwiseOptions opt;
        opt.out = &frozen;
        binary(OpId::Add, a, a, opt);
      },
      "output array is read-only");
  raises<ValueError>(
      [&] {
        ElementwiseOptions opt;
        opt.out = &frozen;
        binary(OpId::BitwiseAnd, a, a, opt);
      },
      "output array is read-only");  // before the dtypes are looked at
}

TEST_CASE("negative powers of integers, scalar and array exponents") {
  const Array i = zeros({3}, DType::Int64);
  const Array exponent = full({3}, scalar_int(-2));
  const std::string text = "Integers to negative integer powers are not allowed.";
  raises<ValueError>([&] { binary(OpId::Power, i, weak(-1)); }, text);
  raises<ValueError>([&] { power_operator(i, weak(-1)); }, text);
  CHECK_THROWS_WITH(binary(OpId::Power, i, exponent), text);
}

TEST_CASE("indexing") {
  const Array a = zeros({2, 3});
  auto at = [&](std::initializer_list<Index> i) { slice(a, std::span(i.begin(), i.size())); };
  using I = std::int64_t;
  raises<IndexError>([&] { at({I{5}}); }, "index 5 is out of bounds for axis 0 with size 2");
  raises<IndexError>([&] { at({I{0}, I{-4}}); },
                     "index -4 is out of bounds for axis 1 with size 3");
  raises<IndexError>([&] { at({I{0}, I{0}, I{0}}); },
                     "too many indices for array: array is 2-dimensional, but 3 were indexed");
  raises<IndexError>([&] { at({Ellipsis{}, Ellipsis{}}); },
                     "an index can only have a single ellipsis ('...')");
  raises<ValueError>([&] { at({Slice{{}, {}, 0}}); }, "slice step cannot be zero");
}

TEST_CASE("shapes and axes of views") {
  const Array a = zeros({2, 3});
  const std::int64_t one[] = {0}, twice[] = {0, 0};
  raises<ShapeError>([&] { reshape(a, {4}); }, "cannot reshape array of size 6 into shape (4,)");
  raises<ShapeError>([&] { reshape(a, {-1, 4}); }, "cannot reshape array of size 6 into shape (4)");
  raises<ValueError>([&] { reshape(a, {-1, -1}); }, "can only specify one unknown dimension");
  raises<ValueError>([&] { squeeze(a, Dims{0}); },
                     "cannot select an axis to squeeze out which has size not equal to one");
  raises<ValueError>([&] { transpose(a, one); }, "axes don't match array");
  raises<ValueError>([&] { transpose(a, twice); }, "repeated axis in transpose");
  raises<AxisError>([&] { flip(a, Dims{2}); }, "axis 2 is out of bounds for array of dimension 2");
  raises<AxisError>([&] { swapaxes(a, 0, 3); },
                    "axis2: axis 3 is out of bounds for array of dimension 2");
  raises<ValueError>([&] { diagonal(a, 0, 0, 0); }, "axis1 and axis2 cannot be the same");
  raises<ValueError>([&] { empty({-1, 2}, DType::Float64); },
                     "negative dimensions are not allowed");
}

TEST_CASE("reductions") {
  const Array a = zeros({2, 3}), none = zeros({0}), three = zeros({3});
  const Array mask = zeros({2, 3}, DType::Bool);
  raises<AxisError>([&] { fold(ReduceKind::Sum, a, {3}); },
                    "axis 3 is out of bounds for array of dimension 2");
  raises<ValueError>([&] { fold(ReduceKind::Sum, a, {0, -2}); }, "duplicate value in 'axis'");
  raises<ValueError>([&] { reduce(ReduceKind::Min, none); },
                     "zero-size array to reduction operation minimum which has no identity");
  raises<ValueError>([&] { reduce(ReduceKind::ArgMin, none); },
                     "attempt to get argmin of an empty sequence");
  raises<ValueError>(
      [&] {
        ReduceOptions opt;
        opt.where = &mask;
        reduce(ReduceKind::Min, a, opt);
      },
      "reduction operation 'minimum' does not have an identity, so to use a where mask one has to "
      "specify 'initial'");
  raises<ShapeError>(
      [&] {
        ReduceOptions opt;
        opt.out = &three;
        reduce(ReduceKind::Sum, a, opt);
      },
      "output parameter for reduction operation add has the wrong number of dimensions: Found 1 "
      "but expected 0");
}

TEST_CASE("matmul") {
  const Array a = zeros({2, 3}), scalar = zeros({});
  raises<ShapeError>([&] { matmul(a, a); },
                     "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                     "signature (n?,k),(k,m?)->(n?,m?) (size 2 is different from 3)");
  raises<ShapeError>([&] { matmul(a, scalar); },
                     "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core "
                     "with signature (n?,k),(k,m?)->(n?,m?) requires 1)");
}
