#include "checks.hpp"

#include <algorithm>

namespace plait::ir {

bool is(const Kernel& k, Val v, OpId fn) {
  return v != kNone && k.insts[v].op == Op::Apply && k.insts[v].fn == fn;
}
namespace {
bool is_zero(const Kernel& k, Val v) {
  return k.insts[v].op == Op::Const && k.insts[v].type == DType::Int64 &&
         k.insts[v].imm.as<std::int64_t>() == 0;
}

}  // namespace

std::optional<IndexCheck> index_check(const Kernel& k, Val outside) {
  if (!is(k, outside, OpId::GreaterEqual)) return std::nullopt;
  const Inst &index = k.insts[k.insts[outside].operands[0]],
             &extent = k.insts[k.insts[outside].operands[1]];
  if (index.op != Op::Cast || extent.op != Op::Cast || index.type != DType::UInt64)
    return std::nullopt;
  const Val where = index.operands[0], n = extent.operands[0];
  if (!is(k, where, OpId::Where)) return std::nullopt;
  const Val negative = k.insts[where].operands[0], from_end = k.insts[where].operands[1],
            i = k.insts[where].operands[2];
  if (!is(k, negative, OpId::Less) || k.insts[negative].operands[0] != i ||
      !is_zero(k, k.insts[negative].operands[1]) || !is(k, from_end, OpId::Add) ||
      k.insts[from_end].operands[0] != i || k.insts[from_end].operands[1] != n)
    return std::nullopt;
  return IndexCheck{i, n, where};
}

bool leaves_kernel(const Kernel& k, const std::vector<Val>& block) {
  if (block.empty()) return false;
  const Inst& last = k.insts[block.back()];
  const std::vector<Val>& all = k.loops[0].body;
  return last.op == Op::Break && last.operands[0] == kNone &&
         std::any_of(all.begin(), all.end(), [&](Val v) {
           return k.insts[v].op == Op::For && k.insts[v].index == last.index;
         });
}

std::vector<char> extents(const Kernel& k) {
  std::vector<char> found(static_cast<std::size_t>(k.params));
  for (Val v = 0; v < k.insts.size(); ++v)
    if (const auto c = index_check(k, v); c && k.insts[c->extent].op == Op::Param)
      found[static_cast<std::size_t>(k.insts[c->extent].index)] = true;
  return found;
}

}  // namespace plait::ir
