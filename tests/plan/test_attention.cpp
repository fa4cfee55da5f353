// Attention in its spellings: one region, no scores in memory, and within the products' tolerance
// of the operations one at a time.
#include <catch2/catch.hpp>

#include "close.hpp"

using namespace plait;
using namespace plait::test;
using tracer::matmul;

namespace {

Array rows(const Array& a, ReduceKind kind) {
  return tracer::expand_dims(reduce(kind, a, a.ndim() - 1), Dims{-1});
}
Array exp_of_rows(const Array& s) {
  return apply(OpId::Exp, apply(OpId::Subtract, s, rows(s, ReduceKind::Max)));
}
Array weights(const Array& e) { return apply(OpId::Divide, e, rows(e, ReduceKind::Sum)); }
Array scores(const Array& q, const Array& k) {
  return apply(OpId::Multiply, matmul(q, tracer::swapaxes(k, -1, -2)), weak(0.125));
}

void check_one_region(const Both& r) {
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.plan.bytes_moved == r.plan.bytes_least);
  check_close(r);
}

}  // namespace

TEST_CASE("what is homogeneous in row values is rescaled, other factors of a row are deferred") {
  const Array q = random_f32({2, 300, 33}, 1), k = random_f32({2, 520, 33}, 2),
              v = random_f32({2, 520, 40}, 3);
  const auto add = [](const Array& a, const Array& b) { return apply(OpId::Add, a, b); };
  const auto less = [](const Array& a, const Array& b) { return apply(OpId::Subtract, a, b); };
  check_one_region(both([&] {
    const Array s = scores(q, k), m = rows(s, ReduceKind::Max),
                sum = rows(apply(OpId::Exp, less(s, m)), ReduceKind::Sum);
    return matmul(apply(OpId::Exp, less(s, add(m, apply(OpId::Log, sum)))), v);
  }));
  check_one_region(both([&] {
    const Array e = exp_of_rows(scores(q, k));
    return matmul(apply(OpId::Divide, e, apply(OpId::Add, rows(e, ReduceKind::Sum), weak(1))), v);
  }));
  check_one_region(both([&] {
    const Array s = scores(q, k), m = apply(OpId::Maximum, rows(s, ReduceKind::Max), weak(2)),
                e = apply(OpId::Exp, less(s, m));
    return matmul(apply(OpId::Multiply, weights(e), rows(s, ReduceKind::Min)), v);
  }));
  // A sum of differences is not homogeneous in the maximum.
  const Both sum_of_differences = both([&] {
    const Array s = scores(q, k), d = less(s, rows(s, ReduceKind::Max));
    return matmul(apply(OpId::Divide, apply(OpId::Exp, d), rows(d, ReduceKind::Sum)), v);
  });
  CHECK(sum_of_differences.plan.regions > 1);
  check_close(sum_of_differences);
}

TEST_CASE("attention is one region, divided before or after, with or without the maximum") {
  for (const auto& [b, m, n, d, w] : {std::tuple{2, 300, 520, 33, 40}, {3, 40, 48, 16, 16}}) {
    const Array q = random_f32({b, m, d}, 1), k = random_f32({b, n, d}, 2),
                v = random_f32({b, n, w}, 3);
    check_one_region(both([&] { return matmul(weights(exp_of_rows(scores(q, k))), v); }));
    check_one_region(both([&] { return matmul(weights(apply(OpId::Exp, scores(q, k))), v); }));
    check_one_region(both([&] {
      const Array e = exp_of_rows(scores(q, k));
      const Array inverse = apply(OpId::Divide, weak(1), rows(e, ReduceKind::Sum));
      return matmul(apply(OpId::Multiply, e, inverse), v);
    }));
    check_one_region(both([&] {
      const Array e = exp_of_rows(scores(q, k));
      return apply(OpId::Divide, matmul(e, v), rows(e, ReduceKind::Sum));
    }));
    check_one_region(both([&] {
      const Array e = apply(OpId::Exp, scores(q, k));
      return apply(OpId::Divide, matmul(e, v), rows(e, ReduceKind::Sum));
    }));
  }
}
