// Streaming stores: rows that begin anywhere in a line of the cache, several outputs whose lines
// meet or do not, elements that are not aligned at all. An unaligned streaming store would fault.
#include <catch2/catch.hpp>

#include "run_kernel.hpp"

using namespace plait;

namespace {

struct Output {
  DType dtype;
  std::int64_t first;  // bytes from a line's begin to the first row
};

// out[row, column] = 1000 * row + column, in every output, rows `gap` elements apart.
void check(const std::vector<Output>& outputs, std::int64_t columns, std::int64_t gap) {
  constexpr std::int64_t kRows = 6;
  ir::Builder b("streams");
  const ir::Val thousand = b.constant_index(1000);
  const std::int32_t extent = b.new_param();
  std::vector<std::int64_t> params{columns};
  const ir::Val end = b.param(extent);
  std::vector<std::int32_t> buffers, steps;
  for (const Output& o : outputs) {
    buffers.push_back(b.buffer(o.dtype, true));
    steps.push_back(b.new_param());
    params.push_back((columns + gap) * static_cast<std::int64_t>(itemsize(o.dtype)));
  }
  const std::int32_t loop = b.open_for(ir::kNone, end);
  b.loop(loop).scope = ir::Scope::Lanes;
  b.loop(loop).unroll = 2;
  const ir::Val value =
      b.apply(OpId::Add, DType::Int64,
              {b.var(loop), b.apply(OpId::Multiply, DType::Int64, {b.grid_var(), thousand})});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const DType t = outputs[i].dtype;
    b.store(
        buffers[i],
        {{},
         {{b.grid_var(), {0, steps[i]}}, {b.var(loop), {static_cast<std::int64_t>(itemsize(t))}}}},
        b.cast(value, t), true);
  }
  b.close();
  const ir::Kernel k = b.finish();

  // Lines of the cache that nothing else shares, filled to show what is written.
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  auto memory = [&] {
    std::vector<std::vector<Line>> m;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Line fill;
      std::memset(fill.bytes, 0x5a, sizeof fill.bytes);
      m.emplace_back(static_cast<std::size_t>(params[i + 1] * kRows + outputs[i].first) / 64 + 2,
                     fill);
    }
    return m;
  };
  auto call = [&](std::vector<std::vector<Line>>& m, auto&& run) {
    std::vector<void*> data;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      data.push_back(m[i][0].bytes + outputs[i].first);
    run(ir::CallArgs{data.data(), params.data(), nullptr});
  };
  auto want = memory();
  call(want, [&](const ir::CallArgs& args) { reference::run(k, args, 0, kRows); });
  for (CpuTier tier : test::tiers()) {
    INFO("tier " << static_cast<int>(tier) << ", " << columns << " columns\n" << ir::to_string(k));
    auto code = jit::compile(k, tier);
    auto got = memory();
    call(got, [&](const ir::CallArgs& args) { test::run_code(*code, k, args, 0, kRows); });
    for (std::size_t i = 0; i < outputs.size(); ++i)
      REQUIRE(std::memcmp(got[i].data(), want[i].data(), got[i].size() * sizeof(Line)) == 0);
  }
}

}  // namespace

TEST_CASE("streaming stores begin where a line of the cache does") {
  if (!jit::available()) return;
  for (DType t : {DType::Float64, DType::Float32, DType::Int16, DType::UInt8}) {
    const auto item = static_cast<std::int64_t>(itemsize(t));
    for (std::int64_t gap : {0, 1, 3})
      for (std::int64_t columns : {5, 127, 128, 300}) check({{t, gap * item}}, columns, gap);
    if (item > 1) check({{t, 1}}, 300, 0);
  }
}

TEST_CASE("streaming stores of several outputs wait until all of them begin a line") {
  if (!jit::available()) return;
  check({{DType::Float64, 8}, {DType::Float64, 8}}, 300, 1);
  check({{DType::Float64, 8}, {DType::Float64, 24}}, 300, 1);
  check({{DType::Float64, 32}, {DType::Float32, 48}}, 304, 0);
  check({{DType::Float32, 4}, {DType::Float64, 8}}, 300, 1);
}
