// Matrix products where no library computes them: one program a dtype (prelude/product.cuh).
#include <algorithm>
#include <cstring>

#include "emit.hpp"
#include "prelude.hpp"

namespace plait::cuda {

namespace {

constexpr int kThreads = 16;  // along each side of a block's square
constexpr int kDeep = 16;     // elements of a strip along k

// What the program calls Arguments.
struct Arguments {
  const void *a, *b, *bias;
  void* c;
  std::int64_t m, n, k, batches, a_row, a_column, b_row, b_column;
  std::int64_t rank, shape[kMaxDims], a_batch[kMaxDims], b_batch[kMaxDims];
};

// What NumPy's own loop sums in. Integers wrap, so that those of the same size without a sign will
// do.
DType sum_type(DType t) {
  if (t == DType::Float16) return DType::Float32;
  if (kind(t) != Kind::Signed && kind(t) != Kind::Unsigned) return t;
  return itemsize(t) == 8 ? DType::UInt64 : DType::UInt32;
}
// Elements of a thread along each side: what fits its registers.
int each(DType t) { return itemsize(t) == 16 ? 2 : 4; }

}  // namespace

std::shared_ptr<const Program> generate_product(DType t, const Target& target) {
  auto p = std::make_shared<Program>();
  p->entry = "plait_product";
  p->target = target;
  p->mapping.wide = true;
  std::string& s = p->source;
  s = program_head(p->mapping);
  (s += prelude("shared")) += prelude("product");
  // Two blocks a multiprocessor: 128 registers a thread.
  s += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kThreads * kThreads) +
       ", 2) " + p->entry + "(const Arguments a) {\n  Multiply<" + std::string(type_name(t)) +
       ", " + std::string(type_name(sum_type(t))) + ", " + std::to_string(each(t)) + ", " +
       std::to_string(kThreads) + ", " + std::to_string(kDeep) + ">::run(a);\n}\n";
  return p;
}

Launch product_shape(const Program& p, const Product& x) {
  const std::int64_t side = each(x.dtype) * kThreads;
  const std::int64_t squares =
      element_count(x.batch) * ((x.m + side - 1) / side) * ((x.n + side - 1) / side);
  Launch l;
  l.block[0] = kThreads * kThreads;
  l.grid[0] = static_cast<unsigned>(
      std::clamp<std::int64_t>(squares, 1, std::int64_t{8} * p.target.multiprocessors));
  l.shared_bytes = static_cast<std::size_t>(2 * kDeep * (side + 1)) * itemsize(sum_type(x.dtype));
  return l;
}

void pack_product(const Product& x, std::vector<std::byte>& out) {
  Arguments p{x.a.at,
              x.b.at,
              x.bias,
              x.c,
              x.m,
              x.n,
              x.k,
              element_count(x.batch),
              x.a.row,
              x.a.column,
              x.b.row,
              x.b.column,
              x.batch.size(),
              {},
              {},
              {}};
  std::copy(x.batch.begin(), x.batch.end(), p.shape);
  std::copy(x.a.batch.begin(), x.a.batch.end(), p.a_batch);
  std::copy(x.b.batch.begin(), x.b.batch.end(), p.b_batch);
  out.resize(sizeof p);
  std::memcpy(out.data(), &p, sizeof p);
}

}  // namespace plait::cuda
