// Loops: how many lanes and registers, full steps and masked tails, unrolling.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

#include "emitter.hpp"
#include "ir/sequential_call.hpp"
#include "optimise.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr int kMaxRegs = 8;
constexpr std::int64_t kMaxUnrolled = 64;  // iterations that are still worth unrolling
// Trips that make a loop part of its surroundings' steps, and the instructions of a register
// between two looks at the caller's flag: microseconds of them, milliseconds of the slowest
// functions.
constexpr std::int64_t kFewTrips = 64, kBetweenLooks = 1 << 14;
// Of scalar code: its loops become lanes later, which a short block would leave no room for.
constexpr std::int64_t kScalarsBetweenLooks = 1 << 18;
constexpr int kFragment = 1 << 10;         // instructions that a fragment counts as
constexpr std::int64_t kLine = 64;         // bytes of a line of the cache
constexpr std::int64_t kLinedTrips = 128;  // elements that pay for an incomplete first step

}  // namespace

// Lanes fill a register with the widest float that is computed with; where nothing is computed in
// floats, with the widest integer that is moved. Indices and masks follow in more registers.
int Emitter::full_width(std::int32_t loop) const {
  std::size_t floats = 0, others = 0;
  std::function<void(std::int32_t)> walk = [&](std::int32_t l) {
    for (const ir::Reduction& r : k_.loops[l].reductions) {
      DType t = k_.insts[r.value].type;
      if (is_float(t) || is_complex(t)) floats = std::max(floats, itemsize(t));
    }
    for (ir::Val v : k_.loops[l].body) {
      const ir::Inst& i = k_.insts[v];
      if (opens_loop(i)) walk(i.index);
      if (i.op == ir::Op::Apply) {
        DType in = k_.insts[i.operands[i.fn == OpId::Where ? 1 : 0]].type;
        for (DType t : {in, i.type})
          if (is_float(t) || is_complex(t))
            floats = std::max(floats, itemsize(t));
          else
            others = std::max(others, itemsize(t));
      }
      if (ir::addresses_buffer(i)) others = std::max(others, itemsize(k_.buffers[i.index].dtype));
    }
  };
  walk(loop);
  std::size_t size = floats == 2 ? 4 : floats ? floats : std::max<std::size_t>(others, 2);
  return std::max(2, static_cast<int>(static_cast<std::size_t>(target_.bytes) / size));
}

bool Emitter::pairwise(std::int32_t loop) const {
  const std::vector<ir::Reduction>& all = k_.loops[loop].reductions;
  return std::any_of(all.begin(), all.end(),
                     [](const ir::Reduction& r) { return r.order == ir::Order::Pairwise; });
}

int Emitter::tree_lanes(std::int32_t loop) const {
  for (const ir::Reduction& r : k_.loops[loop].reductions)
    if (r.order == ir::Order::Pairwise && is_complex(k_.insts[r.value].type)) return 4;
  return 8;
}

// NumPy's accumulators are the lanes of a pairwise sum. Few iterations whose number is known have
// no more lanes than that: none is masked, and what was stored is soon loaded again.
int Emitter::width_of(std::int32_t loop) const {
  if (pairwise(loop)) return tree_lanes(loop);
  const int width = full_width(loop);
  const std::optional<std::int64_t> trips = known_trips(loop);
  return trips && *trips >= 2 && *trips < width &&
                 std::has_single_bit(static_cast<unsigned>(*trips))
             ? static_cast<int>(*trips)
             : width;
}

// Eight lanes of float32 are half a register of AVX-512: two at a time feed the vector functions.
int Emitter::regs_of(std::int32_t loop) const {
  for (const ir::Reduction& r : k_.loops[loop].reductions)
    if (r.order == ir::Order::Sequential) return 1;
  if (pairwise(loop)) return std::max(1, full_width(loop) / tree_lanes(loop));
  return std::clamp(k_.loops[loop].unroll, 1, kMaxRegs);
}

