// Addresses, loads and stores in every layout, and where locals live.
#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

// Locals up to this many elements are left to SROA; more would only fill the stack.
constexpr std::int64_t kRegisterElements = 64;
constexpr int kPrefetchAhead = 4096;
constexpr int kRowsAhead = 8;

}  // namespace

llvm::Value* Emitter::at(llvm::Value* base, llvm::Value* byte_offset) {
  auto* c = dyn_cast<ConstantInt>(byte_offset);
  return c && c->isZero() ? base : b_.CreateGEP(b_.getInt8Ty(), base, byte_offset);
}

// What a sequential kernel names lies in the buffer, wherever lanes may point. A heap has no
// bounds.
llvm::Value* Emitter::indexed(const ir::Inst& i, llvm::Value* base, llvm::Value* index) {
  llvm::Value* stride = coeff(i.stride);
  auto* c = dyn_cast<ConstantInt>(stride);
  llvm::Value* offset = c && c->isOne() ? index : b_.CreateMul(index, stride);
  return k_.sequential && !k_.buffers[i.index].heap
             ? b_.CreateInBoundsGEP(b_.getInt8Ty(), base, offset)
             : at(base, offset);
}

// `scale` is the unit of the access in bytes (buffers: 1). A per-lane local lies [element][lane].
Emitter::Address Emitter::address(llvm::Value* base, const ir::Access& a, std::int64_t scale,
                                  bool per_lane) {
  if (per_lane) scale *= static_cast<std::int64_t>(lanes_.width) * lanes_.regs;
  auto bytes = [&](llvm::Value* v) { return scale == 1 ? v : b_.CreateMul(v, i64(scale)); };
  // Constants are kept apart, so that neighbours share the rest of the address.
  llvm::Value *fixed = i64(0), *moving = nullptr, *lane_stride = nullptr;
  auto add = [&](llvm::Value* v) {
    if (isa<ConstantInt>(v))
      fixed = b_.CreateAdd(fixed, v);
    else
      moving = moving ? b_.CreateAdd(moving, v) : v;
  };
  add(bytes(coeff(a.offset)));
  for (const ir::Term& t : a.terms) {
    llvm::Value* stride = bytes(coeff(t.stride));
    if (lanes_.loop >= 0 && t.var == k_.loops[lanes_.loop].var) {
      lane_stride = lane_stride ? b_.CreateAdd(lane_stride, stride) : stride;
      add(b_.CreateMul(lanes_.base, stride));
    } else {
      add(b_.CreateMul(vals_[t.var].regs[0], stride));
    }
  }
  if (moving) base = at(base, moving);
  if (auto* c = dyn_cast_or_null<ConstantInt>(lane_stride); c && c->isZero()) lane_stride = nullptr;
  return {at(base, fixed), lane_stride};
}

Emitter::Address Emitter::address_of(const ir::Inst& i) {
  const ir::Access& a = k_.accesses[i.access];
  if (ir::addresses_buffer(i)) return address(buffers_[i.index], a, 1, false);
  const ir::Local& local = k_.locals[i.index];
  auto item = static_cast<std::int64_t>(itemsize(local.dtype));
  bool per_lane = analysis_.per_lane(local);
  Address r = address(locals_[i.index], a, item, per_lane);
  if (per_lane) r.lane_stride = i64(item);
  return r;
}

bool Emitter::unit(const Address& a, DType t) const {
  auto* c = dyn_cast_or_null<ConstantInt>(a.lane_stride);
  return c && c->getSExtValue() == static_cast<std::int64_t>(itemsize(t));
}

bool Emitter::streamable(const Address& a, DType t) const {
  return unit(a, t) && static_cast<std::size_t>(lanes_.width) * itemsize(t) >= 16;
}

llvm::Value* Emitter::load_scalar(DType t, llvm::Value* p) {
  return from_memory(t, b_.CreateAlignedLoad(memory_type(t), p, Align(1)));
}

void Emitter::store_scalar(DType t, llvm::Value* v, llvm::Value* p) {
  b_.CreateAlignedStore(to_memory(t, v), p, Align(1));
}

