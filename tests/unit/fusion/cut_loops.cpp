// Loops that are cut where they read arrays that were written in part.
#include <algorithm>
#include <functional>

#include "recorded.hpp"

using namespace plait;
using namespace plait::test;

namespace {

using tracer::Slice;

// Ones around the array, written over an array of ones.
Array padded(const Array& a, std::int64_t by = 1) {
  Dims shape = a.shape;
  std::vector<tracer::Index> box;
  for (auto& e : shape) {
    box.emplace_back(Slice{by, e + by, std::nullopt});
    e += 2 * by;
  }
  const Array p = tracer::full(shape, cast(scalar_int(1), a.dtype));
  tracer::assign(view(p, box), a);
  return p;
}

Array part(const Array& p, std::int64_t row, std::int64_t column, const Dims& shape) {
  return view(p, {Slice{row, row + shape[0], std::nullopt},
                  Slice{column, column + shape[1], std::nullopt}});
}

// The sum, of `height` rows, of elements of a padded array: how many loops it has, and what it
// stores. `terms`: what an element is, from those of the padded array.
using At = std::function<double(std::int64_t, std::int64_t)>;
void check(const Array& sum, const Dims& inside, std::int64_t by, int loops,
           const std::function<double(const At&, std::int64_t, std::int64_t)>& terms) {
  Recorded r(sum);
  INFO(ir::to_string(r.lowered.kernel));
  CHECK(loop_count(r.lowered.kernel) == loops);
  const Bytes buffers = r.run();
  REQUIRE(buffers.size() == 2);
  const auto number = [&](std::size_t buffer, std::int64_t at) {
    double v = 0;
    std::memcpy(&v, buffers[buffer].data() + at * 8, 8);
    return v;
  };
  const At at = [&](std::int64_t i, std::int64_t j) {
    i -= by;
    j -= by;
    const bool outside = i < 0 || j < 0 || i >= inside[0] || j >= inside[1];
    return outside ? 1 : number(0, i * inside[1] + j);
  };
  for (std::int64_t i = 0; i < sum.shape[0]; ++i)
    for (std::int64_t j = 0; j < sum.shape[1]; ++j) {
      INFO(i << ", " << j);
      CHECK(number(1, i * sum.shape[1] + j) == terms(at, i, j));
    }
}

}  // namespace

TEST_CASE(
    "the innermost loop has a zone for each side of an edge, and none where there is nothing") {
  const Dims shape{30, 40};
  const Array p = padded(array(shape));
  // Nothing of the second is behind the last column.
  check(apply(OpId::Add, part(p, 0, 1, shape), part(p, 2, 0, shape)), shape, 1, 3,
        [](const At& at, auto i, auto j) { return at(i, j + 1) + at(i + 2, j); });
  // Nothing is in front of the first column.
  check(apply(OpId::Add, part(p, 0, 1, shape), part(p, 1, 2, shape)), shape, 1, 3,
        [](const At& at, auto i, auto j) { return at(i, j + 1) + at(i + 1, j + 2); });
}

TEST_CASE("parts of one array are read without a choice, but for the address of a row") {
  config().eager_limit = 0;
  const Array a = array({300, 400});
  const auto part_of = [](const Array& x, int axis, Slice s) {
    return axis == 0 ? view(x, {s}) : view(x, {tracer::All{}, s});
  };
  for (const int axis : {0, 1}) {
    const Array rolled = tracer::empty(a.shape, a.dtype);
    tracer::assign(part_of(rolled, axis, {1, {}, {}}), part_of(a, axis, {{}, -1, {}}));
    tracer::assign(part_of(rolled, axis, {{}, 1, {}}), part_of(a, axis, {-1, {}, {}}));
    Recorded r(apply(OpId::Add, rolled, weak(1)));
    const ir::Kernel& k = r.lowered.kernel;
    INFO(ir::to_string(k));
    CHECK(loop_count(k) == (axis == 0 ? 2 : 3));
    CHECK(std::none_of(k.insts.begin(), k.insts.end(), [](const ir::Inst& i) {
      return i.op == ir::Op::Apply && i.fn == OpId::Where && i.type == DType::Float64;
    }));
    CHECK(k.buffers.size() == 2);
    const Bytes buffers = r.run();
    const auto at = [&](std::size_t buffer, std::int64_t i, std::int64_t j) {
      double v = 0;
      std::memcpy(&v, buffers[buffer].data() + (i * 400 + j) * 8, 8);
      return v;
    };
    for (std::int64_t i = 0; i < 300; i += i == 0 ? 1 : 298)
      for (std::int64_t j = 0; j < 400; ++j)
        CHECK(at(1, i, j) ==
              (axis == 0 ? at(0, (i + 299) % 300, j) : at(0, i, (j + 399) % 400)) + 1);
  }
}

TEST_CASE("a zone is inside along a dimension where every read of it is") {
  const Dims shape{40, 40}, all{46, 46};
  const Array p = padded(array(shape), 3);
  check(apply(OpId::Add, p, tracer::transpose(p)), shape, 3, 4,
        [](const At& at, auto i, auto j) { return at(i, j) + at(j, i); });
}
