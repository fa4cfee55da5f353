// Matrix products where no library computes them: one program a dtype, and one that adds the chunks
// of those whose k is cut (prelude/product.cuh).
#include <algorithm>

#include "argument_layout.hpp"
#include "emit.hpp"
#include "prelude.hpp"

namespace plait::cuda {

namespace {

constexpr int kThreads = 16;  // along each side of a block's square
constexpr int kDeep = 16;     // elements of a strip along k
// Where k is cut, so many blocks are wanted a multiprocessor, and so many elements of k a chunk.
constexpr int kBlocks = 2;
constexpr std::int64_t kLeastChunk = 256;
constexpr int kMultiprocessors = 132;  // what sums that round are cut for, whatever the device

// What NumPy's own loop sums in. Integers wrap, so that those of the same size without a sign will
// do.
DType sum_type(DType t) {
  if (t == DType::Float16) return DType::Float32;
  if (kind(t) != Kind::Signed && kind(t) != Kind::Unsigned) return t;
  return itemsize(t) == 8 ? DType::UInt64 : DType::UInt32;
}
// Elements of a thread along each side: what fits its registers.
int each(DType t) { return itemsize(t) == 16 ? 2 : 4; }

std::int64_t squares(const Product& x) {
  const std::int64_t side = each(x.dtype) * kThreads;
  return element_count(x.batch) * ((x.m + side - 1) / side) * ((x.n + side - 1) / side);
}

struct Chunks {
  std::int64_t count, length;
};
// Sums that round are cut by the extents alone, so that every device gives the same bits, and those
// of float16 not at all: theirs are NumPy's.
Chunks chunks_of(const Product& x, const Target& target) {
  const bool rounds = is_float(x.dtype) || is_complex(x.dtype);
  const int places = kBlocks * (rounds ? kMultiprocessors : target.multiprocessors);
  const std::int64_t wanted =
      std::min(places / std::max<std::int64_t>(1, squares(x)), x.k / kLeastChunk);
  if (x.dtype == DType::Float16 || wanted < 2) return {1, x.k};
  const std::int64_t length = ((x.k + wanted - 1) / wanted + kDeep - 1) / kDeep * kDeep;
  return {(x.k + length - 1) / length, length};
}

struct ProductValues {
  const Product& x;
  void* parts;
  Chunks chunks;
};
const ArgumentLayout<ProductValues>& product_arguments() {
  using V = const ProductValues&;
  static const auto layout = [] {
    ArgumentLayout<ProductValues> l;
    l.pointer("a", [](V v) { return v.x.a.at; });
    l.pointer("b", [](V v) { return v.x.b.at; });
    l.pointer("c", [](V v) { return v.x.c; }, true);  // row-major, batches one after another
    l.pointer("added", [](V v) { return v.x.bias ? v.x.bias : v.x.residual; });
    // Elements from a row of it to the next: 0, the same for all, or n.
    l.number("added_row", [](V v) { return v.x.residual ? v.x.n : 0; });
    // Chunks of k of this length, the last one shorter, and their sums, each as c is, of type Sum.
    l.number("chunks", [](V v) { return v.chunks.count; });
    l.number("chunk", [](V v) { return v.chunks.length; });
    l.pointer("parts", [](V v) { return v.parts; }, true);
    l.number("m", [](V v) { return v.x.m; });
    l.number("n", [](V v) { return v.x.n; });
    l.number("k", [](V v) { return v.x.k; });
    // Strides in bytes.
    l.number("a_row", [](V v) { return v.x.a.row; });
    l.number("a_column", [](V v) { return v.x.a.column; });
    l.number("b_row", [](V v) { return v.x.b.row; });
    l.number("b_column", [](V v) { return v.x.b.column; });
    l.number("batches", [](V v) { return element_count(v.x.batch); });
    l.number("rank", [](V v) { return v.x.batch.size(); });
    l.numbers("shape", kMaxDims, [](V v) -> const Dims& { return v.x.batch; });
    l.numbers("a_batch", kMaxDims, [](V v) -> const Dims& { return v.x.a.batch; });
    l.numbers("b_batch", kMaxDims, [](V v) -> const Dims& { return v.x.b.batch; });
    return l;
  }();
  return layout;
}

unsigned blocks(const Program& p, std::int64_t wanted) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(wanted, 1, std::int64_t{8} * p.target.multiprocessors));
}

std::shared_ptr<const Program> generate(DType t, const Target& target, const char* entry,
                                        const char* function) {
  auto p = std::make_shared<Program>();
  p->entry = entry;
  p->target = target;
  p->mapping.wide = true;
  std::string& s = p->source;
  s = program_head(p->mapping);
  ((s += prelude("shared")) += product_arguments().text()) += prelude("product");
  // Two blocks a multiprocessor: 128 registers a thread.
  s += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kThreads * kThreads) +
       ", 2) " + entry + "(const Arguments a) {\n  Multiply<" + std::string(type_name(t)) + ", " +
       std::string(type_name(sum_type(t))) + ", " + std::to_string(each(t)) + ", " +
       std::to_string(kThreads) + ", " + std::to_string(kDeep) + ">::" + function + "(a);\n}\n";
  return p;
}

}  // namespace

std::shared_ptr<const Program> generate_product(DType t, const Target& target) {
  return generate(t, target, "plait_product", "run");
}
std::shared_ptr<const Program> generate_chunk_sum(DType t, const Target& target) {
  return generate(t, target, "plait_chunk_sum", "add_chunks");
}

Launch product_shape(const Program& p, const Product& x) {
  const Chunks chunks = chunks_of(x, p.target);
  const std::size_t item = itemsize(sum_type(x.dtype));
  Launch l;
  l.block[0] = kThreads * kThreads;
  l.grid[0] = blocks(p, chunks.count * squares(x));
  l.shared_bytes = static_cast<std::size_t>(2 * kDeep * (each(x.dtype) * kThreads + 1)) * item;
  if (chunks.count > 1)
    l.scratch_bytes =
        static_cast<std::size_t>(chunks.count * element_count(x.batch) * x.m * x.n) * item;
  return l;
}

Launch chunk_sum_shape(const Program& p, const Product& x) {
  constexpr int threads = kThreads * kThreads;
  Launch l;
  l.block[0] = threads;
  l.grid[0] = blocks(p, (element_count(x.batch) * x.m * x.n + threads - 1) / threads);
  return l;
}

void pack_product(const Program& p, const Product& x, void* scratch, std::vector<std::byte>& out) {
  product_arguments().pack({x, scratch, chunks_of(x, p.target)}, out);
}

}  // namespace plait::cuda
