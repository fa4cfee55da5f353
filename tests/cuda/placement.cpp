// Whole graphs on a device (the doubles of driver and NVRTC), against the interpreter on the host:
// the same bits wherever no library function is involved.
#include "placed.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array norm_argmin(const Array& points, const Array& means) {
  using namespace tracer;
  const Array p = view(points, {All{}, NewAxis{}, All{}}), m = view(means, {NewAxis{}});
  const Array d = apply(OpId::Subtract, p, m);
  const Array squares = test::reduce(ReduceKind::Sum, apply(OpId::Multiply, d, d), 2);
  return test::reduce(ReduceKind::ArgMin, apply(OpId::Sqrt, squares), 1);
}

constexpr DType kEvery[] = {DType::Bool,      DType::Int8,      DType::Int16,   DType::Int32,
                            DType::Int64,     DType::UInt8,     DType::UInt16,  DType::UInt32,
                            DType::UInt64,    DType::Float16,   DType::Float32, DType::Float64,
                            DType::Complex64, DType::Complex128};

}  // namespace

std::string logged;

TEST_CASE("without cuBLASLt matrix products are tiled kernels, and the log says so") {
  setenv("PLAIT_CUBLASLT_LIBRARY", "/nowhere/libcublasLt.so", 1);
  gpu();
  const unsigned before = config().log;
  config().log |= static_cast<unsigned>(Log::Fallback);
  set_log_sink([](Log, std::string_view line) { logged += line; });
  const Array a = random_f64({30, 200}, 1), b = random_f64({200, 50}, 2);
  on_device("matmul", [&](const Place& at) { return tracer::matmul(at(a), at(b)); }, 1e-12);
  set_log_sink(nullptr);
  config().log = before;
  CHECK_THAT(logged, Catch::Contains("products are tiled kernels") && Catch::Contains("/nowhere/"));
}

TEST_CASE("elementwise chains and broadcasting") {
  const Array column = random_f64({7, 1}, 1), row = random_f64({300}, 2);
  const Array cube = random_f32({5, 7, 300}, 3);
  on_device("two axes", [&](const Place& at) {
    const Array a = at(column), b = at(row);
    return apply(OpId::Subtract, apply(OpId::Multiply, apply(OpId::Add, a, b), weak(2)),
                 apply(OpId::Divide, a, b));
  });
  on_device("single and double", [&](const Place& at) {
    return apply(OpId::Multiply, at(cube), apply(OpId::Add, at(column), weak(0.5)));
  });
  on_device("where", [&](const Place& at) {
    const Array a = at(column), b = at(row), less = apply(OpId::Less, a, b);
    const Operand in[] = {less, a, b};
    return tracer::elementwise(OpId::Where, in);
  });
}

TEST_CASE("a chain in every dtype") {
  for (DType t : kEvery) {
    const Array a = sample(t, {261}, 1, false), b = sample(t, {261}, 2, false);
    on_device(std::string(name(t)), [&](const Place& at) {
      const Array x = at(a), y = at(b);
      return apply(OpId::Add, apply(OpId::Multiply, x, y), x);
    });
  }
}

TEST_CASE("casts") {
  for (DType from : {DType::Bool, DType::Int32, DType::Float16, DType::Float64, DType::Complex64}) {
    const Array a = sample(from, {131}, 3, false);
    for (DType to : {DType::Int8, DType::UInt64, DType::Float16, DType::Float32, DType::Complex128})
      if (from != to)
        on_device(std::string(name(from)) + " to " + std::string(name(to)),
                  [&](const Place& at) { return tracer::astype(at(a), to); });
  }
}