std::pair<llvm::Value*, llvm::Value*> Emitter::bounds(std::int32_t loop) {
  if (loop == 0) return {begin_, end_};
  const ir::Loop& l = k_.loops[loop];
  return {l.begin == ir::kNone ? i64(0) : vals_[l.begin].regs[0], vals_[l.end].regs[0]};
}

std::optional<std::int64_t> Emitter::known_trips(std::int32_t loop) const {
  const ir::Loop& l = k_.loops[loop];
  if (loop == 0 || l.kind != ir::LoopKind::Count || k_.insts[l.end].op != ir::Op::Const)
    return std::nullopt;
  if (l.begin != ir::kNone && k_.insts[l.begin].op != ir::Op::Const) return std::nullopt;
  const std::int64_t begin = l.begin == ir::kNone ? 0 : k_.insts[l.begin].imm.as<std::int64_t>();
  return k_.insts[l.end].imm.as<std::int64_t>() - begin;
}

bool Emitter::few_trips(std::int32_t loop) const {
  const std::optional<std::int64_t> trips = known_trips(loop);
  return trips ? *trips <= kFewTrips : ir::loses_bits(k_, loop);
}

int Emitter::weight(std::int32_t loop) const {
  const ir::Loop& l = k_.loops[loop];
  const int body = weight(l.body);
  if (l.otherwise.empty()) return body;
  const int otherwise = weight(l.otherwise);
  return body && otherwise ? body + otherwise : 0;
}

int Emitter::weight(const std::vector<ir::Val>& block) const {
  int n = 1;
  for (ir::Val v : block) {
    const ir::Inst& i = k_.insts[v];
    if (i.op != ir::Op::For && i.op != ir::Op::Reduce) {
      n += i.op == ir::Op::Fragment ? kFragment : 1;
      continue;
    }
    const bool once = k_.loops[i.index].kind == ir::LoopKind::If;
    const int inner = once || few_trips(i.index) ? weight(i.index) : 0;
    if (inner == 0) return 0;
    n += (once ? 1 : static_cast<int>(kFewTrips)) * inner;
    if (k_.sequential && n > kScalarsBetweenLooks) return 0;
  }
  return n;
}

// The caller cuts the grid as it likes. In a sequential kernel loops of few trips may be nested to
// any depth.
Look Emitter::look_of(std::int32_t loop) const {
  if (loop == 0) return Look::Never;
  const bool is_long = weight(loop) == 0;
  if (few_trips(loop) && !(is_long && k_.sequential)) return Look::Never;
  return is_long ? Look::Steps : Look::Blocks;
}

std::int64_t Emitter::block_of(std::int32_t loop, int regs) const {
  const std::int64_t between = k_.sequential ? kScalarsBetweenLooks : kBetweenLooks;
  return std::max<std::int64_t>(1, between / (std::max(1, weight(loop)) * regs));
}

void Emitter::leave_if_stopped() {
  if (!leave_) leave_ = block("leave");
  auto* flag = b_.CreateAlignedLoad(b_.getInt8Ty(), stop_, Align(1));
  flag->setAtomic(AtomicOrdering::Monotonic);
  BasicBlock* go_on = block("go_on");
  BasicBlock* asked = k_.sequential ? block("asked") : leave_;
  b_.CreateCondBr(b_.CreateIsNotNull(flag), asked, go_on,
                  MDBuilder(ctx_).createBranchWeights(1, 2000));
  if (k_.sequential) {
    b_.SetInsertPoint(asked);
    auto* place = b_.CreatePtrAdd(call_, b_.getInt64(offsetof(ir::SequentialCall, returns)));
    auto* ask = b_.CreateAlignedLoad(b_.getPtrTy(), place, Align(8));
    auto* answer =
        b_.CreateCall(FunctionType::get(b_.getInt8Ty(), {b_.getPtrTy()}, false), ask, {call_});
    b_.CreateCondBr(b_.CreateIsNotNull(answer), leave_, go_on);
  }
  b_.SetInsertPoint(go_on);
}