Value Emitter::load(DType t, const Address& a) {
  if (!a.lane_stride) return uniform_value(load_scalar(t, a.base));
  const int width = lanes_.width;
  auto item = static_cast<std::int64_t>(itemsize(t));
  Type* vt = t == DType::Bool ? lanes_type(DType::UInt8, width) : lanes_type(t, width);
  const int masked = info(target_.tier).masked_bytes;
  const bool masked_moves = masked && itemsize(t) >= static_cast<std::size_t>(masked);
  Value v{{}, true};
  if (unit(a, t) && lanes_.mask && masked_moves) {
    llvm::Value* first = b_.CreateAlignedLoad(memory_type(t), a.base, Align(1));
    v.regs.push_back(from_memory(
        t,
        b_.CreateMaskedLoad(vt, a.base, Align(1), mask_for(t, lanes_.mask), splat(first, width))));
    return v;
  }
  for (int r = 0; r < lanes_.regs; ++r) {
    if (unit(a, t) && !lanes_.mask) {
      llvm::Value* p = at(a.base, i64(r * width * item));
      v.regs.push_back(from_memory(t, b_.CreateAlignedLoad(vt, p, Align(1))));
      continue;
    }
    llvm::Value* gathered = PoisonValue::get(vt);
    for (int l = 0; l < width; ++l) {
      llvm::Value* n = i64(r * width + l);
      if (lanes_.mask && l) n = b_.CreateSelect(b_.CreateICmpSLT(n, lanes_.count), n, i64(0));
      llvm::Value* p = at(a.base, b_.CreateMul(n, a.lane_stride));
      gathered = with_lane(t, gathered, b_.CreateAlignedLoad(memory_type(t), p, Align(1)), l);
    }
    v.regs.push_back(from_memory(t, gathered));
  }
  return v;
}

void Emitter::store(DType t, const Address& a, const Value& v, bool nontemporal) {
  if (lanes_.loop < 0) return store_scalar(t, v.regs[0], a.base);
  const int width = lanes_.width;
  auto item = static_cast<std::int64_t>(itemsize(t));
  for (int r = 0; r < lanes_.regs; ++r) {
    llvm::Value* x = to_memory(t, reg(v, r));
    if (unit(a, t)) {
      llvm::Value* p = at(a.base, i64(r * width * item));
      if (lanes_.mask) {
        b_.CreateMaskedStore(x, p, Align(1), mask_for(t, lanes_.mask));
      } else if (nontemporal && lanes_.stream && streamable(a, t)) {
        auto bytes = static_cast<std::uint64_t>(width * item);
        auto* s = b_.CreateAlignedStore(x, p, Align(std::min<std::uint64_t>(bytes, 64)));
        s->setMetadata(LLVMContext::MD_nontemporal,
                       MDNode::get(ctx_, ConstantAsMetadata::get(b_.getInt32(1))));
        streams_ = true;
      } else {
        b_.CreateAlignedStore(x, p, Align(1));
      }
      continue;
    }
    for (int l = 0; l < width; ++l) {
      auto one = [&] {
        llvm::Value* n = i64(r * width + l);
        llvm::Value* p = a.lane_stride ? at(a.base, b_.CreateMul(n, a.lane_stride)) : a.base;
        b_.CreateAlignedStore(lane(t, x, l), p, Align(1));
      };
      if (lanes_.mask && l)
        when(b_.CreateICmpSLT(i64(l), lanes_.count), one);
      else
        one();
    }
  }
}

