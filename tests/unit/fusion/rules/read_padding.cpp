// What reads a padded array chooses between what was written and what it was filled with, or the
// array is put in memory.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::Slice;

namespace {

const char* const kChosen = "what reads its parts would choose too often";

Array padded(std::int64_t rows, std::int64_t columns, std::int64_t by_rows) {
  config().eager_limit = 0;
  const Array p = tracer::full({rows + 2 * by_rows, columns + 2}, Scalar::of(DType::Float64, 0.));
  tracer::assign(view(p, {Slice{by_rows, rows + by_rows, {}}, Slice{1, columns + 1, {}}}),
                 operand({rows, columns}));
  return p;
}
// The sum of neighbours.
Array stencil(const Array& p) {
  return apply(OpId::Add, view(p, {All{}, Slice{{}, -2, {}}}), view(p, {All{}, Slice{2, {}, {}}}));
}
Planned read(const Array& a, const Machine& m) { return {{a}, {&fusion::read_padding()}, m}; }

}  // namespace

TEST_CASE("read_padding: in memory where that is quicker than to choose") {
  for (const double byte : {0., 1.}) {
    const Array a = stencil(padded(300, 200, 1));
    const Planned p = read(a, with_memory(byte));
    const bool stored = byte == 0;
    CHECK(p.choice(kChosen).taken == stored);
    CHECK(p.stored(kChosen) == stored);
    CHECK((p.maps() > 1) == stored);
  }
}

TEST_CASE("read_padding: parts of short rows are stored, of long ones read") {
  config().eager_limit = 0;
  const auto joined = [](std::int64_t columns) {
    const Array whole = tracer::empty({9000, 2 * columns}, DType::Float64);
    for (const std::int64_t at : {std::int64_t{0}, columns})
      tracer::assign(view(whole, {All{}, Slice{at, at + columns, {}}}), operand({9000, columns}));
    return apply(OpId::Square, whole);
  };
  for (const std::int64_t columns : {4, 400})
    CHECK(read(joined(columns), kMachine).stored(kChosen) == (columns == 4));
}

TEST_CASE("read_padding: nothing is offered of what more than loops over elements read") {
  const auto nothing = [](const Array& a) {
    return read(a, with_memory(1)).plan->considered.empty();
  };
  const Array named = padded(300, 200, 1), of_named = stencil(named);
  CHECK(nothing(of_named));
  const Array multiplied = tracer::matmul(padded(300, 200, 1), operand({202, 20}));
  CHECK(nothing(multiplied));
}