TEST_CASE("reductions over any axes, chunks included") {
  const Array inputs[] = {random_f64({37, 1000}, 1), random_f32({100000, 2}, 2),
                          random_f64({3, 70000}, 3), random_f64({6, 5, 401}, 4)};
  for (const Array& a : inputs)
    for (ReduceKind k : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::ArgMin})
      for (std::int64_t axis = -1; axis < a.ndim(); ++axis)
        on_device(std::string(reduce_info(k).name) + " over " + std::to_string(axis),
                  [&](const Place& at) {
                    return axis < 0 ? tracer::reduce(k, at(a)) : test::reduce(k, at(a), axis);
                  });
  // Too few rows for a device are cut as well, more of them than the CPU cuts.
  const Array few = random_f32({70, 66000}, 7);
  for (ReduceKind k : {ReduceKind::Sum, ReduceKind::ArgMax})
    on_device(std::string(reduce_info(k).name) + " of 70 long rows",
              [&](const Place& at) { return test::reduce(k, at(few), 1); });
  for (DType t : kEvery)
    for (ReduceKind k : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::ArgMax}) {
      // A device rounds such a product once, where others overflow on the way.
      if (t == DType::Float16 && k == ReduceKind::Prod) continue;
      on_device(std::string(reduce_info(k).name) + " of " + std::string(name(t)),
                [&, a = sample(t, {40, 1500}, 5)](const Place& at) {
                  return test::reduce(k, at(a), k == ReduceKind::Prod ? 0 : 1);
                });
    }
  const Array mask = sample(DType::Bool, {37, 1000}, 6);
  on_device("where=", [&](const Place& at) {
    const Array m = at(mask);
    tracer::ReduceOptions o;
    o.axes = Dims{0};
    o.where = &m;
    return tracer::reduce(ReduceKind::Sum, at(inputs[0]), o);
  });
}

TEST_CASE("k-means' assignment, whatever K and D, whichever way the means lie") {
  // The last two come to shared memory in pieces along K.
  for (auto [k, d, n] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{2, 2, 501},
                         {3, 5, 501},
                         {8, 8, 501},
                         {16, 64, 501},
                         {360, 31, 2100},
                         {5000, 3, 2100}}) {
    const Array points = random_f64({n, d}, 1), means = random_f64({k, d}, 2),
                turned = random_f64({d, k}, 2);
    const std::string what = "K " + std::to_string(k) + ", D " + std::to_string(d);
    on_device(what, [&](const Place& at) { return norm_argmin(at(points), at(means)); });
    CHECK(engine::last_plan().regions == 1);
    on_device(what + ", turned", [&](const Place& at) {
      return norm_argmin(at(points), tracer::transpose(at(turned)));
    });
    CHECK(engine::last_plan().regions == 1);
  }
}

TEST_CASE("rows that are needed twice: softmax and variance") {
  for (std::int64_t columns : {5, 1000}) {
    const Array a = random_f64({33, columns}, 4);
    on_device(
        "softmax",
        [&](const Place& at) {
          const Array x = at(a);
          const Array e =
              apply(OpId::Exp, apply(OpId::Subtract, x, test::reduce(ReduceKind::Max, x, 1, true)));
          return apply(OpId::Divide, e, test::reduce(ReduceKind::Sum, e, 1, true));
        },
        1e-14);
    on_device("variance", [&](const Place& at) {
      tracer::ReduceOptions o;
      o.axes = Dims{1};
      return numpy::var(at(a), o);
    });
  }
}

TEST_CASE("views: steps, transposition, shifted reads") {
  using namespace tracer;
  const Array square = random_f64({120, 120}, 5);
  on_device("transposed", [&](const Place& at) {
    const Array x = at(square);
    return apply(OpId::Add, x, transpose(x));
  });
  on_device("steps", [&](const Place& at) {
    const Array x = at(square);
    const Index every_third{Slice{{}, {}, 3}}, backwards{Slice{{}, {}, -3}};
    return apply(OpId::Add, view(x, {every_third}), view(x, {backwards}));
  });
  on_device("stencil", [&](const Place& at) {
    const Array x = at(square);
    const Index lower{Slice{{}, -2, {}}}, middle{Slice{1, -1, {}}}, upper{Slice{2, {}, {}}};
    const Array sum = apply(OpId::Add, view(x, {lower, middle}), view(x, {upper, middle}));
    return apply(OpId::Subtract, sum, view(x, {middle, middle}));
  });
  // Of a view only its elements travel, and its layout is its own afterwards.
  const Array part = there(view(square, {Index{Slice{3, 9, {}}}, Index{std::int64_t{7}}}));
  CHECK(part.strides == Dims{8});
  CHECK(difference(values(here(part)),
                   values(view(square, {Index{Slice{3, 9, {}}}, Index{std::int64_t{7}}}))) == "");
}

