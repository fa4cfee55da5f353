// Kernels written by hand, for what random ones rarely meet.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "codegen/interp/interp.hpp"
#include "fold_kernel.hpp"
#include "ir/builder.hpp"
#include "product_kernel.hpp"
#include "reference.hpp"

using namespace plait;
using ir::Access;
using ir::Builder;
using ir::kNone;
using ir::Val;

namespace {

constexpr DType f64 = DType::Float64;

std::vector<double> numbers(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<double>((i * 7919) % 1009) / 8 - 60;
  return v;
}

void run(const ir::Kernel& k, std::vector<void*> buffers, std::vector<std::int64_t> params,
         std::int64_t grid, CpuTier tier = detected_tier()) {
  ir::verify(k);
  auto p = interp::prepare(k, tier);
  ir::CallArgs args{buffers.data(), params.data(), nullptr};
  void* scratch = std::aligned_alloc(64, (interp::scratch_bytes(*p, args) + 63) / 64 * 64);
  interp::run(*p, args, 0, grid, scratch);
  std::free(scratch);
}

// labels[n] = argmin over k of sqrt(sum over d of (x[n, d] - m[k, d])^2)
ir::Kernel nearest() {
  Builder b("nearest");
  b.loop(0).scope = ir::Scope::Lanes;
  auto x = b.buffer(f64, false), m = b.buffer(f64, false), out = b.buffer(DType::Int64, true);
  auto clusters = b.new_param(), axes = b.new_param(), row = b.new_param();
  auto k = b.open_reduce(kNone, b.param(clusters));
  auto d = b.open_reduce(kNone, b.param(axes));
  Val p = b.load(x, {{}, {{b.grid_var(), {0, row}}, {b.var(d), {8}}}});
  Val q = b.load(m, {{}, {{b.var(k), {0, row}}, {b.var(d), {8}}}});
  Val square = b.apply(OpId::Square, f64, {b.apply(OpId::Subtract, f64, {p, q})});
  Val sum = b.close({{ReduceKind::Sum, square, ir::Order::Pairwise}})[0];
  Val label = b.close({{ReduceKind::ArgMin, sum, ir::Order::Any, true}})[0];
  b.store(out, {{}, {{b.grid_var(), {8}}}}, label);
  return b.finish();
}

}  // namespace

TEST_CASE("nearest means, with rows kept in scratch and without") {
  for (std::int64_t axes : {1, 2, 8, 64, 200}) {
    std::int64_t n = 700, clusters = 5;
    auto x = numbers(n * axes), m = numbers(clusters * axes);
    std::vector<std::int64_t> got(n), want(n);
    ir::Kernel k = nearest();
    std::vector<std::int64_t> params{clusters, axes, 8 * axes};
    void* reference_buffers[] = {x.data(), m.data(), want.data()};
    reference::run(k, {reference_buffers, params.data(), nullptr}, 0, n);
    for (CpuTier tier : kTiers) {
      if (tier > detected_tier()) continue;
      run(k, {x.data(), m.data(), got.data()}, params, n, tier);
      CHECK(got == want);
    }
  }
}

// out[r, c] = where(x[r, c] > sqrt(y[r]), x[r, c], t[index[r, c]]) and scratch[r, c] = x[r, c],
// with rows that lie apart in all arrays but the index's.
ir::Kernel short_rows() {
  Builder b("rows");
  auto x = b.buffer(f64, false), y = b.buffer(f64, false), t = b.buffer(f64, false);
  auto index = b.buffer(DType::Int64, false), out = b.buffer(f64, true), copy = b.buffer(f64, true);
  auto columns = b.new_param(), x_row = b.new_param(), x_step = b.new_param();
  auto out_row = b.new_param(), index_row = b.new_param();
  const Val root = b.apply(OpId::Sqrt, f64, {b.load(y, {{}, {{b.grid_var(), {16}}}})});
  auto c = b.open_for(kNone, b.param(columns));
  b.loop(c).scope = ir::Scope::Lanes;
  const Val v = b.load(x, {{}, {{b.grid_var(), {0, x_row}}, {b.var(c), {0, x_step}}}});
  const Val i = b.load(index, {{}, {{b.grid_var(), {0, index_row}}, {b.var(c), {8}}}});
  const Access at{{}, {{b.grid_var(), {0, out_row}}, {b.var(c), {8}}}};
  b.store(out, at,
          b.apply(OpId::Where, f64,
                  {b.apply(OpId::Greater, DType::Bool, {v, root}), v, b.gather(t, {}, i, {8})}));
  b.store(copy, at, v);
  b.close();
  return b.finish();
}

