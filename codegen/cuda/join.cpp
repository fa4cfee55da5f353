// The join of a chunked region's partial results. NumPy's tree: a block an output, level by level.
// In order: a thread an output, with the block's other threads fetching for it. Arg-reductions: a
// block an output.
#include <algorithm>

#include "argument_layout.hpp"
#include "emit.hpp"

namespace plait::cuda {

namespace {

struct JoinValues {
  const Join& join;
  const JoinBuffers& buffers;
};
const ArgumentLayout<JoinValues>& join_arguments() {
  using V = const JoinValues&;
  static const auto layout = [] {
    ArgumentLayout<JoinValues> l;
    l.pointer("rows", [](V v) { return v.buffers.rows; });
    l.pointer("indices", [](V v) { return v.buffers.indices; });
    l.pointer("bounds", [](V v) { return v.buffers.bounds; });
    l.pointer("out", [](V v) { return v.buffers.out; }, true);
    l.number("extent", [](V v) { return v.join.extent; });
    l.number("chunks", [](V v) { return v.join.chunks; });
    l.number("outputs", [](V v) { return v.join.outputs; });
    l.number("longest", [](V v) { return v.join.longest; });
    l.number("rank", [](V v) { return v.join.shape.size(); });
    l.numbers("shape", kMaxDims, [](V v) -> const Dims& { return v.join.shape; });
    l.numbers("strides", kMaxDims, [](V v) -> const Dims& { return v.join.strides; });
    return l;
  }();
  return layout;
}

constexpr const char* kPlace = R"(// Where output `n` goes: bytes from the start of the result.
PLAIT_INLINE int64 place(const Arguments& a, int64 n) {
  int64 at = 0;
  for (int64 d = a.rank - 1; d >= 0; --d) {
    at += n % a.shape[d] * a.strides[d];
    n /= a.shape[d];
  }
  return at;
}
)";

constexpr const char* kTree = R"(
// A chunk's part of the result.
struct Part {
  T value;
};
PLAIT_INLINE Part operator+(Part x, Part y) { return {join(x.value, y.value)}; }

PLAIT_INLINE int64 chunk_at(const int64* bounds, int64 chunks, int64 element) {
  int64 first = 0;
  for (int64 last = chunks; first + 1 < last;) {
    const int64 middle = (first + last) / 2;
    (bounds[middle] <= element ? first : last) = middle;
  }
  return first;
}
// NumPy's tree over elements [begin, begin + n), whose leaves are chunks.
PLAIT_INLINE Part subtree(const Arguments& a, const T* rows, int64 begin, int64 n, int64 least) {
  const Team team;
  const Shared<Part> slots{reinterpret_cast<Part*>(shared_memory)};
  const Nodes<RealTree> nodes(n, a.longest);
  for (int64 node = team.rank(); node < int64(1) << nodes.depth; node += Team::size) {
    int64 at, length;
    if (!nodes.find(nodes.depth, node, at, length)) continue;
    const int64 chunk = chunk_at(reinterpret_cast<const int64*>(a.bounds), a.chunks, begin + at);
    slots[at / least] = {rows[chunk * a.outputs]};
  }
  return nodes.join(team, slots, least);
}
PLAIT_INLINE T joined(const Arguments& a, const T* rows) {
  constexpr int slots = Team::bytes / sizeof(T);
  const int64 least = a.longest > 16 ? a.longest / 2 - 8 : 1;
  if (a.extent / least < slots) return subtree(a, rows, 0, a.extent, least).value;
  Walk<RealTree, Part> walk(a.extent, least * slots);
  int64 begin = 0;
  Part part;
  do {
    const int64 length = walk.length();
    part = subtree(a, rows, begin, length, least);
    begin += length;
  } while (walk.next(part));
  return walk.sum().value;
}
)";

constexpr const char* kTreeKernel = R"(
  for (int64 n = blockIdx.x; n < a.outputs; n += gridDim.x) {
    const T total = joined(a, reinterpret_cast<const T*>(a.rows) + n);
    if (threadIdx.x == 0) store<T>(a.out, place(a, n), total);
  }
}
)";

