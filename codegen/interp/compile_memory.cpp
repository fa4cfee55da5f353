// Addresses, and the instructions that touch memory.
#include "compiler.hpp"

namespace plait::interp {

Instr Compiler::call(Val v) {
  const ir::Inst& i = k_.insts[v];
  Instr c{.code = Code::Call, .tile = a_.varies[v] != 0};
  for (Val o : i.operands)
    if (o != kNone) c.in[c.inputs++] = reg(o);
  c.out = reg(v);
  DType in = k_.insts[i.operands[i.op == Op::Apply && i.fn == OpId::Where ? 1 : 0]].type;
  c.fn = i.op == Op::Cast ? cast(in, i.type) : elementwise(i.fn, in);
  return c;
}

std::int32_t Compiler::access(const ir::Inst& i) {
  AccessCode c;
  c.local = i.op == Op::LoadLocal || i.op == Op::StoreLocal;
  c.per_lane = c.local && a_.per_lane(k_.locals[i.index]);
  c.index = i.index;
  c.itemsize = static_cast<std::uint8_t>(itemsize(i.type));
  return access(k_.accesses[i.access], c);
}

std::int32_t Compiler::access(const ir::Access& a, AccessCode c) {
  c.offset = a.offset;
  c.first_term = static_cast<std::int32_t>(p_.terms.size());
  for (const ir::Term& t : a.terms) {
    const ir::Inst& var = k_.insts[t.var];
    const bool is_var = var.op == Op::Var;
    p_.terms.push_back({address_reg(t.var), is_var && k_.loops[var.index].lanes(),
                        is_var && numbers_rows(var.index), t.stride});
  }
  c.last_term = static_cast<std::int32_t>(p_.terms.size());
  p_.accesses.push_back(c);
  return static_cast<std::int32_t>(p_.accesses.size() - 1);
}

// Whether lanes are known to lie side by side.
bool Compiler::contiguous(const ir::Inst& i) const {
  bool local = i.op == Op::LoadLocal;
  if (local && a_.per_lane(k_.locals[i.index])) return true;
  if (!p_.shared.empty()) return false;
  std::int64_t unit = local ? 1 : static_cast<std::int64_t>(itemsize(i.type)), stride = 0;
  for (const ir::Term& t : k_.accesses[i.access].terms)
    if (a_.varies[t.var]) {
      if (t.stride.param != ir::kNoParam) return false;
      stride += t.stride.value;
    }
  return stride == unit;
}

void Compiler::load(Block& b, std::int32_t position, Val v) {
  const ir::Inst& i = k_.insts[v];
  Instr c{.code = Code::Load,
          .tile = a_.varies[v] != 0,
          .itemsize = static_cast<std::uint8_t>(itemsize(i.type)),
          .out = reg(v),
          .access = access(i)};
  const bool copied = live_.only_stored(v) && p_.shared.empty();
  c.copy = live_.clobbered(v)                    ? CopyRule::Always
           : c.tile && !contiguous(i) && !copied ? CopyRule::WhenStrided
                                                 : CopyRule::Never;
  if (c.copy != CopyRule::Never) {
    c.in[0] = new_reg(slot(c.tile, i.type));
    expire(b, std::max(position, live_.last_use(v)), c.in[0]);
  }
  b.code.push_back(c);
}

void Compiler::store(Block& b, Val v) {
  const ir::Inst& i = k_.insts[v];
  if (Val value = live_.stored_by(v); value != kNone) {
    Instr c = call(value);
    c.out = kNoReg;
    c.access = access(i);
    b.code.push_back(c);
    return;
  }
  b.code.push_back({.code = Code::Store,
                    .tile = b.lanes,
                    .inputs = 1,
                    .itemsize = static_cast<std::uint8_t>(itemsize(i.type)),
                    .in = {reg(i.operands[0]), kNoReg, kNoReg},
                    .access = access(i)});
}

RegId Compiler::number(const ir::Coeff& c) {
  if (c.param != ir::kNoParam) return new_reg(Home::Param, c.param, 0);
  p_.consts.push_back(scalar_int(c.value));
  return new_reg(Home::Const, static_cast<std::int32_t>(p_.consts.size() - 1), 0);
}

void Compiler::gather(Block& b, std::int32_t position, Val v) {
  const ir::Inst& i = k_.insts[v];
  Instr c{.code = Code::Gather,
          .tile = a_.varies[v] != 0,
          .inputs = 2,
          .itemsize = static_cast<std::uint8_t>(itemsize(i.type)),
          .in = {reg(i.operands[0]), number(i.stride), kNoReg},
          .out = reg(v),
          .access = access(i)};
  p_.regs[v] = slot(c.tile, i.type);
  expire(b, std::max(position, live_.last_use(v)), reg(v));
  b.code.push_back(c);
}

void Compiler::scatter(Block& b, const ir::Inst& i) {
  b.code.push_back({.code = Code::Scatter,
                    .tile = b.lanes,
                    .inputs = 3,
                    .in = {reg(i.operands[0]), number(i.stride), reg(i.operands[1])},
                    .access = access(i),
                    .scatter = interp::scatter(i.fn, i.type)});
}

void Compiler::fragment(Block& b, const ir::Inst& i) {
  const ir::Fragment& p = k_.fragments[i.index];
  const auto at = [&](std::int32_t local, std::int32_t index) {
    const auto item = static_cast<std::uint8_t>(itemsize(k_.locals[local].dtype));
    return access(k_.accesses[index], {.local = true, .index = local, .itemsize = item});
  };
  p_.fragments.push_back(
      {.fn = loops::fragment(k_.locals[p.a.local].dtype, k_.locals[p.b.local].dtype, tier_),
       .a = at(p.a.local, p.a.access),
       .b = at(p.b.local, p.b.access),
       .c = at(p.local, p.access),
       .m = address_reg(i.operands[0]),
       .n = address_reg(i.operands[1]),
       .k = address_reg(i.operands[2]),
       .a_stride = number(p.a.stride),
       .a_step = number(p.a.step),
       .b_stride = number(p.b.stride),
       .b_step = number(p.b.step),
       .c_row = number(p.row),
       .block = address_reg(p.block),
       .a_width = p.a.width,
       .b_width = p.b.width});
  b.code.push_back(
      {.code = Code::Fragment, .fragment = static_cast<std::int32_t>(p_.fragments.size() - 1)});
}

}  // namespace plait::interp