void Emitter::prefetch_line(llvm::Value* p) {
  b_.CreateIntrinsic(Intrinsic::prefetch, {b_.getPtrTy()},
                     {p, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

// Bytes from a load to what is wanted next: further along the lanes, or, where a loop inside or one
// around walks over rows, some rows on; nullptr where none of those around moves it.
llvm::Value* Emitter::prefetch_distance(const ir::Inst& i) {
  if (const int rows = k_.loops[lanes_.loop].rows_ahead; rows > 0) {
    for (std::int32_t l = analysis_.parent[lanes_.loop]; l >= 0; l = analysis_.parent[l])
      for (const ir::Term& t : k_.accesses[i.access].terms)
        if (t.var == k_.loops[l].var) return b_.CreateMul(coeff(t.stride), i64(rows));
    return nullptr;
  }
  for (const ir::Term& t : k_.accesses[i.access].terms) {
    const ir::Inst& var = k_.insts[t.var];
    if (var.op == ir::Op::Var && var.index != lanes_.loop && t.stride.param != ir::kNoParam &&
        analysis_.vector_loop[var.index] == lanes_.loop)
      return b_.CreateMul(coeff(t.stride), i64(kRowsAhead));
  }
  return i64(kPrefetchAhead);
}

Value Emitter::emit_load(const ir::Inst& i) {
  Address a = address_of(i);
  if (i.op == ir::Op::Load && lanes_.loop >= 0 && k_.loops[lanes_.loop].prefetch && !lanes_.mask &&
      unit(a, i.type)) {
    auto bytes = static_cast<std::int64_t>(itemsize(i.type)) * lanes_.width * lanes_.regs;
    if (llvm::Value* distance = prefetch_distance(i))
      for (std::int64_t line = 0; line < bytes; line += 64)
        prefetch_line(at(at(a.base, distance), i64(line)));
  }
  return load(i.type, a);
}

// Bytes from the address to where the index of a lane leads. Indices that lie in memory one after
// the other are read from there, which costs less than to take lanes out of a register.
Emitter::LaneOffset Emitter::lane_offsets(const ir::Inst& i) {
  llvm::Value* const stride = coeff(i.stride);
  const ir::Inst& index = k_.insts[i.operands[0]];
  if (index.op == ir::Op::Load && !k_.buffers[index.index].written && !lanes_.mask)
    if (const Address a = address_of(index); unit(a, index.type))
      return [=, this](int r, int l) -> llvm::Value* {
        const std::int64_t n = std::int64_t{r} * lanes_.width + l;
        llvm::Value* p = at(a.base, i64(n * static_cast<std::int64_t>(sizeof(std::int64_t))));
        return b_.CreateMul(load_scalar(DType::Int64, p), stride);
      };
  return [=, this, &value = vals_[i.operands[0]]](int r, int l) -> llvm::Value* {
    return b_.CreateMul(lane(DType::Int64, reg(value, r), l), stride);
  };
}

// Lane by lane: indices that are the same in every lane move the whole address.
Value Emitter::emit_gather(const ir::Inst& i) {
  Address a = address_of(i);
  const Value& index = vals_[i.operands[0]];
  if (!index.varying) {
    a.base = indexed(i, a.base, index.regs[0]);
    return load(i.type, a);
  }
  const LaneOffset offset_of = lane_offsets(i);
  const int width = lanes_.width;
  Type* vt = i.type == DType::Bool ? lanes_type(DType::UInt8, width) : lanes_type(i.type, width);
  Value v{{}, true};
  for (int r = 0; r < lanes_.regs; ++r) {
    llvm::Value* gathered = PoisonValue::get(vt);
    for (int l = 0; l < width; ++l) {
      llvm::Value* offset = offset_of(r, l);
      if (a.lane_stride) {
        llvm::Value* n = i64(r * width + l);
        if (lanes_.mask && l) n = b_.CreateSelect(b_.CreateICmpSLT(n, lanes_.count), n, i64(0));
        offset = b_.CreateAdd(offset, b_.CreateMul(n, a.lane_stride));
      }
      gathered =
          with_lane(i.type, gathered,
                    b_.CreateAlignedLoad(memory_type(i.type), at(a.base, offset), Align(1)), l);
    }
    v.regs.push_back(from_memory(i.type, gathered));
  }
  return v;
}

void Emitter::emit_store(const ir::Inst& i) {
  store(i.type, address_of(i), vals_[i.operands[0]], i.nontemporal);
}

// Lanes follow each other: they may name one element, but where the access alone sets them apart.
void Emitter::emit_scatter(const ir::Inst& i) {
  Address a = address_of(i);
  const Value &index = vals_[i.operands[0]], &value = vals_[i.operands[1]];
  llvm::Value* const stride = coeff(i.stride);
  if (lanes_.loop >= 0 && !index.varying && a.lane_stride) {
    a.base = at(a.base, b_.CreateMul(index.regs[0], stride));
    Value old = load(i.type, a);
    for (int r = 0; r < lanes_.regs; ++r)
      old.regs[r] = primitive(i.fn, i.type, {old.regs[r], reg(value, r)});
    return store(i.type, a, old, false);
  }
  if (i.fn == OpId::Count_)
    return store_scalar(i.type, value.regs[0], indexed(i, a.base, index.regs[0]));
  const auto combine = [&](llvm::Value* offset, llvm::Value* x) {
    llvm::Value* const p = at(a.base, offset);
    store_scalar(i.type, primitive(i.fn, i.type, {load_scalar(i.type, p), x}), p);
  };
  if (lanes_.loop < 0) return combine(b_.CreateMul(index.regs[0], stride), value.regs[0]);
  const int width = lanes_.width;
  const LaneOffset offset_of = lane_offsets(i);
  for (int r = 0; r < lanes_.regs; ++r) {
    llvm::Value* const x = reg(value, r);
    for (int l = 0; l < width; ++l) {
      const auto one = [&] {
        llvm::Value* offset = offset_of(r, l);
        if (a.lane_stride)
          offset = b_.CreateAdd(offset, b_.CreateMul(i64(r * width + l), a.lane_stride));
        combine(offset, lane(i.type, x, l));
      };
      if (lanes_.mask && l)
        when(b_.CreateICmpSLT(i64(l), lanes_.count), one);
      else
        one();
    }
  }
}

// A call of the precompiled fragment, which finds its operands in a loops::Fragment.
void Emitter::emit_fragment(const ir::Inst& i) {
  const ir::Fragment& p = k_.fragments[i.index];
  const auto where = [&](std::int32_t local, std::int32_t access) {
    const auto item = static_cast<std::int64_t>(itemsize(k_.locals[local].dtype));
    return b_.CreatePtrToInt(address(locals_[local], k_.accesses[access], item, false).base,
                             b_.getInt64Ty());
  };
  const auto number = [&](ir::Val v) { return vals_[v].regs[0]; };
  llvm::Value* fields[] = {where(p.a.local, p.a.access),
                           where(p.b.local, p.b.access),
                           where(p.local, p.access),
                           number(i.operands[0]),
                           number(i.operands[1]),
                           number(i.operands[2]),
                           i64(p.a.width),
                           coeff(p.a.stride),
                           coeff(p.a.step),
                           i64(p.b.width),
                           coeff(p.b.stride),
                           coeff(p.b.step),
                           coeff(p.row),
                           number(p.block)};
  llvm::Value* callee = helper({.kind = HelperRef::Fragment,
                                .type = k_.locals[p.a.local].dtype,
                                .to = k_.locals[p.b.local].dtype});
  AllocaInst* fragment = stack(b_.getInt64Ty(), std::size(fields));
  for (std::size_t n = 0; n < std::size(fields); ++n)
    b_.CreateStore(fields[n], at(fragment, i64(static_cast<std::int64_t>(n) * 8)));
  auto* ft = FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  b_.CreateCall(ft, callee, {fragment})->setDoesNotThrow();
}

// The layout of ir::local_offsets: in order, each aligned to 64 bytes, per-lane ones times the
// lanes. Small ones move to the stack when their loop's body is emitted.
void Emitter::place_locals() {
  llvm::Value* offset = i64(0);
  for (const ir::Local& l : k_.locals) {
    locals_.push_back(at(scratch_, offset));
    in_registers_.push_back(l.count.param == ir::kNoParam && l.count.value <= kRegisterElements);
    auto item =
        static_cast<std::int64_t>(itemsize(l.dtype)) * (analysis_.per_lane(l) ? max_lanes_ : 1);
    llvm::Value* count = at_least_zero(coeff(l.count));
    llvm::Value* bytes =
        b_.CreateAnd(b_.CreateAdd(b_.CreateMul(count, i64(item)), i64(63)), i64(-64));
    offset = b_.CreateAdd(offset, bytes);
  }
}

}  // namespace plait::jit