TEST_CASE("rows of any length, several in a tile or several tiles a row") {
  const ir::Kernel k = short_rows();
  for (std::int64_t columns : {1, 2, 3, 7, 14, 63, 64, 128, 255, 256, 600})
    for (std::int64_t step : {8, 24, 0, -8}) {
      const std::int64_t rows = 70, apart = columns + 3;
      auto x = numbers(rows * apart * 3 + 1), y = numbers(rows * 2), t = numbers(50);
      for (double& v : y) v = std::abs(v);
      std::vector<std::int64_t> index(rows * columns);
      for (std::size_t i = 0; i < index.size(); ++i)
        index[i] = static_cast<std::int64_t>(i * 31 % 50);
      std::vector<double> got[2], want[2];
      for (int o : {0, 1}) got[o] = want[o] = std::vector<double>(rows * apart, -1);
      double* const first = x.data() + (step < 0 ? columns : 0);
      std::vector<std::int64_t> params{columns, apart * 24, step, apart * 8, columns * 8};
      void* reference_buffers[] = {first,        y.data(),       t.data(),
                                   index.data(), want[0].data(), want[1].data()};
      reference::run(k, {reference_buffers, params.data(), nullptr}, 0, rows);
      run(k, {first, y.data(), t.data(), index.data(), got[0].data(), got[1].data()}, params, rows);
      INFO(columns << " columns, a step of " << step);
      CHECK(got[0] == want[0]);
      CHECK(got[1] == want[1]);
    }
}

