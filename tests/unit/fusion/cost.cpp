// What the cost model says of the table of the machine: which of two ways costs less, and why.
#include "fusion/schedule/cost.hpp"

#include <cmath>

#include "core/config.hpp"
#include "recorded.hpp"

using namespace plait;
using namespace plait::test;
using fusion::ProductImpl;

namespace {

// Round figures.
constexpr Machine machine{.memory = {{1000, 1}, {10000, 2}, {INT64_MAX, 4}},
                          .cycle = 10,
                          .store = 4,
                          .load = 1.5,
                          .recompute = 4,
                          .tile_product = {8, 8},
                          .axes_product = {9, 9},
                          .attention_product = {10, 11},
                          .blas_product = {INFINITY, 12},
                          .loop_product = 400,
                          .tile_lanes = 16,
                          .operation = 5};

double operation(const Array& a) { return fusion::operation_seconds(machine, *tracer::read(a)); }

}  // namespace

TEST_CASE("bytes cost by where all of them lie") {
  CHECK(fusion::memory_seconds(machine, 0) == 0);
  CHECK(fusion::memory_seconds(machine, 1000) == 1000);
  CHECK(fusion::memory_seconds(machine, 1001) == 2002);
  CHECK(fusion::memory_seconds(machine, 20000) == 80000);
}

TEST_CASE("a region computes while it waits for memory") {
  CHECK(fusion::region_seconds(machine, 1000, 5) == 1000);
  CHECK(fusion::region_seconds(machine, 1000, 500) == 5000);
}

TEST_CASE("tiles multiply matrices, a BLAS vectors and complex numbers") {
  const auto seconds = [](ProductImpl by, DType t, double m, double n, double k) {
    return fusion::product_seconds(machine, by, {t, t, t}, m, n, k);
  };
  CHECK(seconds(ProductImpl::Tiles, DType::Float32, 2, 3, 5) == 8 * 30);
  CHECK(seconds(ProductImpl::Tiles, DType::Float16, 2, 3, 5) == 8 * 30);
  CHECK(seconds(ProductImpl::Tiles, DType::Float64, 2, 3, 5) == 16 * 30);
  CHECK(seconds(ProductImpl::Tiles, DType::Float32, 1, 3, 5) == 16 * 8 * 15);
  CHECK(seconds(ProductImpl::Tiles, DType::Float32, 3, 1, 5) == 16 * 8 * 15);
  CHECK(seconds(ProductImpl::Blas, DType::Float32, 1, 3, 5) == 12 * 15);
  CHECK(seconds(ProductImpl::Blas, DType::Complex64, 2, 3, 5) == 4 * 12 * 30);
  CHECK(std::isinf(seconds(ProductImpl::Blas, DType::Float16, 2, 3, 5)));
  CHECK(std::isinf(seconds(ProductImpl::Blas, DType::Float16, 2, 3, 0)));
  CHECK(std::isinf(seconds(ProductImpl::Tiles, DType::Complex64, 2, 3, 5)));
  CHECK(std::isinf(seconds(ProductImpl::Blas, DType::Int64, 2, 3, 5)));
  CHECK(seconds(ProductImpl::Loop, DType::Int64, 2, 3, 5) == 400 * 30);
  CHECK(seconds(ProductImpl::Axes, DType::Float32, 2, 3, 5) == 9 * 30);
  CHECK(seconds(ProductImpl::Attention, DType::Float16, 2, 3, 5) == 10 * 30);
  CHECK(fusion::product_work(machine, ProductImpl::Tiles,
                             {DType::Float64, DType::Float64, DType::Float64},
                             100) == 100 * 16 / 10.0);
}

