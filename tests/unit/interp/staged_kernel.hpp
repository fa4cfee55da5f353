// A kernel whose threads share memory, with stages and a layout.
#pragma once
#include <vector>

#include "ir/builder.hpp"

namespace plait::test {

inline constexpr std::int64_t kRows = 5, kColumns = 16;

// out[t] is row t of x the other way round, doubled: rows come through shared memory of three
// stages, two rows ahead. Blocks of four elements lie as the layout says.
inline ir::Kernel reversed(const ir::Layout& layout) {
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

// Of its rows copies go two beyond those that are read.
struct Reversed {
  std::vector<float> x, out, wanted;
  Reversed()
      : x(static_cast<std::size_t>((kRows + 2) * 2 * kColumns)),
        out(static_cast<std::size_t>(kRows * 2 * kColumns)),
        wanted(out.size()) {
    constexpr std::size_t n = 2 * kColumns;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    for (std::size_t i = 0; i < out.size(); ++i) wanted[i] = 2 * x[i / n * n + n - 1 - i % n];
  }
};

}  // namespace plait::test