TEST_CASE("guarded roots decide ties as the roots would") {
  // Neighbouring doubles whose roots are equal: the first wins, though the second is smaller.
  double a = 2.0 + 4 * 2.220446049250313e-16, b = std::nextafter(a, 0.0);
  while (std::sqrt(a) != std::sqrt(b)) {
    a = b;
    b = std::nextafter(a, 0.0);
  }
  double inf = INFINITY, nan = NAN, tiny = 5e-324;
  std::vector<std::vector<double>> rows = {
      {a, b, 9},   {b, a, 9},     {9, a, b}, {inf, inf, 1},
      {1, nan, 0}, {nan, nan, 0}, {0, 0, 0}, {2 * tiny, tiny, tiny}};
  for (ReduceKind kind : {ReduceKind::ArgMin, ReduceKind::ArgMax}) {
    Builder bld("ties");
    bld.loop(0).scope = ir::Scope::Lanes;
    auto x = bld.buffer(f64, false), out = bld.buffer(DType::Int64, true);
    auto j = bld.open_reduce(kNone, bld.constant_index(3));
    Val v = bld.load(x, {{}, {{bld.grid_var(), {24}}, {bld.var(j), {8}}}});
    Val r = bld.close({{kind, v, ir::Order::Any, true}})[0];
    bld.store(out, {{}, {{bld.grid_var(), {8}}}}, r);
    ir::Kernel k = bld.finish();
    std::vector<double> flat;
    for (auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    std::vector<std::int64_t> got(rows.size()), want(rows.size());
    void* buffers[] = {flat.data(), want.data()};
    reference::run(k, {buffers, nullptr, nullptr}, 0, static_cast<std::int64_t>(rows.size()));
    run(k, {flat.data(), got.data()}, {}, static_cast<std::int64_t>(rows.size()));
    CHECK(got == want);
  }
}

TEST_CASE("a loaded value is the one from before a store") {
  Builder b("swap");
  b.loop(0).scope = ir::Scope::Lanes;
  auto x = b.buffer(f64, true), y = b.buffer(f64, true);
  Access at{{}, {{b.grid_var(), {8}}}};
  Val p = b.load(x, at), q = b.load(y, at);
  b.store(x, at, q);
  b.store(y, at, p);
  auto u = numbers(1300), v = u;
  for (double& e : v) e = -2 * e;
  auto old_u = u, old_v = v;
  run(b.finish(), {u.data(), v.data()}, {}, 1300);
  CHECK(u == old_v);
  CHECK(v == old_u);
}

TEST_CASE("a sum along the vector loop is NumPy's tree at any length") {
  Builder b("sum");
  auto x = b.buffer(f64, false), out = b.buffer(f64, true);
  auto n = b.new_param();
  auto j = b.open_reduce(kNone, b.param(n));
  b.loop(j).scope = ir::Scope::Lanes;
  Val v = b.load(x, {{}, {{b.var(j), {8}}}});
  Val sum = b.close({{ReduceKind::Sum, b.apply(OpId::Sqrt, f64, {v}), ir::Order::Pairwise}})[0];
  b.store(out, {{}, {{b.grid_var(), {8}}}}, sum);
  ir::Kernel k = b.finish();
  for (std::int64_t length : {0, 1, 7, 8, 127, 128, 129, 511, 512, 513, 1000, 1031, 5000, 100003}) {
    auto values = numbers(static_cast<std::size_t>(length));
    for (double& e : values) e = std::abs(e);
    double got = 0, want = 0;
    void* buffers[] = {values.data(), &want};
    reference::run(k, {buffers, &length, nullptr}, 0, 1);
    run(k, {values.data(), &got}, {length}, 1);
    CHECK(std::memcmp(&got, &want, sizeof got) == 0);
  }
}

TEST_CASE("products by fragments give the reference's bits on every tier") {
  for (const test::ProductShape& s : test::host_product_shapes()) {
    const test::RandomKernel r = test::product_kernel(s);
    ir::verify(r.kernel);
    auto want = r.buffers;
    r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
    for (const CpuTier tier : kTiers) {
      if (tier > detected_tier()) continue;
      INFO("tier " << static_cast<int>(tier) << ir::to_string(r.kernel));
      const auto program = interp::prepare(r.kernel, tier);
      auto got = r.buffers;
      r.call(got, [&](const ir::CallArgs& args) {
        const std::size_t bytes = (interp::scratch_bytes(*program, args) + 63) / 64 * 64;
        void* scratch = std::aligned_alloc(64, bytes);
        std::memset(scratch, 0xff, bytes);  // NaN: what is not written may not count
        interp::run(*program, args, 0, r.grid, scratch);
        std::free(scratch);
      });
      CHECK(got == want);
    }
  }
}

TEST_CASE("folds of several values give the reference's bits on every tier") {
  for (const test::FoldShape& s : test::fold_shapes()) {
    const test::RandomKernel r = test::fold_kernel(s);
    ir::verify(r.kernel);
    auto want = r.buffers;
    r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
    for (const CpuTier tier : kTiers) {
      if (tier > detected_tier()) continue;
      INFO("tier " << static_cast<int>(tier) << ir::to_string(r.kernel));
      const auto program = interp::prepare(r.kernel, tier);
      auto got = r.buffers;
      r.call(got, [&](const ir::CallArgs& args) {
        const std::size_t bytes = (interp::scratch_bytes(*program, args) + 63) / 64 * 64;
        void* scratch = std::aligned_alloc(64, bytes);
        interp::run(*program, args, 0, r.grid, scratch);
        std::free(scratch);
      });
      CHECK(got == want);
    }
  }
}

TEST_CASE("a fold's row says what it computes, in one loop and in blocks") {
  constexpr std::int64_t rows = 5, columns = 300;
  for (const std::int64_t block : {0, 64}) {
    const auto folded = [&](const ir::FoldRow& row, int states) {
      return test::fold_kernel({&row, states, rows, columns, block, false, DType::Float64});
    };
    for (const bool moments : {true, false}) {
      const test::RandomKernel r = moments ? folded(test::kMoments, 3) : folded(test::kSoftmax, 2);
      auto memory = r.buffers;
      r.call(memory, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, rows); });
      const auto at = [&](std::size_t buffer) {
        return reinterpret_cast<const double*>(memory[buffer].data());
      };
      for (std::int64_t i = 0; i < rows; ++i) {
        const double* x = at(0) + i * columns;
        double sum = 0, most = x[0], squares = 0, weights = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          sum += x[j];
          most = std::max(most, x[j]);
        }
        for (std::int64_t j = 0; j < columns; ++j) {
          squares += (x[j] - sum / columns) * (x[j] - sum / columns);
          weights += std::exp(x[j] - most);
        }
        CHECK(at(1)[i] == (moments ? columns : most));
        CHECK(at(2)[i] == Approx(moments ? sum / columns : weights).epsilon(1e-12));
        if (moments) CHECK(at(3)[i] == Approx(squares).epsilon(1e-12));
      }
    }
  }
}
