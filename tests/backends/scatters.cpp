// Combining by index in regions, by every way to combine and dtype.
#include "everywhere.hpp"
#include "numpy_compat/by_index.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array doubled(const Array& a) { return apply(OpId::Add, a, a); }

// Indices of 0, 1 and 2 that nobody has computed yet.
Array thirds(const Array& x) { return reduce(ReduceKind::ArgMin, apply(OpId::Multiply, x, x), 1); }

}  // namespace

TEST_CASE("rows are combined by index as they are computed") {
  const Array by = random_f64({5000, 3}, 7);
  for (const DType t : {DType::Float64, DType::Float32, DType::Int64, DType::Int16, DType::UInt8})
    for (const OpId fn : {OpId::Add, OpId::Multiply, OpId::Maximum, OpId::Minimum})
      for (const Dims& row : {Dims{}, Dims{2}, Dims{3}, Dims{4}, Dims{50}, Dims{2, 9}}) {
        Dims shape = row, table = row;
        shape.insert(0, 5000);
        table.insert(0, 3);
        const Array x = tracer::astype(random_f64(shape, 3), t);
        const Array from = tracer::astype(random_f64(table, 4), t);
        everywhere(std::string(op_info(fn).name) + " of " + std::string(name(t)),
                   [&] { return numpy::combined(fn, doubled(from), thirds(by), doubled(x)); });
      }
}

TEST_CASE("pieces of a long combination are joined alike by any number of threads") {
  const Array by = random_f64({1'500'000, 3}, 7), x = random_f64({1'500'000, 2}, 3);
  everywhere("sums of rows", [&] {
    const Array zero = tracer::full({3, 2}, scalar_float(0));
    return numpy::combined(OpId::Add, zero, thirds(by), doubled(x));
  });
}