TEST_CASE("writes through views, in place and beside readers") {
  using namespace tracer;
  const Array start = random_f64({50, 40}, 6), row = random_f64({40}, 7);
  auto program = [&](const Place& at, bool keep_old) {
    const Array x = at(tracer::copy(start)), r = at(row);
    const Array before = apply(OpId::Multiply, x, weak(3));
    if (!keep_old) evaluate(x);
    assign(view(x, {Index{Slice{10, 20, {}}}}), r);
    assign(view(x, {All{}, Index{std::int64_t{0}}}), weak(7));
    assign(view(x, {Index{Slice{{}, {}, 2}}}), view(x, {Index{Slice{1, {}, 2}}}));
    const Array mask = apply(OpId::Greater, x, weak(1));
    assign(x, weak(1), &mask);
    return keep_old ? apply(OpId::Add, x, before) : x;
  };
  for (bool keep_old : {false, true})
    on_device("updates", [&](const Place& at) { return program(at, keep_old); });
  // A write is seen by who has read the memory before.
  const Array x = there(start);
  CHECK(tracer::item(x, std::vector<std::int64_t>{0, 0}).as<double>() == values(start)[0]);
  values(x);
  assign(view(x, {Index{std::int64_t{0}}}), weak(5));
  CHECK(tracer::item(x, std::vector<std::int64_t>{0, 3}).as<double>() == 5);
  CHECK(values(x)[3] == 5);
}

TEST_CASE("a new version copies what the update leaves") {
  using namespace tracer;
  const Array start = random_f64({50, 40, 70}, 6);
  constexpr std::int64_t item = 8, all = 50 * 40 * 70 * item;
  struct Write {
    const char* what;
    std::vector<Index> where;
    std::int64_t copied;
  };
  const Index inner{Slice{1, -1, {}}}, every{Slice{{}, {}, {}}}, second{Slice{{}, {}, 2}},
      backwards{Slice{-2, 0, -1}};
  for (const Write& w :
       {Write{"rows", {inner}, 2 * 40 * 70 * item},
        {"all", {every}, 0},
        {"one row", {Index{std::int64_t{7}}}, 49 * 40 * 70 * item},
        {"columns", {every, inner}, 50 * 2 * 70 * item},
        {"box", {inner, inner}, (2 * 40 + 48 * 2) * 70 * item},
        {"backwards", {backwards, inner}, (2 * 40 + 48 * 2) * 70 * item},
        // Beside the third axis one stretch a row, from the box's first row to its last.
        {"box in a few rows",
         {Index{Slice{3, 7, {}}}, inner, inner},
         ((46 * 40 + 4 * 2) * 70 + (3 * 40 + 38) * 2) * item},
        {"box in many rows",
         {inner, inner, inner},
         ((2 * 40 + 48 * 2) * 70 + (47 * 40 + 38) * 2) * item},
        {"a line across", {every, Index{std::int64_t{3}}, Index{Slice{3, 7, {}}}}, all},
        {"steps", {every, second}, all}}) {
    INFO(w.what);
    // Who still wants a value of the old contents keeps them.
    const auto both = [&](const Place& at) {
      const Array x = at(tracer::copy(start));
      const Array of_old = apply(OpId::Multiply, x, weak(2));
      assign(view(x, w.where), weak(3));
      return std::pair(x, of_old);
    };
    const auto want = both([](const Array& a) { return a; });
    const auto got = both(there);
    const std::size_t before = fake().copied_within();
    evaluate(got.first);
    if (!on_gpu()) CHECK(fake().copied_within() == before + static_cast<std::size_t>(w.copied));
    same("written", got.first, want.first);
    same("old", got.second, want.second);
  }
}

TEST_CASE("several results of one evaluation") {
  const Array a = random_f64({300, 200}, 8);
  const Array x = there(a);
  const Array out[] = {apply(OpId::Add, x, weak(1)), tracer::reduce(ReduceKind::Sum, x),
                       test::reduce(ReduceKind::Max, x, 0)};
  tracer::evaluate(out);
  same("map", out[0], apply(OpId::Add, a, weak(1)));
  same("sum", out[1], tracer::reduce(ReduceKind::Sum, a));
  same("max", out[2], test::reduce(ReduceKind::Max, a, 0));
}

TEST_CASE("empty arrays and arrays of one element") {
  on_device("one", [](const Place& at) { return apply(OpId::Add, at(random_f64({1})), weak(1)); });
  const Array none = there(random_f64({0, 3}));
  CHECK(values(here(apply(OpId::Add, none, weak(1)))).empty());
  CHECK(values(here(test::reduce(ReduceKind::Sum, none, 0))) == Values{0, 0, 0});
}

