// Loop IR -> LLVM IR. Every value is uniform (one LLVM scalar) or varies along the vector loop
// around it (`regs` LLVM vectors of `width` lanes). A vector loop's body is emitted twice: for full
// steps, and for the tail with a mask. In the tail, inactive lanes carry the values of lane 0, so
// they raise no floating-point flag that lane 0 does not raise, and only stores and folds need the
// mask.
// A complex value is <2 x part>, n lanes of it <2n x part>, real and imaginary parts in turn as in
// memory: what works element by element on parts needs no second way.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "codegen/llvm/module.hpp"
#include "ir/analysis.hpp"
#include "ir/checks.hpp"
#include "plait/error.hpp"

namespace plait::jit {

struct Target {
  CpuTier tier;
  int bytes;  // of a vector register
  int (*vector_lanes)(OpId, DType, CpuTier);
  void (*identity)(ReduceKind, DType, Scalar*);
  const ir::ExternalFunction* externals;
};

// How the vector loop around the code being emitted is laid out.
struct Lanes {
  std::int32_t loop = -1;  // -1: scalar code
  int width = 1, regs = 1;
  llvm::Value* base = nullptr;   // Int64: the loop's variable in lane 0 of register 0
  llvm::Value* count = nullptr;  // tail only: how many lanes are live (Int64)
  llvm::Value* mask = nullptr;   // tail only: <width x i1>
  bool stream = false;           // non-temporal stores may be used: their addresses are aligned
};

struct Value {
  llvm::SmallVector<llvm::Value*, 4> regs;
  bool varying = false;
};
inline DType part_type(DType complex) {
  return complex == DType::Complex64 ? DType::Float32 : DType::Float64;
}
// When a loop looks whether the kernel's caller has stopped it: a loop around others after each of
// its steps, one that has none inside after blocks of them.
enum class Look : std::uint8_t { Never, Steps, Blocks };
enum class Odds : std::uint8_t { Even, Unlikely, Likely };  // of a condition
inline Value uniform_value(llvm::Value* v) { return {{v}, false}; }

class Emitter {
 public:
  Emitter(llvm::Module& module, const ir::Kernel& k, const Target& target);
  void run(const char* symbol);
  int lanes() const { return max_lanes_; }
  const std::vector<HelperRef>& helpers() const { return helpers_; }

 private:
  friend class ReduceEmitter;
  using Body = std::function<void()>;
  using Indexed = std::function<void(llvm::Value*)>;
  using Operands = llvm::ArrayRef<llvm::Value*>;
  using Call = std::function<llvm::Value*(Operands)>;

  // emit_kernel.cpp: the frame, blocks, values that are not operations
  void emit_block(std::int32_t loop);
  bool is_flag(const ir::Local& local) const;
  void emit_insts(const std::vector<ir::Val>& block);
  void emit_inst(ir::Val v);
  llvm::Constant* constant(const Scalar& s);
  llvm::Value* coeff(const ir::Coeff& c);
  llvm::Value* reg(const Value& v, int r);  // register r in the current layout, splat if uniform
  llvm::Type* scalar_type(DType t);
  llvm::Type* lanes_type(DType t, int width);
  llvm::Type* memory_type(DType t);  // Bool is a byte in memory
  llvm::Value* to_memory(DType t, llvm::Value* v);
  llvm::Value* from_memory(DType t, llvm::Value* v);
  llvm::ConstantInt* i64(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }
  llvm::AllocaInst* stack(llvm::Type* t, std::int64_t count = 1);
  llvm::BasicBlock* block(const char* name);

  // emit_lanes.cpp: lanes apart and together, whatever one of them is
  llvm::Value* splat(llvm::Value* v, int width);
  llvm::Value* lane(DType t, llvm::Value* v, int l);
  llvm::Value* with_lane(DType t, llvm::Value* v, llvm::Value* x, int l);
  llvm::Value* lanes_from(DType t, llvm::Value* v, int first, int count);
  llvm::Value* mask_for(DType t, llvm::Value* mask);  // a complex lane's bit twice
  llvm::Value* select(DType t, llvm::Value* mask, llvm::Value* x, llvm::Value* y) {
    return b_.CreateSelect(mask_for(t, mask), x, y);
  }
  llvm::Value* every_second(DType t, llvm::Value* v, int first);  // a scalar when it is one lane
  int lane_count(DType t, llvm::Value* v);

