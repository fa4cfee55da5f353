// A thread takes up to 16 bytes of neighbours along the innermost flattened loop and moves them by
// one access. What lies at no multiple of a pack, and the ends of rows, goes by elements, which a
// launch decides from addresses and strides.
#include <algorithm>

#include "../rule.hpp"

namespace plait::mapping {

namespace {

constexpr int kMostBytes = 16;

constexpr int kMostAccesses = 60;  // bits of Packs::aligned

enum class Along { Fixed, Contiguous, Other };

// How an access moves with the variable of the innermost loop, whose address a launch can compute.
Along along(const ir::Kernel& k, const NestFacts& n, const Inst& i) {
  const Val last = k.loops[n.chain.back()].var;
  Along a = Along::Fixed;
  for (const ir::Term& t : k.accesses[i.access].terms) {
    if (t.var == last) {
      const bool next = t.stride.param == kNoParam && a == Along::Fixed &&
                        t.stride.value == static_cast<std::int64_t>(itemsize(i.type));
      a = next ? Along::Contiguous : Along::Other;
    } else if (const Op op = k.insts[t.var].op;
               op != Op::Var && op != Op::Const && op != Op::Param) {
      return Along::Other;
    }
  }
  return a;
}

void find_packs(const ir::Kernel& k, NestFacts& n) {
  const std::int32_t last = n.chain.back();
  std::vector<char> packed(k.insts.size());
  std::size_t widest = 0;
  int accesses = 0;
  bool expensive = false;
  for (const ir::Local& l : k.locals)
    if (l.home == last) return;
  for (Val v : k.loops[last].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i) || i.op == Op::Gather || i.op == Op::Scatter) return;
    expensive |= i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive;
    if (i.op != Op::Load && i.op != Op::Store) continue;
    const Along a = along(k, n, i);
    // Far neighbours are better read by neighbouring threads.
    if (a == Along::Other || (i.op == Op::Store && a != Along::Contiguous)) return;
    if (a == Along::Fixed) continue;
    packed[v] = 1;
    ++accesses;
    widest = std::max(widest, itemsize(i.type));
  }
  if (widest == 0 || widest > 8 || accesses > kMostAccesses) return;
  n.packed = std::move(packed);
  n.pack = std::min(expensive ? 4 : 8, kMostBytes / static_cast<int>(widest));
}

// Fewer threads are left, and short rows have more ends than middle.
void offer_packs(const MappingQuery& l, std::vector<CostedMapping>& offers) {
  const double row = static_cast<double>(l.trips(l.nest.chain.back())), pack = l.nest.pack;
  if (pack == 1 || row < 1) return;
  Mapping m = l.plain.mapping;
  m.pack = l.nest.pack;
  offers.push_back({m, std::max(l.gpu.element * pack, l.waves * l.gpu.packed * (1 + pack / row))});
}

}  // namespace

const MappingRule pack_neighbours{find_packs, offer_packs};

}  // namespace plait::mapping