TEST_CASE("0-D arrays of the host mix with a device's, arrays do not") {
  const Array a = random_f64({100}, 1), scale = random_f64({}, 2);
  on_device("scale", [&](const Place& at) { return apply(OpId::Multiply, at(a), scale); });
  on_device("0-D on the device", [&](const Place& at) {
    return apply(OpId::Multiply, at(a), tracer::reduce(ReduceKind::Sum, at(a)));
  });
  const Array x = there(a);
  REQUIRE_THROWS_WITH(apply(OpId::Add, x, a), Catch::Contains("'cpu'") &&
                                                  Catch::Contains("'cuda:0'") &&
                                                  Catch::Contains("to_device"));
  REQUIRE_THROWS_AS(tracer::assign(x, a), DeviceError);
  CHECK(values(here(x)) == values(a));
}

TEST_CASE("creation on the current device") {
  const tracer::OnDevice scope(gpu());
  const Array ramp = tracer::arange(1000, scalar_float(0), scalar_float(0.5));
  const Array ones = tracer::full({1000}, scalar_float(1));
  const Array sum = apply(OpId::Add, ramp, ones);
  CHECK(tracer::device_of(sum) == gpu());
  CHECK(values(here(sum))[999] == 500.5);
  const Array fresh = tracer::empty({10}, DType::Float64);
  CHECK(tracer::device_of(fresh) == gpu());
}

TEST_CASE("a chain of evaluations waits for nothing and copies nothing") {
  Array x = there(random_f64({10000}, 3));
  tracer::evaluate(apply(OpId::Add, x, weak(1)));  // compiles
  const int waits = fake().waits();
  const TransferStats before = transfer_stats();
  for (int step = 0; step < 10; ++step) {
    x = apply(OpId::Add, x, weak(1));
    tracer::evaluate(x);
  }
  CHECK(fake().waits() == waits);
  CHECK(transfer_stats().waits == before.waits);
  CHECK(transfer_stats().to_device == before.to_device);
  CHECK(transfer_stats().to_host == before.to_host);
  const double first = tracer::item(x, std::vector<std::int64_t>{0}).as<double>();
  CHECK(first ==
        tracer::item(random_f64({10000}, 3), std::vector<std::int64_t>{0}).as<double>() + 10);
  CHECK(transfer_stats().bytes_to_host == before.bytes_to_host + 8);
}

TEST_CASE("a warm evaluation asks the driver for a launch, and twice which context is current",
          "[double]") {
  Array x = there(random_f64({10000}, 3));
  auto step = [&] {
    x = apply(OpId::Add, x, weak(1));
    tracer::evaluate(x);
  };
  for (int i = 0; i < 3; ++i) step();
  const int before = fake().calls("any"), kernels = fake().calls("kernel"),
            launches = fake().calls("cuLaunchKernel");
  for (int i = 0; i < 10; ++i) step();
  CHECK(fake().calls("cuLaunchKernel") == launches + 10);
  CHECK(fake().calls("any") - (fake().calls("kernel") - kernels) == before + 30);
}

TEST_CASE("long copies from the host go beside what the device does, and never over it") {
  constexpr std::int64_t n = 3 << 18;  // 6 MiB
  const Array a = random_f64({n}, 1), b = random_f64({n}, 2);
  values(here(apply(OpId::Multiply, there(a), weak(2))));  // compiles
  for (bool hurry : {false, true}) {
    fake().hurry_copies(hurry);
    for (int i = 0; i < 3; ++i) {
      Array x = there(a);
      const Array twice = apply(OpId::Multiply, x, weak(2));
      tracer::evaluate(twice);
      const int kernels = fake().calls("kernel");
      const Array fresh = there(b);  // other memory
      CHECK(fake().calls("kernel") == kernels);
      x = Array{};
      const Array reused = there(b);  // the memory that the kernel reads
      CHECK(values(here(twice)) == values(apply(OpId::Multiply, a, weak(2))));
      CHECK(values(here(reused)) == values(b));
      const Array after = apply(OpId::Add, there(b), weak(1));
      tracer::evaluate(after);
      engine::device_of(gpu()).synchronise();  // the kernel has run, whatever else has
      CHECK(values(here(after)) == values(apply(OpId::Add, b, weak(1))));
      CHECK(values(here(fresh)) == values(b));
    }
  }
  fake().hurry_copies(false);
}

