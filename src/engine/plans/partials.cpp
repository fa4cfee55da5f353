// Long reductions are cut into chunks that depend on the extent alone, never on the number of
// threads, and joined in a fixed order: the same bits for any team.
#include <cstring>

#include "codegen/loops/loops.hpp"
#include "core/op_table.hpp"
#include "core/summation_tree.hpp"
#include "fusion/passes/loop_facts.hpp"
#include "run.hpp"

namespace plait::engine {

namespace {

using fusion::kChunkElements;

void tree(std::int64_t begin, std::int64_t n, Chunks& c) {
  if (n <= kChunkElements) {
    c.joins.push_back(static_cast<std::int32_t>(c.bounds.size() - 1));
    c.bounds.push_back(begin + n);
    return;
  }
  const std::int64_t left = RealTree::left(n);
  tree(begin, left, c);
  tree(begin + left, n - left, c);
  c.joins.push_back(-1);
}

}  // namespace

Chunks tree_chunks(std::int64_t extent) {
  Chunks c;
  c.bounds.push_back(0);
  tree(0, extent, c);
  return c;
}

Chunks even_chunks(std::int64_t extent, std::int64_t inner) {
  Chunks c;
  const std::int64_t step =
      std::max<std::int64_t>(1, kChunkElements / std::max<std::int64_t>(1, inner));
  c.bounds.push_back(0);
  for (std::int64_t at = 0; at < extent || at == 0; at += step) {
    c.joins.push_back(static_cast<std::int32_t>(c.bounds.size() - 1));
    if (at > 0) c.joins.push_back(-1);
    c.bounds.push_back(std::min(extent, at + step));
  }
  return c;
}

Chunks equal_chunks(std::int64_t extent, std::int64_t pieces) {
  Chunks c;
  c.bounds.push_back(0);
  for (std::int64_t p = 0; p < pieces; ++p) {
    c.joins.push_back(static_cast<std::int32_t>(p));
    if (p > 0) c.joins.push_back(-1);
    c.bounds.push_back(extent * (p + 1) / pieces);
  }
  return c;
}

std::optional<EarlyExit> early_exit_of(const fusion::LoweredKernel& l,
                                       std::span<const Ref<Buffer>> partials, std::int64_t outputs,
                                       std::int64_t chunks) {
  if (partials.size() != 1 || outputs != 1 || l.partials[0].dtype != DType::Bool)
    return std::nullopt;
  // What is computed may raise floating-point flags: all of it is.
  for (const ir::Inst& i : l.kernel.insts)
    if (i.op == ir::Op::Apply || (i.op == ir::Op::Cast && i.type != DType::Bool))
      return std::nullopt;
  const Scalar identity = fold_identity(l.partials[0].kind, DType::Bool);
  std::byte* rows = partials[0]->data;
  const auto count = static_cast<std::size_t>(chunks);
  std::memset(rows, identity.bytes[0] != 0, count);
  return EarlyExit{{rows, count}, std::byte{identity.bytes[0] == 0}};
}

void join_partials(const Chunks& c, ReduceKind kind, DType t, std::int64_t outputs,
                   std::byte* rows) {
  const loops::LoopFn join = loops::join(kind, t, config().tier);
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int64_t row = outputs * item;
  const std::int64_t strides[3] = {item, item, item};
  std::vector<std::int32_t> stack;
  for (std::int32_t j : c.joins) {
    if (j >= 0) {
      stack.push_back(j);
      continue;
    }
    std::byte* right = rows + stack.back() * row;
    stack.pop_back();
    std::byte* left = rows + stack.back() * row;
    void* args[3] = {left, right, left};
    join(args, strides, outputs);
  }
}

void join_arg_partials(const Chunks& c, ReduceKind kind, DType t, std::int64_t outputs,
                       const std::byte* extremes, std::int64_t* indices) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const loops::ArgReduceFn best = loops::arg_reduce(kind, t, config().tier);
  for (std::int64_t o = 0; o < outputs; ++o) {
    Scalar extreme;
    std::memcpy(extreme.bytes, extremes + o * item, itemsize(t));
    std::int64_t chunk = 0;
    best(extreme.bytes, &chunk, extremes + outputs * item + o * item, outputs * item, c.count() - 1,
         1);
    indices[o] = indices[chunk * outputs + o];
  }
}

}  // namespace plait::engine
