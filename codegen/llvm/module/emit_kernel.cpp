// The kernel's frame: arguments, blocks, and instructions that are neither operations nor memory.
#include <llvm/IR/MDBuilder.h>

#include "emitter.hpp"
#include "ir/checks.hpp"
#include "processor.hpp"
#include "reduce.hpp"

namespace plait::jit {
using namespace llvm;

Emitter::Emitter(llvm::Module& module, const ir::Kernel& k, const Target& target)
    : k_(k),
      analysis_(ir::analyse(k)),
      target_(target),
      ctx_(module.getContext()),
      module_(module),
      b_(ctx_),
      left_(k.loops.size()),
      vals_(k.insts.size()),
      loaded_(k.insts.size()),
      results_(k.loops.size()),
      folding_(k.loops.size()) {
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    if (k.loops[l].lanes()) {
      auto loop = static_cast<std::int32_t>(l);
      max_lanes_ = std::max(max_lanes_, width_of(loop) * regs_of(loop));
    }
}

void Emitter::run(const char* symbol) {
  Type *ptr = b_.getPtrTy(), *i64t = b_.getInt64Ty();
  auto* ft = FunctionType::get(b_.getVoidTy(), {ptr, i64t, i64t, ptr, ptr}, false);
  fn_ = Function::Create(ft, Function::ExternalLinkage, symbol, module_);
  fn_->addFnAttr(Attribute::NoUnwind);
  fn_->addFnAttr("prefer-vector-width", std::to_string(target_.bytes * 8));
  llvm::Value* call = fn_->getArg(0);
  begin_ = fn_->getArg(1);
  end_ = fn_->getArg(2);
  scratch_ = fn_->getArg(3);
  helper_table_ = fn_->getArg(4);

  auto* entry = BasicBlock::Create(ctx_, "entry", fn_);
  auto* start = BasicBlock::Create(ctx_, "start", fn_);
  b_.SetInsertPoint(entry);
  // The argument arrays do not change during a call, whatever the kernel stores elsewhere.
  auto fixed = [&](Type* t, llvm::Value* table, std::size_t offset) {
    auto* load = b_.CreateAlignedLoad(t, at(table, i64(static_cast<std::int64_t>(offset))),
                                      Align(t->isPointerTy() || t->isIntegerTy(64) ? 8 : 1));
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(ctx_, {}));
    return load;
  };
  llvm::Value* buffers = fixed(ptr, call, offsetof(ir::CallArgs, buffers));
  llvm::Value* params = fixed(ptr, call, offsetof(ir::CallArgs, params));
  llvm::Value* scalars = fixed(ptr, call, offsetof(ir::CallArgs, scalars));
  stop_ = fixed(ptr, call, offsetof(ir::CallArgs, stop));
  call_ = call;
  for (std::size_t i = 0; i < k_.buffers.size(); ++i)
    buffers_.push_back(fixed(ptr, buffers, i * sizeof(void*)));
  const std::vector<char> extents = ir::extents(k_);
  for (std::int32_t i = 0; i < k_.params; ++i) {
    params_.push_back(fixed(i64t, params, static_cast<std::size_t>(i) * 8));
    if (extents[static_cast<std::size_t>(i)])
      cast<LoadInst>(params_.back())
          ->setMetadata(LLVMContext::MD_range,
                        MDBuilder(ctx_).createRange(APInt(64, 0), APInt::getSignedMinValue(64)));
  }
  for (std::size_t i = 0; i < k_.scalars.size(); ++i) {
    DType t = k_.scalars[i];
    args_.push_back(from_memory(
        t, fixed(memory_type(t), scalars, i * sizeof(Scalar) + offsetof(Scalar, bytes))));
  }
  place_locals();
  entry_end_ = b_.CreateBr(start);
  b_.SetInsertPoint(start);
  emit_loop(0);
  if (streams_) order_streamed_stores(b_);  // before the caller's barrier
  b_.CreateRetVoid();
  if (!leave_) return;
  b_.SetInsertPoint(leave_);
  if (streams_) order_streamed_stores(b_);
  b_.CreateRetVoid();
}

void Emitter::emit_block(std::int32_t loop) {
  for (std::size_t l = 0; l < k_.locals.size(); ++l)
    if (k_.locals[l].home == loop && in_registers_[l]) {
      const ir::Local& local = k_.locals[l];
      if (is_flag(local)) {
        b_.CreateStore(b_.getFalse(), locals_[l] = stack(b_.getInt1Ty(), 1));
        continue;
      }
      auto lanes = static_cast<std::int64_t>(lanes_.width) * lanes_.regs;
      std::int64_t bytes = local.count.value * static_cast<std::int64_t>(itemsize(local.dtype)) *
                           (analysis_.vector_loop[loop] >= 0 ? lanes : 1);
      locals_[l] = stack(b_.getInt8Ty(), std::max<std::int64_t>(bytes, 1));
      if (k_.sequential)
        b_.CreateStore(Constant::getNullValue(memory_type(local.dtype)), locals_[l]);
    }
  emit_insts(k_.loops[loop].body);
}

// A condition that is kept, which branches see through as long as it is no byte.
bool Emitter::is_flag(const ir::Local& local) const {
  return k_.sequential && local.dtype == DType::Bool && ir::is_variable(local);
}

void Emitter::emit_insts(const std::vector<ir::Val>& block) {
  for (ir::Val v : block) emit_inst(v);
}

