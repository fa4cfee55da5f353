// The join of a Blocked region's partial results: a thread an output.
#include <algorithm>
#include <cstring>

#include "emit.hpp"

namespace plait::cuda {

namespace {

// What the program calls Arguments.
struct Arguments {
  const void *rows, *indices, *bounds;
  void* out;
  std::int64_t extent, chunks, outputs, tree, rank;
  std::int64_t shape[kMaxDims], strides[kMaxDims];
};

constexpr const char* kArguments = R"(struct Arguments {
  const char *rows, *indices, *bounds;
  char* out;
  int64 extent, chunks, outputs, tree, rank, shape[64], strides[64];
};
// Where output `n` goes: bytes from the start of the result.
PLAIT_INLINE int64 place(const Arguments& a, int64 n) {
  int64 at = 0;
  for (int64 d = a.rank - 1; d >= 0; --d) {
    at += n % a.shape[d] * a.strides[d];
    n /= a.shape[d];
  }
  return at;
}
)";

constexpr const char* kValues = R"(
// NumPy's tree over `extent` elements, whose leaves are the chunks: `open` are the sums that wait
// for their right halves, of `right` elements (0 once inside).
PLAIT_INLINE T joined(const Arguments& a, const T* rows) {
  const int64* bounds = reinterpret_cast<const int64*>(a.bounds);
  T total = rows[0];
  if (!a.tree) {
    for (int64 c = 1; c < a.chunks; ++c) total = join(total, rows[c * a.outputs]);
    return total;
  }
  T open[56];
  int64 right[56], n = a.extent;
  int depth = 0;
  for (int64 c = 0; c < a.chunks; ++c) {
    while (n > bounds[c + 1] - bounds[c]) {
      const int64 left = RealTree::left(n);
      right[depth++] = n - left;
      n = left;
    }
    total = rows[c * a.outputs];
    while (depth > 0 && right[depth - 1] == 0) total = join(open[--depth], total);
    if (depth == 0) break;
    open[depth - 1] = total;
    n = right[depth - 1];
    right[depth - 1] = 0;
  }
  return total;
}
)";

}  // namespace

std::shared_ptr<const Program> generate_join(ReduceKind kind, DType t, const Target& target) {
  auto p = std::make_shared<Program>();
  p->entry = "plait_join";
  p->target = target;
  const std::string type(type_name(t));
  std::string& s = p->source;
  s = program_head(true) + kArguments + "typedef " + type + " T;\n";
  const bool half = t == DType::Float16;
  const bool arg = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  if (!arg) {
    const std::string call = "np::" + std::string(op_info(reduce_info(kind).combine).name);
    s += "PLAIT_INLINE T join(T x, T y) { return " +
         (half ? "narrow(" + call + "(widen(x), widen(y)))" : call + "(x, y)") + "; }" + kValues;
  }
  s += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(Program::threads) + ") " +
       p->entry +
       "(const Arguments a) {\n"
       "  for (int64 n = thread_index(); n < a.outputs; n += thread_count()) {\n"
       "    const T* rows = reinterpret_cast<const T*>(a.rows) + n;\n";
  if (arg) {
    const std::string value = half ? "widen(rows[c * a.outputs])" : "rows[c * a.outputs]";
    s += "    int64 c = 0, best = 0;\n    auto extreme = " + value +
         ";\n"
         "    for (c = 1; c < a.chunks; ++c)\n      if (np::better<" +
         (kind == ReduceKind::ArgMax ? "true" : "false") + ">(" + value +
         ", extreme)) {\n        extreme = " + value +
         ";\n        best = c;\n      }\n"
         "    store<int64>(a.out, place(a, n), load<int64>(a.indices, 8 * (best * a.outputs + "
         "n)));\n";
  } else {
    s += "    store<T>(a.out, place(a, n), joined(a, rows));\n";
  }
  s += "  }\n}\n";
  return p;
}

Launch join_shape(const Program& p, const Join& j) {
  Launch l;
  l.block[0] = 64;
  l.grid[0] = static_cast<unsigned>(std::clamp<std::int64_t>(
      (j.outputs + 63) / 64, 1, std::int64_t{8} * p.target.multiprocessors));
  return l;
}

void pack_join(const Join& j, const JoinBuffers& b, std::vector<std::byte>& out) {
  Arguments a{b.rows,    b.indices, b.bounds,
              b.out,     j.extent,  j.chunks,
              j.outputs, j.tree,    static_cast<std::int64_t>(j.shape.size()),
              {},        {}};
  std::copy(j.shape.begin(), j.shape.end(), a.shape);
  std::copy(j.strides.begin(), j.strides.end(), a.strides);
  out.resize(sizeof a);
  std::memcpy(out.data(), &a, sizeof a);
}

}  // namespace plait::cuda