TEST_CASE("a new shape or value compiles nothing") {
  auto f = [](std::int64_t n, double c) {
    tracer::evaluate(apply(OpId::Multiply, there(random_f64({n})), weak(c)));
  };
  f(1000, 2);
  const std::uint64_t compiled = engine::stats().kernels_compiled;
  f(1001, 3);
  CHECK(engine::stats().kernels_compiled == compiled);
}

TEST_CASE("matrix products stay on the device, with what stands around them") {
  const Array a = random_f64({30, 200}, 1), b = random_f64({200, 50}, 2);
  on_device(
      "matmul",
      [&](const Place& at) {
        const Array p = tracer::matmul(at(a), apply(OpId::Add, at(b), weak(1)));
        return apply(OpId::Multiply, p, weak(2));
      },
      1e-12);
  const Array stack = random_f64({3, 4, 30}, 3);
  on_device("batches", [&](const Place& at) { return tracer::matmul(at(stack), at(a)); }, 1e-12);
  const Array row = random_f64({200}, 4), left = sample(DType::Bool, {5, 9}, 5),
              right = sample(DType::Bool, {9, 4}, 6);
  on_device("vector", [&](const Place& at) { return tracer::matmul(at(a), at(row)); }, 1e-12);
  on_device("bool", [&](const Place& at) { return tracer::matmul(at(left), at(right)); });
}

TEST_CASE("an operation at a time on a device") {
  const Array a = random_f64({30, 400}, 1);
  config().fuse = false;
  on_device("unfused", [&](const Place& at) {
    const Array x = at(tracer::copy(a));
    tracer::assign(view(x, {tracer::Index{tracer::Slice{2, 5, {}}}}), weak(1));
    return test::reduce(ReduceKind::Sum, apply(OpId::Sqrt, apply(OpId::Add, x, weak(9))), 1);
  });
  const engine::Stats before = engine::stats();
  const Array x = there(a);
  tracer::evaluate(apply(OpId::Negative, apply(OpId::Add, x, weak(1))));
  CHECK(engine::stats().kernels_on_device == before.kernels_on_device + 2);
  config().fuse = true;
}

TEST_CASE("memory that runs out in the middle leaves every array intact", "[double]") {
  const Array a = random_f64({200, 1000}, 1);
  const Array x = there(a);
  const Array centred = apply(OpId::Subtract, x, tracer::reduce(ReduceKind::Sum, x));
  const Array sum = tracer::reduce(ReduceKind::Sum, centred);
  engine::device_of(gpu()).trim();
  for (int nth = 0; nth < 3; ++nth) {
    engine::device_of(gpu()).trim();
    fake().fail("cuMemAlloc", nth, 2);
    fake().fail_again("cuMemAlloc");
    REQUIRE_THROWS_AS(tracer::evaluate(std::vector<Array>{centred, sum}), std::bad_alloc);
  }
  same("after", centred, apply(OpId::Subtract, a, tracer::reduce(ReduceKind::Sum, a)));
  CHECK(values(here(x)) == values(a));
  CHECK(values(here(sum)) ==
        values(tracer::reduce(ReduceKind::Sum,
                              apply(OpId::Subtract, a, tracer::reduce(ReduceKind::Sum, a)))));
}

TEST_CASE("a launch that is refused is an error, and may be tried again", "[double]") {
  const Array x = there(random_f64({64}, 1));
  const Array y = apply(OpId::Add, x, weak(1));
  fake().fail("cuLaunchKernel", 0, 701);
  REQUIRE_THROWS_WITH(tracer::evaluate(y), Catch::Contains("launching"));
  CHECK(difference(values(here(y)), values(apply(OpId::Add, random_f64({64}, 1), weak(1)))) == "");
}

// Last: the device is lost for good.
TEST_CASE("a kernel that fails names its region at the next wait; the host goes on", "[double]") {
  const Array a = random_f64({64}, 1);
  const Array x = there(a);
  const Array y = apply(OpId::Multiply, x, weak(2));
  fake().fail("kernel", 0, 700);
  tracer::evaluate(y);
  REQUIRE_THROWS_WITH(here(y), Catch::Contains("ILLEGAL_ADDRESS") && Catch::Contains("multiply"));
  REQUIRE_THROWS_AS(tracer::evaluate(apply(OpId::Add, x, weak(1))), DeviceError);
  CHECK(values(apply(OpId::Add, a, weak(0))) == values(a));
}
