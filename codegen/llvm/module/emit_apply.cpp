// Operations: as primitives, through a vector function, or through a precompiled loop over lanes
// that are spilled to the stack. All three give the bits of the precompiled loop.
#include <numeric>

#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr std::int64_t kSpillBytes = 8192;

}  // namespace

llvm::Value* Emitter::helper(const HelperRef& h) {
  for (std::size_t i = 0; i < helpers_.size(); ++i)
    if (helpers_[i] == h) return helper_ptrs_[i];
  IRBuilder<> entry(entry_end_);
  auto slot = static_cast<std::uint64_t>(helpers_.size()) * sizeof(void*);
  auto* p = entry.CreateLoad(
      entry.getPtrTy(), entry.CreateGEP(entry.getInt8Ty(), helper_table_, entry.getInt64(slot)));
  p->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(ctx_, {}));
  helpers_.push_back(h);
  helper_ptrs_.push_back(p);
  return p;
}

Value Emitter::emit_apply(const ir::Inst& i) {
  std::vector<Value> o;
  std::vector<DType> types;
  bool varying = false;
  for (ir::Val v : i.operands)
    if (v != ir::kNone) {
      o.push_back(vals_[v]);
      types.push_back(k_.insts[v].type);
      varying |= o.back().varying;
    }
  DType in = types[i.fn == OpId::Where ? 1 : 0];
  Value result{{}, varying};
  for (int r = 0; r < (varying ? lanes_.regs : 1); ++r) {
    SmallVector<llvm::Value*, 3> regs;
    for (const Value& v : o) regs.push_back(varying ? reg(v, r) : v.regs[0]);
    llvm::Value* x = primitive(i.fn, in, regs);
    if (!x) break;
    result.regs.push_back(x);
  }
  if (!result.regs.empty()) return result;
  if (!varying && computes_in_line(i, in))
    return uniform_value(float_division(i.fn, o[0].regs[0], o[1].regs[0],
                                        [&] { return call_precompiled(i, o, types, in).regs[0]; }));
  return call_precompiled(i, std::move(o), types, in);
}

Value Emitter::call_precompiled(const ir::Inst& i, std::vector<Value> o,
                                const std::vector<DType>& types, DType in) {
  if (i.fn == OpId::Absolute && is_complex(in))
    if (int lanes = target_.vector_lanes(OpId::Absolute, part_type(in), target_.tier))
      return complex_absolute(o[0], part_type(in), lanes);
  // Of halves as the precompiled loops do it: those of floats.
  const bool half = in == DType::Float16 && i.type == in && computes_half();
  const DType by = half ? DType::Float32 : in;
  if (int lanes = target_.vector_lanes(i.fn, by, target_.tier)) {
    for (Value& v : o)
      for (llvm::Value*& x : v.regs) x = half ? from_half(x) : x;
    Value v = call_vector_function(i.fn, by, lanes, o);
    for (llvm::Value*& x : v.regs) x = half ? to_half(x) : x;
    return v;
  }
  return call_loop({.kind = HelperRef::Elementwise, .op = i.fn, .type = in}, o, types, i.type);
}

Value Emitter::emit_cast(const Value& v, DType from, DType to) {
  Value result{{}, v.varying};
  for (llvm::Value* x : v.regs) {
    llvm::Value* y = cast_primitive(x, from, to);
    if (!y) return call_loop({.kind = HelperRef::Cast, .type = from, .to = to}, {v}, {from}, to);
    result.regs.push_back(y);
  }
  return result;
}

