// A product of two matrices by fragments: blocks of rows are the grid, operands are packed in
// scratch, blocks of the sum follow each other, and the result is
// doubled on its way out.
#pragma once
#include "random_kernel.hpp"

namespace plait::test {

struct ProductShape {
  std::int64_t m, n, k, rows, depth;  // of a block: rows of the grid's, depth of the sum's
  int a_width, b_width;
  DType dtype;
  DType second = dtype;  // of the other operand
};

inline RandomKernel product_kernel(const ProductShape& s, std::uint32_t seed = 1) {
  using namespace ir;
  const DType t = s.dtype;
  const DType sums = kFragmentTypes[fragment_row(t, s.second)].sums,
              result = t == s.second ? t : sums;
  const auto size = [](DType of) { return static_cast<std::int64_t>(itemsize(of)); };
  const std::int64_t item = size(t), other = size(s.second), wide = size(result);
  const auto padded = [](std::int64_t n, int width) { return (n + width - 1) / width * width; };
  Builder b("product");
  const std::int32_t a_memory = b.buffer(t, false), b_memory = b.buffer(s.second, false),
                     out = b.buffer(result, true);
  const Val m = b.param(0), n = b.param(1), k = b.param(2);
  const auto op = [&](OpId fn, Val x, Val y) { return b.apply(fn, DType::Int64, {x, y}); };
  const auto number = [&](std::int64_t v) { return b.constant_index(v); };
  const std::int32_t a = b.local(t, {padded(s.rows, s.a_width) * s.depth}),
                     c = b.local(sums, {s.rows * s.n}),
                     packed = b.local(s.second, {padded(s.n, s.b_width) * s.depth});
  const Val first = op(OpId::Multiply, b.grid_var(), number(s.rows));
  const Val last = op(OpId::Minimum, op(OpId::Add, first, number(s.rows)), m);
  const Val count = op(OpId::Subtract, last, first);
  const std::int32_t blocks = b.open_for(kNone, number((s.k + s.depth - 1) / s.depth));
  const Val from = op(OpId::Multiply, b.var(blocks), number(s.depth));
  const Val to = op(OpId::Minimum, op(OpId::Add, from, number(s.depth)), k);
  // Element (i, p) of an operand lies in its local at i / width * stride + (p - from) * width + i %
  // width.
  const auto pack = [&](std::int32_t local, std::int32_t memory, int width, Val begin, Val extent,
                        Coeff along, Coeff sum) {
    const Val panels =
        op(OpId::FloorDivide, op(OpId::Add, extent, number(width - 1)), number(width));
    const std::int32_t panel = b.open_for(kNone, panels);
    const Val base = op(OpId::Multiply, b.var(panel), number(width));
    const std::int32_t i =
        b.open_for(base, op(OpId::Minimum, op(OpId::Add, base, number(width)), extent));
    const std::int32_t p = b.open_for(from, to);
    const Access at{{},
                    {{b.var(panel), {width * s.depth}},
                     {b.var(p), {width}},
                     {from, {-width}},
                     {b.var(i), {1}},
                     {base, {-1}}}};
    const Access element{{}, {{begin, along}, {b.var(i), along}, {b.var(p), sum}}};
    b.store_local(local, at, b.load(memory, element));
    b.close();
    b.close();
    b.close();
  };
  pack(a, a_memory, s.a_width, first, count, {s.k * item}, {item});
  pack(packed, b_memory, s.b_width, number(0), n, {other}, {s.n * other});
  Fragment fragment;
  fragment.a = {a, -1, s.a_width, {s.a_width * s.depth}, {s.a_width}};
  fragment.b = {packed, -1, s.b_width, {s.b_width * s.depth}, {s.b_width}};
  fragment.local = c;
  fragment.row = {0, 1};
  fragment.block = b.var(blocks);
  b.fragment(fragment, {}, {}, {}, count, n, op(OpId::Subtract, to, from));
  b.close();
  const std::int32_t i = b.open_for(first, last);
  const std::int32_t j = b.open_for(kNone, n);
  b.loop(j).scope = Scope::Lanes;
  Val v = b.load_local(c, {{}, {{b.var(i), {s.n}}, {first, {-s.n}}, {b.var(j), {1}}}});
  if (sums != result) v = b.cast(v, result);
  b.store(out, {{}, {{b.var(i), {s.n * wide}}, {b.var(j), {wide}}}},
          b.apply(OpId::Add, result, {v, v}));
  b.close();
  b.close();

  RandomKernel r;
  r.kernel = b.finish();
  r.params = {s.m, s.n, s.k};
  r.grid = (s.m + s.rows - 1) / s.rows;
  std::mt19937 rng(seed);
  for (const auto& [elements, of] :
       {std::pair{s.m * s.k, t}, {s.k * s.n, s.second}, {s.m * s.n, result}}) {
    std::vector<unsigned char> memory(static_cast<std::size_t>(elements * size(of)));
    for (std::int64_t e = 0; e < elements; ++e) {
      const double v = std::uniform_real_distribution<>(-1, 1)(rng);
      const Scalar x = cast(is_integer(of) ? scalar_int(rng()) : scalar_float(v), of);
      std::memcpy(&memory[static_cast<std::size_t>(e * size(of))], x.bytes, itemsize(of));
    }
    r.buffers.push_back(std::move(memory));
  }
  return r;
}

// Edges of panels and blocks, fewer rows than a panel, one block and many, widths of every tier.
inline std::vector<ProductShape> product_shapes() {
  std::vector<ProductShape> all;
  for (const DType t : {DType::Float16, DType::Float32, DType::Float64}) {
    all.push_back({5, 3, 7, 4, 3, 2, 2, t});
    all.push_back({1, 1, 1, 8, 16, 6, 16, t});
    all.push_back({37, 50, 29, 16, 29, 14, 32, t});
    all.push_back({28, 64, 40, 28, 16, 14, 32, t});
    all.push_back({13, 33, 64, 12, 20, 6, 16, t});
    all.push_back({9, 17, 12, 9, 5, 8, 24, t});
    all.push_back({29, 70, 33, 29, 33, 1, 32, t});
    all.push_back({29, 70, 33, 29, 16, 1, 16, t});
    all.push_back({17, 40, 21, 17, 8, 1, 64, t});
  }
  return all;
}

// And of operands that fragments of the host alone take.
inline std::vector<ProductShape> host_product_shapes() {
  std::vector<ProductShape> all = product_shapes();
  for (const auto& [a, b] : {std::pair{DType::Float16, DType::Float32},
                             {DType::Float32, DType::Float16},
                             {DType::Int8, DType::UInt8},
                             {DType::Int64, DType::Int64}}) {
    all.push_back({5, 3, 7, 4, 3, 2, 2, a, b});
    all.push_back({37, 50, 29, 16, 29, 1, 64, a, b});
    all.push_back({9, 17, 12, 9, 5, 8, 24, a, b});
    all.push_back({29, 70, 131, 29, 66, 1, 128, a, b});
  }
  return all;
}

}  // namespace plait::test
