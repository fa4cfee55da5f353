// Products of one row or column have the bits of those that tiles compute.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "core/config.hpp"
#include "engine/engine.hpp"
#include "engine/products/product.hpp"
#include "engine/threads/team.hpp"

using namespace plait;
using engine::MatrixProduct;

namespace {

constexpr DType kTypes[] = {DType::Int8,   DType::UInt8, DType::Int16,  DType::UInt16, DType::Int32,
                            DType::UInt32, DType::Int64, DType::UInt64, DType::Float16};

struct RunSettings {
  CpuTier tier = config().tier;
  int threads = engine::num_threads();
  ~RunSettings() {
    config().tier = tier;
    engine::set_num_threads(threads);
    engine::set_sharing(engine::Sharing::WhenItPays);
  }
};

std::vector<std::byte> product(const MatrixProduct& as_given, bool vector) {
  std::vector<std::byte> c(static_cast<std::size_t>(as_given.entries() * as_given.m * as_given.n) *
                           itemsize(as_given.dtype));
  MatrixProduct p = as_given;
  p.c = c.data();
  REQUIRE((vector ? engine::vector_product(p) : engine::tiled_product(p)));
  return c;
}

}  // namespace

TEST_CASE("products of one row or column have the bits of tiles") {
  const RunSettings restored;
  std::mt19937_64 random(1);
  std::vector<std::uint16_t> a(600'000), b(600'000);
  // Halves from 1/8 to 2, of both signs; integers of any bits that are made of them.
  for (auto* memory : {&a, &b})
    for (std::uint16_t& x : *memory)
      x = static_cast<std::uint16_t>((0x3000 + random() % 0x1000) | (random() & 1) << 15);
  // entries, lines, k
  const std::int64_t shapes[][3] = {{1, 1, 1},    {1, 1, 255}, {1, 1, 5000}, {1, 3, 2000},
                                    {1, 70, 300}, {2, 37, 17}, {30, 1, 9},   {1, 600, 40}};
  for (const DType t : kTypes)
    for (const auto& [entries, lines, k] : shapes)
      for (const int lies : {0, 1, 2})  // along the sums, along the lines, apart
        for (const bool row : {false, true}) {
          const auto item = static_cast<std::int64_t>(itemsize(t));
          const std::int64_t step = lies == 1 ? lines * item : lies == 2 ? -3 * item : item;
          const std::int64_t line = lies == 1 ? item : lies == 2 ? -3 * k * item : k * item;
          const auto* matrix = reinterpret_cast<const std::byte*>(a.data());
          const auto* x = reinterpret_cast<const std::byte*>(b.data());
          if (lies == 2) {
            matrix += 3 * item * lines * k;
            x += 3 * item * k;
          }
          const std::int64_t x_step = lies == 2 ? -3 * item : item;
          MatrixProduct p{.dtype = t,
                          .m = lines,
                          .n = 1,
                          .k = k,
                          .a = matrix,
                          .a_row = line,
                          .a_column = step,
                          .b = x,
                          .b_row = x_step,
                          .b_column = item,
                          .c = nullptr,
                          .batch = Dims{entries},
                          .a_steps = Dims{2 * item},
                          .b_steps = Dims{0}};
          if (row) {
            std::swap(p.m, p.n);
            std::swap(p.a, p.b);
            std::swap(p.a_steps, p.b_steps);
            p.a_row = item;
            p.a_column = x_step;
            p.b_row = step;
            p.b_column = line;
          }
          config().tier = detected_tier();
          const std::vector<std::byte> want = product(p, false);
          for (const CpuTier tier : {CpuTier::Baseline, CpuTier::Avx2, CpuTier::Avx512})
            for (const int threads : {1, 3}) {
              if (tier > detected_tier()) continue;
              config().tier = tier;
              engine::set_num_threads(threads);
              engine::set_sharing(threads == 1 ? engine::Sharing::WhenItPays
                                               : engine::Sharing::Always);
              INFO(static_cast<int>(t)
                   << ": " << entries << " of " << lines << ' ' << k << ", lies " << lies
                   << ", row " << row << ", tier " << static_cast<int>(tier));
              CHECK(want == product(p, true));
            }
        }
}

TEST_CASE("what is no product of a vector, or has another way, is left") {
  double v[4] = {1, 2, 3, 4}, out[4];
  MatrixProduct p{.dtype = DType::Float64,
                  .m = 1,
                  .n = 1,
                  .k = 4,
                  .a = reinterpret_cast<const std::byte*>(v),
                  .a_row = 0,
                  .a_column = 8,
                  .b = reinterpret_cast<const std::byte*>(v),
                  .b_row = 8,
                  .b_column = 0,
                  .c = reinterpret_cast<std::byte*>(out)};
  CHECK(!engine::vector_product(p));
  p.dtype = p.a_dtype = p.b_dtype = DType::Int64;
  CHECK(engine::vector_product(p));
  p.m = p.n = 2;
  CHECK(!engine::vector_product(p));
}