Value Emitter::call_vector_function(OpId fn, DType in, int lanes, const std::vector<Value>& o) {
  llvm::Value* callee = helper({.kind = HelperRef::Vector, .op = fn, .type = in, .number = lanes});
  auto n = static_cast<unsigned>(lanes);
  Type* vt = FixedVectorType::get(scalar_type(in), n);
  auto* ft = FunctionType::get(vt, SmallVector<Type*, 3>(o.size(), vt), false);
  const Call call = [&](Operands args) {
    auto* c = b_.CreateCall(ft, callee, args);
    c->setDoesNotThrow();
    return c;
  };
  auto evaluate = [&](Operands args) {
    return fn == OpId::Exp ? exponential(in, args[0], call) : call(args);
  };
  bool varying = false;
  for (const Value& v : o) varying |= v.varying;
  if (!varying) {
    SmallVector<llvm::Value*, 3> args;
    for (const Value& v : o) args.push_back(b_.CreateVectorSplat(n, v.regs[0]));
    return uniform_value(b_.CreateExtractElement(call(args), std::uint64_t{0}));
  }
  // Registers of several calls, or several registers of one call; the last one fills up what is
  // left of a call, so that no lane raises a flag of its own.
  Value result{{}, true};
  const int width = lanes_.width;
  const int together = std::max(1, lanes / width);
  for (int r = 0; r < lanes_.regs; r += together) {
    SmallVector<llvm::Value*, 3> operands;
    for (const Value& v : o) {
      SmallVector<llvm::Value*, 4> x;
      for (int k = 0; k < together; ++k) x.push_back(reg(v, std::min(r + k, lanes_.regs - 1)));
      operands.push_back(concatenated(std::move(x)));
    }
    SmallVector<llvm::Value*, 4> parts;
    for (int first = 0; first < std::max(width, lanes); first += lanes) {
      SmallVector<llvm::Value*, 3> args;
      for (llvm::Value* x : operands)
        args.push_back(lanes < width ? lanes_from(in, x, first, lanes) : x);
      parts.push_back(evaluate(args));
    }
    llvm::Value* all = concatenated(std::move(parts));
    for (int k = 0; k < together && r + k < lanes_.regs; ++k)
      result.regs.push_back(together > 1 ? lanes_from(in, all, k * width, width) : all);
  }
  return result;
}

// A power of two of them.
llvm::Value* Emitter::concatenated(SmallVector<llvm::Value*, 4> parts) {
  while (parts.size() > 1) {
    SmallVector<llvm::Value*, 4> joined;
    for (std::size_t p = 0; p < parts.size(); p += 2) {
      SmallVector<int, 64> all(2 * cast<FixedVectorType>(parts[p]->getType())->getNumElements());
      std::iota(all.begin(), all.end(), 0);
      joined.push_back(b_.CreateShuffleVector(parts[p], parts[p + 1], all));
    }
    parts = joined;
  }
  return parts[0];
}

Value Emitter::call_loop(const HelperRef& h, const std::vector<Value>& o,
                         const std::vector<DType>& types, DType result) {
  llvm::Value* callee = helper(h);
  bool varying = false;
  for (const Value& v : o) varying |= v.varying;
  const int regs = varying ? lanes_.regs : 1;
  const std::int64_t n = varying ? static_cast<std::int64_t>(lanes_.width) * regs : 1;
  auto pointers = stack(b_.getPtrTy(), 4);
  auto strides = stack(b_.getInt64Ty(), 4);
  auto operand = [&](std::size_t slot, DType t, bool each) {
    auto size = static_cast<std::int64_t>(itemsize(t));
    if (n * size > kSpillBytes)
      throw CompileError("too many lanes to spill for a precompiled loop");
    if (!spill_[slot]) spill_[slot] = stack(b_.getInt8Ty(), kSpillBytes);
    auto k = i64(static_cast<std::int64_t>(slot));
    b_.CreateStore(spill_[slot], b_.CreateGEP(b_.getPtrTy(), pointers, k));
    b_.CreateStore(i64(each ? size : 0), b_.CreateGEP(b_.getInt64Ty(), strides, k));
  };
  auto place = [&](std::size_t slot, DType t, int r) {
    return at(spill_[slot], i64(r * (n / regs) * static_cast<std::int64_t>(itemsize(t))));
  };
  for (std::size_t s = 0; s < o.size(); ++s) {
    operand(s, types[s], o[s].varying);
    for (std::size_t r = 0; r < o[s].regs.size(); ++r)
      b_.CreateAlignedStore(to_memory(types[s], o[s].regs[r]),
                            place(s, types[s], static_cast<int>(r)), Align(1));
  }
  operand(o.size(), result, true);
  auto* ft =
      FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false);
  b_.CreateCall(ft, callee, {pointers, strides, i64(n)})->setDoesNotThrow();
  const DType stored = result == DType::Bool ? DType::UInt8 : result;
  Type* t = varying ? lanes_type(stored, lanes_.width) : scalar_type(stored);
  Value v{{}, varying};
  for (int r = 0; r < regs; ++r)
    v.regs.push_back(
        from_memory(result, b_.CreateAlignedLoad(t, place(o.size(), result, r), Align(1))));
  return v;
}

}  // namespace plait::jit
