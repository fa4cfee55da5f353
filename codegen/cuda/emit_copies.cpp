// Loops that copy into shared memory what is multiplied there.
#include <algorithm>

#include "emit.hpp"

namespace plait::cuda {

// Loops inside one another around a load and the store of what it loads, to where threads share it;
// along the innermost one both go from element to element.
std::optional<Emitter::Copy> Emitter::copy(std::int32_t loop) const {
  Copy c{{}, kNone, kNone};
  for (std::int32_t l = loop; c.store == kNone;) {
    c.loops.push_back(l);
    std::vector<Val> body;
    for (const Val v : k_.loops[l].body)
      if (const Op op = k_.insts[v].op; op != Op::Const && op != Op::Param && op != Op::Arg)
        body.push_back(v);
    if (body.size() == 1 && k_.insts[body[0]].op == Op::For) {
      l = k_.insts[body[0]].index;
    } else if (body.size() == 2 && k_.insts[body[0]].op == Op::Load &&
               k_.insts[body[1]].op == Op::StoreLocal && k_.insts[body[1]].operands[0] == body[0]) {
      c.load = body[0];
      c.store = body[1];
    } else {
      return std::nullopt;
    }
  }
  const Inst &load = k_.insts[c.load], &store = k_.insts[c.store];
  const Val along = k_.loops[c.loops.back()].var;
  const auto steps = [&](std::int32_t access, std::int64_t step) {
    int terms = 0;
    for (const ir::Term& t : k_.accesses[access].terms)
      if (t.var == along) terms += t.stride.param == kNoParam && t.stride.value == step ? 1 : 2;
    return terms == 1;
  };
  const DType t = load.type;
  const ir::Local& to = k_.locals[store.index];
  if (t == DType::Bool || to.dtype != t || to.space != ir::Space::Shared || p_.tiled(load.index) ||
      k_.buffers[load.index].written ||
      !steps(load.access, static_cast<std::int64_t>(itemsize(t))) || !steps(store.access, 1))
    return std::nullopt;
  return c;
}

// By the block, or by warps, which take the iterations of further loops around.
void Emitter::copy_rectangle(const Copy& c, By by) {
  const Inst &load = k_.insts[c.load], &store = k_.insts[c.store];
  const std::size_t count = c.loops.size(), around = count > 2 ? count - 2 : 0;
  By now = by;
  for (std::size_t n = 0; n < around; ++n) {
    open_loop(c.loops[n], now);
    now = inside(c.loops[n], now);
  }
  const auto extent = [&](std::int32_t l) {
    const std::string end = index(k_.loops[l].end);
    return k_.loops[l].begin == kNone ? end : end + " - " + index(k_.loops[l].begin);
  };
  const std::int32_t columns = c.loops.back(), lines = count > 1 ? c.loops[count - 2] : -1;
  const auto from_begin = [&](Val v) {
    for (const std::int32_t l : {lines, columns})
      if (l >= 0 && v == k_.loops[l].var)
        return k_.loops[l].begin == kNone ? std::string() : index(k_.loops[l].begin);
    return index(v);
  };
  // From a line to the next one.
  const auto pitch = [&](std::int32_t access) {
    ir::Access a;
    for (const ir::Term& t : k_.accesses[access].terms)
      if (lines >= 0 && t.var == k_.loops[lines].var) a.terms.push_back(t);
    return address(a, [](Val) { return std::string("1"); });
  };
  line("copy_rectangle(team, l" + std::to_string(store.index) + ".at + (" +
       address(k_.accesses[store.access], from_begin) + "), " + pitch(store.access) + ", a.b" +
       std::to_string(load.index) + " + (" + address(k_.accesses[load.access], from_begin) + "), " +
       pitch(load.access) + ", " + (lines < 0 ? "1" : extent(lines)) + ", " + extent(columns) +
       ");");
  for (std::size_t n = around; n-- > 0;) close_loop(c.loops[n]);
  copying_ = true;
}

void Emitter::finish_copies() {
  if (copying_) line("copies_arrived();");
  copying_ = false;
}

}  // namespace plait::cuda
