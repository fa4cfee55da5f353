// Running folds in regions, by every kind and dtype that loops scan.
#include "everywhere.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::Slice;

namespace {

Array twice(const Array& a) { return apply(OpId::Add, a, a); }

}  // namespace

TEST_CASE("scans between elementwise work along either axis") {
  for (const DType t : {DType::Float64, DType::Float32, DType::Int32, DType::UInt8, DType::Int64,
                        DType::Complex128})
    for (const OpId fn : {OpId::Add, OpId::Multiply, OpId::Maximum, OpId::Minimum}) {
      if (is_complex(t) && fn != OpId::Add) continue;
      const Array x = tracer::astype(random_f64({70, 90}, 3), t);
      for (const std::int64_t axis : {0, 1})
        everywhere(std::string(op_info(fn).name) + " of " + std::string(name(t)), [&] {
          tracer::AccumulateOptions o;
          o.dtype = t;
          return apply(OpId::Add, tracer::accumulate(fn, twice(x), axis, o), x);
        });
    }
}

TEST_CASE("what is read further along a scan") {
  for (const std::int64_t n : {100, 4500}) {
    const Array x = random_f64({5, n}, 3);
    everywhere("moving average", [&] {
      const Array c = tracer::accumulate(OpId::Add, twice(x), 1);
      return apply(OpId::Subtract, view(c, {All{}, Slice{33, {}, {}}}),
                   view(c, {All{}, Slice{{}, -33, {}}}));
    });
    everywhere("second difference", [&] {
      const Array c = twice(tracer::accumulate(OpId::Add, x, 1));
      return apply(OpId::Add,
                   apply(OpId::Subtract, view(c, {All{}, Slice{6, {}, {}}}),
                         twice(view(c, {All{}, Slice{3, -3, {}}}))),
                   view(c, {All{}, Slice{{}, -6, {}}}));
    });
  }
  const Array line = random_f64({9001}, 3);
  everywhere("one line", [&] {
    const Array c = tracer::accumulate(OpId::Add, line, 0);
    return twice(
        apply(OpId::Subtract, view(c, {Slice{50, {}, {}}}), view(c, {Slice{{}, -50, {}}})));
  });
}

TEST_CASE("infinities and NaNs go on along a scan") {
  const double inf = HUGE_VAL;
  Array x = random_f64({80, 40}, 3);
  auto* p = static_cast<double*>(tracer::data(x));
  for (std::int64_t i = 7; i < x.size(); i += 97) p[i] = i % 3 == 0 ? inf : i % 3 == 1 ? NAN : -0.0;
  for (const OpId fn : {OpId::Add, OpId::Multiply, OpId::Maximum, OpId::Minimum})
    for (const std::int64_t axis : {0, 1})
      everywhere(std::string(op_info(fn).name),
                 [&] { return twice(tracer::accumulate(fn, twice(x), axis)); });
}