void Emitter::emit_loop(std::int32_t loop) {
  switch (k_.loops[loop].kind) {
    case ir::LoopKind::If:
      emit_if(loop);
      break;
    case ir::LoopKind::Repeat:
      emit_repeat(loop);
      break;
    case ir::LoopKind::Count:
      k_.loops[loop].lanes() ? emit_vector_for(loop) : emit_serial_for(loop);
  }
  land_breaks(loop);
}

void Emitter::emit_serial_for(std::int32_t loop) {
  if (loop == 0 && k_.sequential) {  // one iteration
    bind_serial(loop, begin_);
    return emit_block(loop);
  }
  auto [begin, end] = bounds(loop);
  auto *b = dyn_cast<ConstantInt>(begin), *e = dyn_cast<ConstantInt>(end);
  // A sequential one may have much inside: whether to unroll it is LLVM's to say.
  bool unrolled = !k_.sequential && k_.loops[loop].scope == ir::Scope::Unrolled && b && e &&
                  e->getSExtValue() - b->getSExtValue() <= kMaxUnrolled;
  if (copy_rows(loop, begin, &begin, end, unrolled)) b = dyn_cast<ConstantInt>(begin);
  if (unrolled) {
    for (std::int64_t i = b->getSExtValue(); i < e->getSExtValue(); ++i) {
      bind_serial(loop, i64(i));
      emit_block(loop);
    }
    return;
  }
  counted(
      begin, end, i64(1),
      [&](llvm::Value* i) {
        bind_serial(loop, i);
        emit_block(loop);
      },
      look_of(loop), block_of(loop, lanes_.regs));
}

// Two copies of a loop with streaming stores, which write whole lines of the cache: a plain one as
// far as the first line begins, or to the end where the outputs' lines do not meet, and a streaming
// one from there.
void Emitter::emit_vector_for(std::int32_t loop) {
  auto [begin, end] = bounds(loop);
  int width = width_of(loop), regs = regs_of(loop);
  auto run = [&](llvm::Value* from, llvm::Value* to, bool stream, llvm::Value* whole = nullptr) {
    auto body = [&] {
      lanes_.stream = stream && !lanes_.mask;
      emit_block(loop);
    };
    strip(loop, width, regs, from, to, body, look_of(loop), whole);
  };
  llvm::Value* lines = first_line(loop, begin, end, true);
  if (lines) run(begin, lines, false);
  run(lines ? lines : begin, end, lines,
      lines || !k_.loops[loop].aligned ? nullptr : first_line(loop, begin, end, false));
}

void Emitter::strip(std::int32_t loop, int width, int regs, llvm::Value* begin, llvm::Value* end,
                    const Body& body, Look look, llvm::Value* whole) {
  const std::int64_t step = static_cast<std::int64_t>(width) * regs;
  if (!whole) whole = begin;
  llvm::Value* n = at_least_zero(b_.CreateSub(end, whole));
  llvm::Value* middle = b_.CreateAdd(whole, b_.CreateSub(n, b_.CreateURem(n, i64(step))));
  auto full = [&](llvm::Value* from) {
    counted(
        from, middle, i64(step),
        [&](llvm::Value* i) {
          bind_lanes(loop, width, regs, i, nullptr);
          body();
          lanes_ = {};
        },
        look, block_of(loop, regs));
  };
  auto masked = [&](llvm::Value* from, llvm::Value* to) {
    counted(from, to, i64(width), [&](llvm::Value* i) {
      llvm::Value* left = b_.CreateSub(to, i);
      bind_lanes(loop, width, 1, i, b_.CreateBinaryIntrinsic(Intrinsic::smin, left, i64(width)));
      body();
      lanes_ = {};
    });
  };
  if (whole == begin) {
    full(begin);
    masked(middle, end);
    return;
  }
  // One copy of the masked step, for both ends.
  rotated(
      i64(0), i64(2), i64(1),
      [&](llvm::Value* round) {
        llvm::Value* first = b_.CreateICmpEQ(round, i64(0));
        masked(b_.CreateSelect(first, begin, middle), b_.CreateSelect(first, whole, end));
        full(b_.CreateSelect(first, whole, middle));
      },
      Look::Never);
}

