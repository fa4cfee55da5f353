#include "builder.hpp"

#include <algorithm>

#include "plait/error.hpp"

namespace plait::ir {

Builder::Builder(std::string name) {
  k_.name = std::move(name);
  k_.loops.emplace_back();
  k_.loops[0].scope = Scope::Grid;
  k_.loops[0].var = 0;
  k_.insts.push_back({.op = Op::Var, .index = 0});
  open_.push_back(0);
}

Kernel Builder::finish() {
  if (open_.size() != 1) throw InternalError("loop IR: a loop is still open in " + k_.name);
  std::vector<Val>& body = k_.loops[0].body;
  body.insert(body.begin(), numbers_.begin(), numbers_.end());
  numbers_.clear();
  return std::move(k_);
}

// A Var belongs to its loop and stands in no body; everything else is listed in the open block.
Val Builder::push(Inst i) {
  k_.insts.push_back(i);
  Val v = static_cast<Val>(k_.insts.size() - 1);
  Loop& l = k_.loops[open_.back()];
  (in_otherwise_.back() ? l.otherwise : l.body).push_back(v);
  return v;
}

Val Builder::push(Inst i, Access a) {
  k_.accesses.push_back(std::move(a));
  i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
  return push(i);
}

Val Builder::number(const Inst& i) {
  k_.insts.push_back(i);
  numbers_.push_back(static_cast<Val>(k_.insts.size() - 1));
  return numbers_.back();
}

Val Builder::new_arg(DType t) {
  k_.scalars.push_back(t);
  return number(
      {.op = Op::Arg, .type = t, .index = static_cast<std::int32_t>(k_.scalars.size() - 1)});
}

std::int32_t Builder::variable(DType t, Coeff count) {
  k_.locals.push_back({t, count, 0});
  return static_cast<std::int32_t>(k_.locals.size() - 1);
}

CheckedIndex Builder::index(Val i, Val extent) {
  const Val zero = number({.op = Op::Const, .imm = Scalar::of(DType::Int64, std::int64_t{0})});
  const Val negative = apply(OpId::Less, DType::Bool, {i, zero});
  const Val from_end = apply(OpId::Add, DType::Int64, {i, extent});
  const Val index = apply(OpId::Where, DType::Int64, {negative, from_end, i});
  return {index, apply(OpId::GreaterEqual, DType::Bool,
                       {cast(index, DType::UInt64), cast(extent, DType::UInt64)})};
}

std::int32_t Builder::open_if(Val condition) {
  const std::int32_t index = open(Op::For, kNone, kNone);
  k_.loops[index].kind = LoopKind::If;
  k_.loops[index].condition = condition;
  return index;
}

void Builder::otherwise() {
  if (k_.loops[open_.back()].kind != LoopKind::If || in_otherwise_.back())
    throw InternalError("loop IR: no if is open in " + k_.name);
  in_otherwise_.back() = true;
}

std::int32_t Builder::open_repeat() {
  const std::int32_t index = open(Op::For, kNone, kNone);
  k_.loops[index].kind = LoopKind::Repeat;
  return index;
}

void Builder::close_repeat(Val condition) {
  k_.loops[open_.back()].condition = condition;
  close();
}

void Builder::leave(std::int32_t loop, Val condition) {
  push({.op = Op::Break, .index = loop, .operands = {condition, kNone, kNone}});
}

Val Builder::grid_var() const { return k_.loops[0].var; }

Val Builder::constant(const Scalar& s) {
  return push({.op = Op::Const, .type = s.dtype, .imm = s});
}

Val Builder::constant_index(std::int64_t v) { return constant(Scalar::of(DType::Int64, v)); }

Val Builder::param(std::int32_t index) {
  k_.params = std::max(k_.params, index + 1);
  return push({.op = Op::Param, .index = index});
}

std::int32_t Builder::new_param() { return k_.params++; }

Val Builder::arg(DType t) {
  k_.scalars.push_back(t);
  return push(
      {.op = Op::Arg, .type = t, .index = static_cast<std::int32_t>(k_.scalars.size() - 1)});
}

std::int32_t Builder::buffer(const BufferParam& b) {
  k_.buffers.push_back(b);
  return static_cast<std::int32_t>(k_.buffers.size() - 1);
}

std::int32_t Builder::local(Local l) {
  l.home = open_.back();
  k_.locals.push_back(l);
  return static_cast<std::int32_t>(k_.locals.size() - 1);
}

Val Builder::apply(OpId fn, DType result, std::initializer_list<Val> operands) {
  Inst i{.op = Op::Apply, .type = result, .fn = fn};
  if (operands.size() > 3) throw InternalError("loop IR: more than three operands");
  std::copy(operands.begin(), operands.end(), i.operands);
  return push(i);
}

Val Builder::cast(Val v, DType to) {
  return push({.op = Op::Cast, .type = to, .operands = {v, kNone, kNone}});
}

Val Builder::load(std::int32_t buffer, Access a) {
  k_.accesses.push_back(std::move(a));
  return push({.op = Op::Load,
               .type = k_.buffers.at(buffer).dtype,
               .index = buffer,
               .access = static_cast<std::int32_t>(k_.accesses.size() - 1)});
}

Val Builder::gather(std::int32_t buffer, Access a, Val index, Coeff stride) {
  k_.accesses.push_back(std::move(a));
  return push({.op = Op::Gather,
               .type = k_.buffers.at(buffer).dtype,
               .index = buffer,
               .operands = {index, kNone, kNone},
               .access = static_cast<std::int32_t>(k_.accesses.size() - 1),
               .stride = stride});
}

void Builder::store(std::int32_t buffer, Access a, Val v, bool nontemporal) {
  k_.accesses.push_back(std::move(a));
  push({.op = Op::Store,
        .type = k_.buffers.at(buffer).dtype,
        .index = buffer,
        .operands = {v, kNone, kNone},
        .access = static_cast<std::int32_t>(k_.accesses.size() - 1),
        .nontemporal = nontemporal});
}

void Builder::scatter(OpId fn, std::int32_t buffer, Access a, Val index, Coeff stride, Val v) {
  k_.accesses.push_back(std::move(a));
  push({.op = Op::Scatter,
        .type = k_.buffers.at(buffer).dtype,
        .fn = fn,
        .index = buffer,
        .operands = {index, v, kNone},
        .access = static_cast<std::int32_t>(k_.accesses.size() - 1),
        .stride = stride});
}

Val Builder::load_local(std::int32_t local, Access a, Val stage) {
  k_.accesses.push_back(std::move(a));
  return push({.op = Op::LoadLocal,
               .type = k_.locals.at(local).dtype,
               .index = local,
               .operands = {stage, kNone, kNone},
               .access = static_cast<std::int32_t>(k_.accesses.size() - 1)});
}

void Builder::store_local(std::int32_t local, Access a, Val v, Val stage) {
  k_.accesses.push_back(std::move(a));
  push({.op = Op::StoreLocal,
        .type = k_.locals.at(local).dtype,
        .index = local,
        .operands = {v, stage, kNone},
        .access = static_cast<std::int32_t>(k_.accesses.size() - 1)});
}

void Builder::fragment(Fragment p, Access a, Access b, Access c, Val m, Val n, Val k) {
  p.a.access = static_cast<std::int32_t>(k_.accesses.size());
  p.b.access = p.a.access + 1;
  p.access = p.a.access + 2;
  k_.accesses.push_back(std::move(a));
  k_.accesses.push_back(std::move(b));
  k_.accesses.push_back(std::move(c));
  k_.fragments.push_back(p);
  push({.op = Op::Fragment,
        .type = k_.locals.at(p.local).dtype,
        .index = static_cast<std::int32_t>(k_.fragments.size() - 1),
        .operands = {m, n, k}});
}

void Builder::copy(Copy c, Access from, Access to, Val rows, Val columns, Val stage) {
  c.from = static_cast<std::int32_t>(k_.accesses.size());
  c.to = c.from + 1;
  k_.accesses.push_back(std::move(from));
  k_.accesses.push_back(std::move(to));
  k_.copies.push_back(c);
  push({.op = Op::AsyncCopy,
        .type = k_.locals.at(c.local).dtype,
        .index = static_cast<std::int32_t>(k_.copies.size() - 1),
        .operands = {rows, columns, stage}});
}

void Builder::barrier(Val stage) { push({.op = Op::Barrier, .operands = {stage, kNone, kNone}}); }

std::int32_t Builder::open(Op op, Val begin, Val end) {
  auto index = static_cast<std::int32_t>(k_.loops.size());
  push({.op = op, .index = index});
  k_.insts.push_back({.op = Op::Var, .index = index});
  Loop l;
  l.var = static_cast<Val>(k_.insts.size() - 1);
  l.begin = begin;
  l.end = end;
  k_.loops.push_back(std::move(l));
  open_.push_back(index);
  in_otherwise_.push_back(false);
  return index;
}

std::int32_t Builder::open_for(Val begin, Val end) { return open(Op::For, begin, end); }

std::int32_t Builder::open_reduce(Val begin, Val end) { return open(Op::Reduce, begin, end); }

Val Builder::running(DType t, std::int32_t fold) {
  return push({.op = Op::Running, .type = t, .index = fold});
}

Val Builder::carried(DType t, std::int32_t fold) {
  return push({.op = Op::Carried, .type = t, .index = fold});
}

Val Builder::var(std::int32_t loop) const { return k_.loops.at(loop).var; }

void Builder::close() {
  if (open_.size() < 2) throw InternalError("loop IR: no loop is open in " + k_.name);
  open_.pop_back();
  in_otherwise_.pop_back();
}

std::vector<Val> Builder::close(std::vector<Reduction> r) {
  std::int32_t index = open_.back();
  close();
  Loop& l = k_.loops[index];
  l.reductions = std::move(r);
  // The Reduce stands just before its Var, see open().
  Val reduce = l.var - 1;
  std::vector<DType> types;
  for (const Reduction& red : l.reductions)
    types.push_back(is_arg(red.kind) ? DType::Int64 : type(red.value));
  std::vector<Val> results;
  for (std::size_t i = 0; i < types.size(); ++i)
    results.push_back(push({.op = Op::Result,
                            .type = types[i],
                            .index = static_cast<std::int32_t>(i),
                            .operands = {reduce, kNone, kNone}}));
  return results;
}

Loop& Builder::loop(std::int32_t index) { return k_.loops.at(index); }

DType Builder::type(Val v) const { return k_.insts.at(v).type; }

}  // namespace plait::ir