void Emitter::emit_inst(ir::Val v) {
  const ir::Inst& i = k_.insts[v];
  switch (i.op) {
    case ir::Op::Const:
      vals_[v] = uniform_value(constant(i.imm));
      break;
    case ir::Op::Param:
      vals_[v] = uniform_value(params_[i.index]);
      break;
    case ir::Op::Arg:
      vals_[v] = uniform_value(args_[i.index]);
      break;
    case ir::Op::Var:
      break;
    case ir::Op::Apply:
      vals_[v] = emit_apply(i);
      break;
    case ir::Op::Cast:
      vals_[v] = emit_cast(vals_[i.operands[0]], k_.insts[i.operands[0]].type, i.type);
      break;
    case ir::Op::Load:
      if (loaded_[v])
        loaded_[v] = false;
      else if (!load_group(v))
        vals_[v] = emit_load(i);
      break;
    case ir::Op::Gather:
      vals_[v] = emit_gather(i);
      break;
    case ir::Op::LoadLocal:
      if (is_flag(k_.locals[i.index]))
        vals_[v] = uniform_value(b_.CreateLoad(b_.getInt1Ty(), locals_[i.index]));
      else
        vals_[v] = emit_load(i);
      break;
    case ir::Op::StoreLocal:
      if (is_flag(k_.locals[i.index]))
        b_.CreateStore(vals_[i.operands[0]].regs[0], locals_[i.index]);
      else
        emit_store(i);
      break;
    case ir::Op::Store:
      emit_store(i);
      break;
    case ir::Op::Scatter:
      emit_scatter(i);
      break;
    case ir::Op::For:
      emit_loop(i.index);
      break;
    case ir::Op::Reduce:
      results_[i.index] = ReduceEmitter(*this, i.index).run();
      break;
    case ir::Op::Result:
      vals_[v] = results_[k_.insts[i.operands[0]].index][i.index];
      break;
    case ir::Op::Fragment:
      emit_fragment(i);
      break;
    case ir::Op::Running:
      vals_[v] = folding_[analysis_.block[v]]->running(i.index);
      break;
    case ir::Op::Carried:
      vals_[v] = folding_[analysis_.block[v]]->carried(i.index);
      break;
    case ir::Op::Barrier:
    case ir::Op::AsyncCopy:
      break;  // not of one thread
    case ir::Op::Break:
    case ir::Op::Overflows:
    case ir::Op::External:
      emit_control(v);
      break;
  }
}

Constant* Emitter::constant(const Scalar& s) {
  switch (s.dtype) {
    case DType::Bool:
      return b_.getInt1(s.bytes[0] != 0);
    case DType::Float32:
      return ConstantFP::get(ctx_, APFloat(s.as<float>()));
    case DType::Float64:
      return ConstantFP::get(ctx_, APFloat(s.as<double>()));
    case DType::Complex64: {
      const auto v = s.as<std::complex<float>>();
      return ConstantDataVector::get(ctx_, ArrayRef<float>{v.real(), v.imag()});
    }
    case DType::Complex128: {
      const auto v = s.as<std::complex<double>>();
      return ConstantDataVector::get(ctx_, ArrayRef<double>{v.real(), v.imag()});
    }
    default: {
      std::uint64_t bits = 0;
      std::memcpy(&bits, s.bytes, itemsize(s.dtype));
      return ConstantInt::get(scalar_type(s.dtype), bits);
    }
  }
}

llvm::Value* Emitter::coeff(const ir::Coeff& c) {
  return c.param == ir::kNoParam ? i64(c.value) : params_[c.param];
}

llvm::Value* Emitter::reg(const Value& v, int r) {
  if (v.varying) return v.regs[r];
  return lanes_.loop < 0 ? v.regs[0] : splat(v.regs[0], lanes_.width);
}

Type* Emitter::scalar_type(DType t) {
  switch (t) {
    case DType::Bool:
      return b_.getInt1Ty();
    case DType::Float32:
      return b_.getFloatTy();
    case DType::Float64:
      return b_.getDoubleTy();
    case DType::Complex64:
    case DType::Complex128:
      return FixedVectorType::get(scalar_type(part_type(t)), 2);
    default:  // a Float16 travels as its bits
      return b_.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8);
  }
}

Type* Emitter::lanes_type(DType t, int width) {
  return FixedVectorType::get(is_complex(t) ? scalar_type(part_type(t)) : scalar_type(t),
                              static_cast<unsigned>(is_complex(t) ? 2 * width : width));
}

Type* Emitter::memory_type(DType t) { return t == DType::Bool ? b_.getInt8Ty() : scalar_type(t); }

llvm::Value* Emitter::from_memory(DType t, llvm::Value* v) {
  return t == DType::Bool ? b_.CreateICmpNE(v, Constant::getNullValue(v->getType())) : v;
}

llvm::Value* Emitter::to_memory(DType t, llvm::Value* v) {
  if (t != DType::Bool) return v;
  Type* byte = b_.getInt8Ty();
  if (auto* vt = dyn_cast<FixedVectorType>(v->getType()))
    byte = FixedVectorType::get(byte, vt->getNumElements());
  return b_.CreateZExt(v, byte);
}

AllocaInst* Emitter::stack(Type* t, std::int64_t count) {
  IRBuilder<> entry(&fn_->getEntryBlock(), fn_->getEntryBlock().begin());
  auto* a =
      entry.CreateAlloca(count == 1 ? t : ArrayType::get(t, static_cast<std::uint64_t>(count)));
  a->setAlignment(Align(64));
  return a;
}

BasicBlock* Emitter::block(const char* name) { return BasicBlock::Create(ctx_, name, fn_); }

}  // namespace plait::jit