void Emitter::bind_lanes(std::int32_t loop, int width, int regs, llvm::Value* base,
                         llvm::Value* count) {
  lanes_ = {};
  lanes_.loop = loop;
  lanes_.width = width;
  lanes_.regs = regs;
  lanes_.base = base;
  lanes_.count = count;
  if (count) {
    SmallVector<Constant*, 64> numbers;
    for (int l = 0; l < width; ++l) numbers.push_back(b_.getInt32(static_cast<unsigned>(l)));
    llvm::Value* live = b_.CreateTrunc(count, b_.getInt32Ty());
    lanes_.mask = b_.CreateICmpULT(ConstantVector::get(numbers), b_.CreateVectorSplat(width, live));
  }
  Value& var = vals_[k_.loops[loop].var];
  var = {{}, true};
  for (int r = 0; r < regs; ++r) {
    SmallVector<Constant*, 64> numbers;
    for (int l = 0; l < width; ++l) numbers.push_back(i64(r * width + l));
    llvm::Value* offsets = ConstantVector::get(numbers);
    if (lanes_.mask)
      offsets = b_.CreateSelect(lanes_.mask, offsets, Constant::getNullValue(offsets->getType()));
    var.regs.push_back(b_.CreateAdd(b_.CreateVectorSplat(width, base), offsets));
  }
}

void Emitter::counted(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Indexed& body,
                      Look look, std::int64_t steps) {
  auto *cb = dyn_cast<ConstantInt>(begin), *ce = dyn_cast<ConstantInt>(end);
  bool known = cb && ce;
  if (known && cb->getSExtValue() >= ce->getSExtValue()) return;
  auto* cs = dyn_cast<ConstantInt>(step);
  if (known && cs && cb->getSExtValue() + cs->getSExtValue() >= ce->getSExtValue())
    return body(begin);
  BasicBlock *enter = block("enter"), *exit = block("done");
  if (known)
    b_.CreateBr(enter);
  else
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), enter, exit);
  b_.SetInsertPoint(enter);
  if (look == Look::Blocks)
    in_blocks(begin, end, step, body, steps);
  else
    rotated(begin, end, step, body, look);
  b_.CreateBr(exit);
  b_.SetInsertPoint(exit);
}

// At least one step. Gives the variable after the last.
llvm::Value* Emitter::rotated(llvm::Value* begin, llvm::Value* end, llvm::Value* step,
                              const Indexed& body, Look look) {
  BasicBlock *before = b_.GetInsertBlock(), *head = block("loop"), *exit = block("end");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  body(i);
  if (look == Look::Steps) leave_if_stopped();
  llvm::Value* next = b_.CreateNSWAdd(i, step);
  i->addIncoming(next, b_.GetInsertBlock());
  back_edge(b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, exit));
  b_.SetInsertPoint(exit);
  return next;
}

// Loops that are hardly reached are compiled fast, not well.
void Emitter::back_edge(BranchInst* latch) {
  if (rare_ == 0) return;
  const auto option = [&](const char* name, llvm::Value* value = nullptr) -> Metadata* {
    SmallVector<Metadata*, 2> all{MDString::get(ctx_, name)};
    if (value) all.push_back(ConstantAsMetadata::get(cast<Constant>(value)));
    return MDNode::get(ctx_, all);
  };
  MDNode* id =
      MDNode::getDistinct(ctx_, {nullptr, option(kRare), option("llvm.loop.unroll.disable"),
                                 option("llvm.loop.vectorize.enable", b_.getFalse())});
  id->replaceOperandWith(0, id);
  latch->setMetadata(LLVMContext::MD_loop, id);
}