TEST_CASE("an operation by itself goes through memory") {
  config().eager_limit = 0;
  const Array x = array({100});
  // Two loads and a store, of 800 bytes each; a unit of work an element.
  CHECK(operation(apply(OpId::Add, x, x)) == 5 + 2400 * 2 + 100 * 10);
  CHECK(operation(apply(OpId::Add, x, weak(1))) == 5 + 1600 * 2 + 100 * 10);
  CHECK(operation(apply(OpId::Exp, x)) > 5 + 1600 * 2 + 100 * 10 * 4);
  CHECK(operation(reduce(ReduceKind::Sum, x, 0)) == 5 + 1600 * 2);
  const Array a = array({4, 6}), b = array({6, 3});
  CHECK(operation(tracer::matmul(a, b)) == 5 + (4 * 6 + 4 * 3) * 8 * 1 + 16 * 4 * 6 * 3);
}

TEST_CASE("a value is stored when its readers would compute it again at a price") {
  // Two readers: one of them computes it anyway.
  const fusion::RecomputeCost cheap = fusion::recompute_cost(machine, 100, 3, 200);
  CHECK(cheap.again == 100 * 3 * 10);
  CHECK(cheap.stored == 1.5 * (100 * 4 + 200 * 1.5) * 10);
  CHECK_FALSE(cheap.store());
  CHECK_FALSE(fusion::recompute_cost(machine, 100, 10, 200).store());
  CHECK(fusion::recompute_cost(machine, 100, 11, 200).store());
  // However many read it, a small recomputation is no trip through memory.
  CHECK_FALSE(fusion::recompute_cost(machine, 100, 4, 1e9).store());
  CHECK(fusion::recompute_cost(machine, 100, 5, 1e9).store());
  CHECK_FALSE(fusion::recompute_cost(machine, 100, 1000, 149).store());
}

TEST_CASE("the table of this machine says what planner and engine rely on") {
  const CpuTier before = config().tier;
  for (const CpuTier tier : kTiers) {
    config().tier = tier;
    const Machine& m = host_machine();
    CHECK(m.memory[0].bytes < m.memory[1].bytes);
    CHECK(m.memory[1].bytes < m.memory[2].bytes);
    const auto tiles_win = [&](double rows, double columns) {
      return fusion::product_seconds(m, ProductImpl::Tiles,
                                     {DType::Float32, DType::Float32, DType::Float32}, rows,
                                     columns, 64) <
             fusion::product_seconds(m, ProductImpl::Blas,
                                     {DType::Float32, DType::Float32, DType::Float32}, rows,
                                     columns, 64);
    };
    CHECK(tiles_win(2, 2) == (tier != CpuTier::Baseline));
    CHECK_FALSE(tiles_win(1, 100));
    CHECK_FALSE(tiles_win(100, 1));
  }
  config().tier = before;
}

TEST_CASE("the table of a device follows from what the device says of itself") {
  const GpuMachine one{
      .cache_bytes = 1000, .memory_rate = 1e12, .copied = 1, .multiprocessors = 66};
  GpuMachine two = one;
  two.multiprocessors *= 2;
  two.memory_rate *= 2;
  const Machine slow = device_machine(one), fast = device_machine(two);
  CHECK(fusion::memory_seconds(slow, 1e6) == Approx(1e-6));
  CHECK(fusion::memory_seconds(fast, 1e6) == Approx(0.5e-6));
  CHECK(fusion::memory_seconds(slow, 1000) < 1000 * slow.memory[2].byte);
  CHECK(fast.cycle == Approx(slow.cycle / 2));
  const auto product = [](const Machine& m) {
    return fusion::product_seconds(
        m, ProductImpl::Tiles, {DType::Float32, DType::Float32, DType::Float32}, 1000, 1000, 1000);
  };
  CHECK(product(fast) == Approx(product(slow) / 2));
  // Memory is further away than a host's: what takes a function of a few operations is not stored.
  CHECK(fusion::recompute_cost(kMachine, 1e6, 20, 4e6).store());
  CHECK_FALSE(fusion::recompute_cost(fast, 1e6, 20, 4e6).store());
}

TEST_CASE("the configuration names another table than this machine's") {
  config().machine = &machine;
  CHECK(&host_machine() == &machine);
  config().machine = nullptr;
  CHECK(&host_machine() != &machine);
}