// A thread an output joins in order; all threads of the block fetch the rows, those of the next
// chunks while it does.
constexpr const char* kOrderedKernel = R"(
  constexpr int width = 8, most = Team::bytes / sizeof(T), each = most / Team::size;
  const Shared<T> tile{reinterpret_cast<T*>(shared_memory)};
  const T* rows = reinterpret_cast<const T*>(a.rows);
  for (int64 first = int64(blockIdx.x) * width; first < a.outputs; first += gridDim.x * width) {
    const int columns = a.outputs - first < width ? int(a.outputs - first) : width;
    T total, next[each];
    const auto fetch = [&](int64 chunk) {
#pragma unroll
      for (int k = 0; k < each; ++k) {
        const int i = threadIdx.x + k * Team::size;
        if (i % width < columns && chunk + i / width < a.chunks)
          next[k] = rows[(chunk + i / width) * a.outputs + first + i % width];
      }
    };
    fetch(0);
    for (int64 chunk = 0; chunk < a.chunks; chunk += most / width) {
      const int count = a.chunks - chunk < most / width ? int(a.chunks - chunk) : most / width;
#pragma unroll
      for (int k = 0; k < each; ++k) tile[threadIdx.x + k * Team::size] = next[k];
      __syncthreads();
      fetch(chunk + most / width);
      if (threadIdx.x < columns) {
        int i = 0;
        if (chunk == 0) total = tile[width * i++ + threadIdx.x];
#pragma unroll 32
        for (; i < count; ++i) total = join(total, tile[width * i + threadIdx.x]);
      }
      __syncthreads();
    }
    if (threadIdx.x < columns) store<T>(a.out, place(a, first + threadIdx.x), total);
  }
}
)";

constexpr const char* kArgKernel = R"(
  const Team team;
  const T* rows = reinterpret_cast<const T*>(a.rows);
  for (int64 n = blockIdx.x; n < a.outputs; n += gridDim.x) {
    const int64 start = threadIdx.x < a.chunks ? threadIdx.x : 0;
    Best<V> best{wide(rows[start * a.outputs + n]), start};
    for (int64 chunk = start + Team::size; chunk < a.chunks; chunk += Team::size)
      best = better({wide(rows[chunk * a.outputs + n]), chunk}, best);
    best = team.join(best, [](Best<V> x, Best<V> y) { return better(x, y); });
    if (threadIdx.x == 0)
      store<int64>(a.out, place(a, n), load<int64>(a.indices, 8 * (best.index * a.outputs + n)));
  }
}
)";

constexpr int kThreads = 256, kExchange = 16384;

}  // namespace

std::shared_ptr<const Program> generate_join(ReduceKind kind, DType t, bool tree,
                                             const Target& target) {
  auto p = std::make_shared<Program>();
  p->entry = "plait_join";
  p->target = target;
  p->mapping.wide = true;
  p->mapping.team = kThreads;
  const std::string type(type_name(t));
  std::string& s = p->source;
  s = program_head(p->mapping) + join_arguments().text() + kPlace + "typedef " + type +
      " T;\ntypedef Block<" + std::to_string(kThreads) + ", " + std::to_string(kExchange) +
      "> Team;\n";
  const bool half = t == DType::Float16;
  const bool arg = is_arg(kind);
  if (arg) {
    s += "typedef " + std::string(half ? "float" : type) +
         " V;\nPLAIT_INLINE V wide(T x) { return " + (half ? "widen(x)" : "x") +
         "; }\nPLAIT_INLINE Best<V> better(Best<V> x, Best<V> y) { return np::better_of<" +
         (kind == ReduceKind::ArgMax ? "true" : "false") + ">(x, y); }\n";
  } else {
    const std::string call = joining(kind, t);
    s += "PLAIT_INLINE T join(T x, T y) { return " +
         (half ? "narrow(" + call + "(widen(x), widen(y)))" : call + "(x, y)") + "; }\n";
    if (tree) s += kTree;
  }
  s += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kThreads) + ") " +
       p->entry + "(const Arguments a) {" +
       (arg    ? kArgKernel
        : tree ? kTreeKernel
               : kOrderedKernel);
  return p;
}

Launch join_shape(const Program& p, const Join& j) {
  const bool arg = is_arg(j.kind);
  const std::int64_t blocks = arg || j.tree ? j.outputs : (j.outputs + 7) / 8;
  Launch l;
  l.shared_bytes = kExchange;
  l.block[0] = kThreads;
  l.grid[0] = static_cast<unsigned>(
      std::clamp<std::int64_t>(blocks, 1, std::int64_t{8} * p.target.multiprocessors));
  return l;
}

void pack_join(const Join& j, const JoinBuffers& b, std::vector<std::byte>& out) {
  join_arguments().pack({j, b}, out);
}

}  // namespace plait::cuda