  // emit_loops.cpp
  bool pairwise(std::int32_t loop) const;
  int full_width(std::int32_t loop) const;
  int tree_lanes(std::int32_t loop) const;  // accumulators of NumPy's summation tree
  int width_of(std::int32_t loop) const;
  int regs_of(std::int32_t loop) const;
  std::pair<llvm::Value*, llvm::Value*> bounds(std::int32_t loop);
  void emit_loop(std::int32_t loop);
  void emit_serial_for(std::int32_t loop);
  void emit_vector_for(std::int32_t loop);
  void bind_serial(std::int32_t loop, llvm::Value* i) {
    vals_[k_.loops[loop].var] = uniform_value(i);
  }
  void bind_lanes(std::int32_t loop, int width, int regs, llvm::Value* base, llvm::Value* count);
  // max(v, 0), folded where v is known: the builder does not fold intrinsics.
  llvm::Value* at_least_zero(llvm::Value* v) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(v))
      return i64(std::max<std::int64_t>(c->getSExtValue(), 0));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, i64(0));
  }
  std::optional<std::int64_t> known_trips(std::int32_t loop) const;
  int weight(const std::vector<ir::Val>& block) const;
  bool few_trips(std::int32_t loop) const;  // known to be
  int weight(std::int32_t loop) const;  // of one step in instructions; 0: has a long loop inside
  Look look_of(std::int32_t loop) const;
  // for (i = begin; i < end; i += step) body(i), rotated; begin < end is tested first. Blocks are
  // of so many steps.
  void counted(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Indexed& body,
               Look look = Look::Never, std::int64_t block = 0);
  llvm::Value* rotated(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Indexed& body,
                       Look look);
  void in_blocks(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Indexed& body,
                 std::int64_t steps);
  // The vector loop over [begin, end): full steps of width * regs, then masked ones of width. Full
  // steps begin at `whole`, if there is one, with masked ones in front of it.
  void strip(std::int32_t loop, int width, int regs, llvm::Value* begin, llvm::Value* end,
             const Body& body, Look look, llvm::Value* whole = nullptr);
  std::int64_t block_of(std::int32_t loop, int regs) const;  // steps between two looks
  void leave_if_stopped();
  void back_edge(llvm::BranchInst* latch);  // which begins the next iteration
  void when(llvm::Value* condition, const Body& then, const Body& otherwise = nullptr,
            Odds odds = Odds::Even);
  llvm::Value* first_line(std::int32_t loop, llvm::Value* begin, llvm::Value* end,
                          bool nontemporal);

  // emit_control.cpp: what sequential kernels alone have
  void emit_control(ir::Val v);
  // Whether a value is defined in front of an `if`, in the block that has both.
  bool stands_before(ir::Val v, std::int32_t loop) const;
  void emit_index_check(const ir::IndexCheck& c, const std::vector<ir::Val>& fails);
  void emit_if(std::int32_t loop);
  void emit_repeat(std::int32_t loop);
  void emit_break(const ir::Inst& i);
  void land_breaks(std::int32_t loop);  // after the loop
  llvm::Value* call_external(const ir::Inst& i);
  using Slow = std::function<llvm::Value*()>;
  // What is computed in line where that is known to be the result, else what `slow` emits.
  llvm::Value* quickly(llvm::Value* condition, llvm::Value* quick, const Slow& slow);
  llvm::Value* float_division(OpId fn, llvm::Value* a, llvm::Value* b, const Slow& slow);
  llvm::Value* towards_minus_infinity(bool remainder, llvm::Value* a, llvm::Value* b,
                                      llvm::Value* rest);
  llvm::Value* power_of(llvm::Value* x, int n, const Slow& slow);
  bool computes_in_line(const ir::Inst& i, DType in) const;
  llvm::Value* integer_division(bool remainder, bool is_signed, llvm::Value* a, llvm::Value* b);

  // emit_memory.cpp
  struct Address {
    llvm::Value* base;                   // address of lane 0 of register 0
    llvm::Value* lane_stride = nullptr;  // bytes from lane to lane; nullptr: uniform
  };
  Address address(llvm::Value* base, const ir::Access& a, std::int64_t scale, bool per_lane);
  Address address_of(const ir::Inst& i);
  llvm::Value* at(llvm::Value* base, llvm::Value* byte_offset);
  llvm::Value* indexed(const ir::Inst& i, llvm::Value* base, llvm::Value* index);
  llvm::Value* load_scalar(DType t, llvm::Value* p);
  void store_scalar(DType t, llvm::Value* v, llvm::Value* p);
  bool unit(const Address& a, DType t) const;
  bool streamable(const Address& a, DType t) const;
  Value load(DType t, const Address& a);
  void store(DType t, const Address& a, const Value& v, bool nontemporal);
  Value emit_load(const ir::Inst& i);
  using LaneOffset = std::function<llvm::Value*(int reg, int lane)>;
  LaneOffset lane_offsets(const ir::Inst& i);  // of a Gather or Scatter
  Value emit_gather(const ir::Inst& i);
  void emit_scatter(const ir::Inst& i);
  void emit_fragment(const ir::Inst& i);
  void emit_store(const ir::Inst& i);
  void place_locals();
  void prefetch_line(llvm::Value* p);
  llvm::Value* prefetch_distance(const ir::Inst& i);

  // emit_strided.cpp: loads whose lanes lie apart, several at once
  bool strided(const ir::Inst& i) const;
  bool load_group(ir::Val first);
  bool copy_rows(std::int32_t loop, llvm::Value* begin, llvm::Value** end_of_blocks,
                 llvm::Value* end, bool unrolled);
  llvm::SmallVector<llvm::Value*, 16> load_rows(DType t, llvm::Value* p, llvm::Value* lane_stride,
                                                int columns, int r, bool prefetch);
  llvm::SmallVector<llvm::Value*, 16> load_run(DType t, llvm::Value* p, int stride, int r,
                                               int beyond, bool prefetch);

  // emit_apply.cpp: which way an operation goes, and calls
  Value emit_apply(const ir::Inst& i);
  Value emit_cast(const Value& v, DType from, DType to);
  Value call_precompiled(const ir::Inst& i, std::vector<Value> o, const std::vector<DType>& types,
                         DType in);
  Value call_vector_function(OpId fn, DType in, int lanes, const std::vector<Value>& o);
  llvm::Value* concatenated(llvm::SmallVector<llvm::Value*, 4> parts);
  Value call_loop(const HelperRef& h, const std::vector<Value>& o, const std::vector<DType>& types,
                  DType result);
  llvm::Value* helper(const HelperRef& h);

  // emit_exp.cpp; `call` is the precompiled function of one register
  llvm::Value* exponential(DType t, llvm::Value* x, const Call& call);

  // emit_ops.cpp, emit_casts.cpp: one register or scalar; nullptr when it is no primitive here
  llvm::Value* primitive(OpId fn, DType in, Operands o);
  llvm::Value* float_primitive(OpId fn, DType in, Operands o);
  llvm::Value* integer_primitive(OpId fn, DType in, Operands o);
  llvm::Value* floor_division(bool remainder, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* bool_primitive(OpId fn, Operands o);
  llvm::Value* cast_primitive(llvm::Value* v, DType from, DType to);
  // emit_complex.cpp, emit_half.cpp: the same for what the processor does not compute with
  llvm::Value* complex_primitive(OpId fn, DType in, Operands o);
  llvm::Value* complex_cast(llvm::Value* v, DType from, DType to);
  llvm::Value* part(llvm::Value* v, int which);  // 0 real, 1 imaginary
  llvm::Value* complex(llvm::Value* re, llvm::Value* im);
  llvm::Value* complex_product(llvm::Value* x, llvm::Value* y);
  Value complex_absolute(const Value& v, DType part, int lanes);
  bool computes_half() const { return info(target_.tier).converts_half; }
  llvm::Value* half_primitive(OpId fn, Operands o);
  llvm::Value* from_half(llvm::Value* v);
  llvm::Value* to_half(llvm::Value* v);
  // emit_narrow.cpp
  llvm::Value* from_narrow(llvm::Value* v, DType t);
  llvm::Value* to_narrow(llvm::Value* v, DType t);
  llvm::Value* rounded(llvm::Value* v, DType t);
  llvm::Value* compare(llvm::CmpInst::Predicate p, llvm::Value* a, llvm::Value* b);  // quiet
  llvm::Value* is_nan(llvm::Value* v) { return compare(llvm::CmpInst::FCMP_UNO, v, v); }
  llvm::Value* extremum(OpId fn, DType t, llvm::Value* a, llvm::Value* b);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, Operands o) {
    return b_.CreateIntrinsic(id, {o[0]->getType()}, o);
  }

  const ir::Kernel& k_;
  const ir::Analysis analysis_;
  const Target target_;
  llvm::LLVMContext& ctx_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* fn_ = nullptr;
  llvm::BasicBlock* leave_ = nullptr;  // where a stopped kernel returns
  llvm::Value* stop_ = nullptr;
  llvm::Value* call_ = nullptr;             // ir::CallArgs
  int rare_ = 0;                            // blocks around the instruction that are hardly reached
  std::vector<llvm::BasicBlock*> left_;     // of each loop: where its breaks go, if there are any
  llvm::Instruction* entry_end_ = nullptr;  // what every block may use is inserted before it
  llvm::Value *begin_ = nullptr, *end_ = nullptr, *scratch_ = nullptr, *helper_table_ = nullptr;
  std::vector<llvm::Value*> params_, buffers_, args_, locals_;
  std::vector<bool> in_registers_;  // of each local: small, on the stack for SROA to take apart
  std::vector<Value> vals_;
  struct Narrowed {
    llvm::Value *from, *rounded;  // nullptr: not made yet
    DType to;
  };
  std::map<llvm::Value*, Narrowed> narrowed_;  // by to_narrow()
  std::vector<char> loaded_;  // of each load: emitted already, with an earlier one of its block
  std::vector<std::vector<Value>> results_;    // of each Reduce loop
  std::vector<class ReduceEmitter*> folding_;  // of each Reduce loop whose body is being emitted
  Lanes lanes_;
  std::vector<HelperRef> helpers_;
  std::vector<llvm::Value*> helper_ptrs_;
  llvm::Value* spill_[4] = {};
  int max_lanes_ = 1;
  bool streams_ = false;  // some store was non-temporal
};

}  // namespace plait::jit