// A loop of one block, as most are, costs no more than a comparison: where the first ends is known
// outside of the loops around.
void Emitter::in_blocks(llvm::Value* begin, llvm::Value* end, llvm::Value* step,
                        const Indexed& body, std::int64_t steps) {
  llvm::Value* size = b_.CreateMul(step, i64(steps));
  auto limit_from = [&](llvm::Value* from) {
    return b_.CreateAdd(from,
                        b_.CreateBinaryIntrinsic(Intrinsic::smin, b_.CreateSub(end, from), size));
  };
  llvm::Value* first = limit_from(begin);
  BasicBlock *before = b_.GetInsertBlock(), *head = block("block"), *again = block("again"),
             *exit = block("blocks");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode *from = b_.CreatePHI(b_.getInt64Ty(), 2), *limit = b_.CreatePHI(b_.getInt64Ty(), 2);
  from->addIncoming(begin, before);
  limit->addIncoming(first, before);
  llvm::Value* next = rotated(from, limit, step, body, Look::Never);
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), again, exit,
                  MDBuilder(ctx_).createBranchWeights(1, 2000));
  b_.SetInsertPoint(again);
  leave_if_stopped();
  llvm::Value* following = limit_from(next);
  from->addIncoming(next, b_.GetInsertBlock());
  limit->addIncoming(following, b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(exit);
}

void Emitter::when(llvm::Value* condition, const Body& then, const Body& otherwise, Odds odds) {
  BasicBlock *yes = block("then"), *join = block("join");
  BasicBlock* no = otherwise ? block("else") : join;
  MDNode* weights = odds == Odds::Unlikely ? MDBuilder(ctx_).createBranchWeights(1, 2000)
                    : odds == Odds::Likely ? MDBuilder(ctx_).createBranchWeights(2000, 1)
                                           : nullptr;
  b_.CreateCondBr(condition, yes, no, weights);
  b_.SetInsertPoint(yes);
  then();
  b_.CreateBr(join);
  if (otherwise) {
    b_.SetInsertPoint(no);
    otherwise();
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
}

// Where what the loop stores reaches a line of the cache: all of its non-temporal stores at once,
// and `end` where they do not; or the first of others, which loads at the same place in their lines
// follow. `end` or `begin` where the loop is too short to pay for an incomplete first step; nullptr
// when there is no such store.
llvm::Value* Emitter::first_line(std::int32_t loop, llvm::Value* begin, llvm::Value* end,
                                 bool nontemporal) {
  struct Output {
    llvm::Value* address;
    std::int64_t item;
  };
  SmallVector<Output, 4> outputs;
  const int width = width_of(loop);
  bind_lanes(loop, width, 1, begin, nullptr);
  const std::vector<ir::Val>& body = k_.loops[loop].body;
  bool known = true;
  for (ir::Val v : body) {
    const ir::Inst& i = k_.insts[v];
    if (i.op != ir::Op::Store || i.nontemporal != nontemporal) continue;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    if (!nontemporal && (!outputs.empty() || width * item != kLine)) continue;
    // Values of the body are not there yet.
    for (const ir::Term& t : k_.accesses[i.access].terms)
      known = known && std::find(body.begin(), body.end(), t.var) == body.end();
    if (!known) break;
    Address a = address_of(i);
    if (streamable(a, i.type))
      outputs.push_back({b_.CreatePtrToInt(a.base, b_.getInt64Ty()), item});
  }
  lanes_ = {};
  if (!known || outputs.empty()) return nullptr;

  const Output& first = outputs.front();
  llvm::Value* head =
      b_.CreateUDiv(b_.CreateAnd(b_.CreateNeg(first.address), i64(kLine - 1)), i64(first.item));
  llvm::Value* least = b_.CreateSelect(b_.CreateICmpEQ(head, i64(0)), i64(0), i64(kLinedTrips));
  llvm::Value* pays = b_.CreateICmpSGE(b_.CreateSub(end, begin), least);
  if (!nontemporal) return b_.CreateSelect(pays, b_.CreateAdd(begin, head), begin);
  llvm::Value* bits = nullptr;
  for (const Output& o : outputs) {
    llvm::Value* reached = b_.CreateAdd(o.address, b_.CreateMul(head, i64(o.item)));
    bits = bits ? b_.CreateOr(bits, reached) : reached;
  }
  llvm::Value* meet = b_.CreateICmpEQ(b_.CreateAnd(bits, i64(kLine - 1)), i64(0));
  return b_.CreateSelect(b_.CreateAnd(meet, pays), b_.CreateAdd(begin, head), end);
}

}  // namespace plait::jit
