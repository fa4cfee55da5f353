// Kernels whose threads share memory, by the reference, which follows their stages and layouts, and
// by the interpreter, on one thread.
#include <catch2/catch.hpp>

#include "codegen/interp/interp.hpp"
#include "ir/builder.hpp"
#include "reference.hpp"

using namespace plait;

namespace {

constexpr std::int64_t kRows = 5, kColumns = 16;

// out[t] is row t of x the other way round, doubled: rows come through shared memory of three
// stages, two rows ahead. Blocks of four elements lie as the layout says.
ir::Kernel reversed(const ir::Layout& layout) {
  using namespace ir;
  Builder b("reversed");
  const std::int32_t x = b.buffer(DType::Float32, false), out = b.buffer(DType::Float32, true);
  const std::int32_t row = b.local({.dtype = DType::Float32,
                                    .count = {2 * kColumns},
                                    .home = 0,
                                    .space = Space::Shared,
                                    .layout = layout,
                                    .stages = 3});
  const Val two = b.constant_index(2), half = b.constant_index(kColumns),
            all = b.constant_index(2 * kColumns);
  constexpr std::int64_t bytes = 2 * kColumns * 4;
  const auto copy = [&](Val number) {
    b.copy({.buffer = x, .from_row = {bytes / 2}, .local = row, .to_row = {kColumns}},
           {{}, {{number, {bytes}}}}, {}, two, half, number);
  };
  copy(b.constant_index(0));
  copy(b.constant_index(1));
  const std::int32_t t = b.open_for(kNone, b.constant_index(kRows));
  b.barrier(b.var(t));
  copy(b.apply(OpId::Add, DType::Int64, {b.var(t), two}));
  const std::int32_t i = b.open_for(kNone, all);
  b.loop(i).scope = Scope::Block;
  const Val v = b.load_local(row, {{2 * kColumns - 1}, {{b.var(i), {-1}}}}, b.var(t));
  b.store(out, {{}, {{b.var(t), {bytes}}, {b.var(i), {4}}}},
          b.apply(OpId::Add, DType::Float32, {v, v}));
  b.close();
  b.close();
  return b.finish();
}

}  // namespace

TEST_CASE("stages and layouts do not show") {
  for (const ir::Layout& layout :
       {ir::Layout{}, ir::Layout{.columns = kColumns}, ir::Layout{.columns = kColumns, .beside = 3},
        ir::Layout{.columns = kColumns, .panel = 2}, ir::Layout{.columns = kColumns, .swizzle = 2},
        ir::Layout{.columns = kColumns, .beside = 4, .swizzle = 4}}) {
    const ir::Kernel k = reversed(layout);
    verify(k);
    // Copies go two rows beyond those that are read.
    std::vector<float> x(static_cast<std::size_t>((kRows + 2) * 2 * kColumns));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const std::size_t size = static_cast<std::size_t>(kRows * 2 * kColumns);
    std::vector<float> slow(size), fast(size), wanted(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t n = 2 * kColumns;
      wanted[i] = 2 * x[i / n * n + n - 1 - i % n];
    }
    void* buffers[] = {x.data(), slow.data()};
    const ir::CallArgs args{buffers, nullptr, nullptr};
    reference::run(k, args, 0, 1);
    CHECK(slow == wanted);
    buffers[1] = fast.data();
    const auto program = interp::prepare(k, detected_tier());
    std::vector<std::byte> scratch(interp::scratch_bytes(*program, args) + 64);
    void* at = scratch.data();
    std::size_t room = scratch.size();
    interp::run(*program, args, 0, 1, std::align(64, room - 64, at, room));
    CHECK(fast == wanted);
  }
}
