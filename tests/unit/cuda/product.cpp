// The tiled matrix product: what NVRTC makes of it, and how k is cut. More of what it computes is
// tested on a device's double, in tests/cuda/own_products.cpp.
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "emulated.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// A product of packed operands.
cuda::Product packed(DType t, std::int64_t m, std::int64_t n, std::int64_t k,
                     std::int64_t batches = 1) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  return {t,
          m,
          n,
          k,
          {batches},
          {nullptr, k * item, item, {m * k * item}},
          {nullptr, n * item, item, {k * n * item}},
          nullptr,
          nullptr,
          nullptr};
}
std::size_t scratch_of(const cuda::Product& x, int multiprocessors) {
  return cuda::product_shape(*cuda::generate_product(x.dtype, {.multiprocessors = multiprocessors}),
                             x)
      .scratch_bytes;
}

}  // namespace

TEST_CASE("a tiled product of every dtype leaves room for two blocks on a multiprocessor") {
  if (std::string why; !cuda::nvrtc_available(&why)) {
    std::cout << "skipped, NVRTC is missing: " << why << "\n";
    return;
  }
  for (int arch : {80, 90, 100})
    for (int code = 0; code < kNumPyDTypes; ++code) {
      const auto t = static_cast<DType>(code);
      if (arch != 90 && !is_float(t) && !is_complex(t)) continue;
      INFO(name(t) << ", sm_" << arch);
      const auto p = cuda::generate_product(t, {.arch = arch});
      const auto b = cuda::compile(*p, arch);
      const cuda::Launch l = cuda::product_shape(*p, packed(t, 1000, 1000, 1000));
      CHECK(b->registers * static_cast<int>(l.block[0]) * 2 <= 65536);
      CHECK(b->spill_bytes == 0);
      // No launch has to ask for more than any device gives.
      CHECK(l.shared_bytes + static_cast<std::size_t>(b->shared_bytes) <= 48 * 1024);
      const auto sum = cuda::compile(*cuda::generate_chunk_sum(t, {.arch = arch}), arch);
      CHECK(sum->registers * static_cast<int>(l.block[0]) * 2 <= 65536);
      CHECK(sum->spill_bytes == 0);
    }
}

TEST_CASE("k is cut where the results fill no device, for floats on every device alike") {
  for (int code = 0; code < kNumPyDTypes; ++code) {
    const auto t = static_cast<DType>(code);
    INFO(name(t));
    const bool rounds = is_float(t) || is_complex(t);
    for (const auto& x : {packed(t, 1, 1, 1 << 20), packed(t, 64, 64, 5000),
                          packed(t, 10, 70, 1024, 30), packed(t, 300, 300, 100'000)}) {
      const std::size_t one = scratch_of(x, 20), other = scratch_of(x, 148);
      CHECK((other > 0) == (t != DType::Float16));
      if (rounds)
        CHECK(one == other);
      else
        CHECK(one <= other);
      CHECK(other <= std::size_t{10} << 20);
    }
    CHECK(scratch_of(packed(t, 64, 64, 511), 132) == 0);
    CHECK(scratch_of(packed(t, 1, 1, 1), 132) == 0);
    CHECK(scratch_of(packed(t, 1000, 1000, 100'000), 132) == 0);
    CHECK(scratch_of(packed(t, 1, 1, 100'000, 1000), 132) == 0);
  }
}

TEST_CASE("sums of chunks: the same bits on every device and in every order of blocks") {
  const DType t = DType::Float32;
  Programs programs;
  for (int multiprocessors : {1, 20, 148}) {
    programs.push_back(cuda::generate_product(t, {.multiprocessors = multiprocessors}));
    programs.push_back(cuda::generate_chunk_sum(t, {.multiprocessors = multiprocessors}));
  }
  const std::unique_ptr<Library> library = library_of(programs, compiler());
  for (const auto [m, n, k, batches] :
       {std::array<std::int64_t, 4>{1, 1, 20'001, 1}, {1, 3, 515, 2}, {5, 66, 1000, 3}}) {
    INFO(m << " " << n << " " << k << " " << batches);
    std::vector<float> a(batches * m * k), b(batches * k * n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i) * 0.7f);
    std::vector<float> first;
    const auto run = [&](std::size_t p, emulated::Order order) {
      std::vector<float> c(batches * m * n, 99);
      cuda::Product x = packed(t, m, n, k, batches);
      x.a.at = a.data();
      x.b.at = b.data();
      x.c = c.data();
      const cuda::Launch shape = cuda::product_shape(*programs[p], x);
      std::vector<unsigned char> scratch(shape.scratch_bytes, 0xff);
      std::vector<std::byte> arguments;
      cuda::pack_product(*programs[p], x, scratch.data(), arguments);
      const std::vector<emulated::Range> memory{{a.data(), a.size() * sizeof(float)},
                                                {b.data(), b.size() * sizeof(float)},
                                                {c.data(), c.size() * sizeof(float)},
                                                {scratch.data(), scratch.size()}};
      library->launch(p, shape, arguments, memory, order);
      library->launch(p + 1, cuda::chunk_sum_shape(*programs[p + 1], x), arguments, memory, order);
      if (first.empty()) first = c;
      CHECK(c == first);
    };
    for (emulated::Order order : kOrders) run(0, order);
    for (std::size_t p = 2; p < programs.size(); p += 2) run(p, kOrders[p / 2 % 3]);
    double worst = 0;
    for (std::int64_t i = 0; i < batches * m * n; ++i) {
      double sum = 0;
      for (std::int64_t d = 0; d < k; ++d)
        sum += double{a[(i / n) * k + d]} * b[((i / n / m) * k + d) * n + i % n];
      worst = std::max(worst, std::abs(sum - first[i]));
    }
    CHECK(worst < 1e-3);
  }
}
